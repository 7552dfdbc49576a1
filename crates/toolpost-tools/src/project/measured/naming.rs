//! How things are named, by kind: found by the words that define them, or told by the engine.

use super::Convention;
use std::collections::BTreeMap;

/// Names by kind.
#[derive(Default)]
pub(crate) struct Naming {
    by_kind: BTreeMap<&'static str, Vec<Style>>,
}

/// How a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Style {
    Snake,
    Camel,
    Pascal,
    Screaming,
    Kebab,
    /// One word in lower case: fits snake, camel and kebab.
    Word,
    /// One word in upper case: fits pascal and screaming.
    Capitals,
    Mixed,
}

impl Style {
    fn of(name: &str) -> Style {
        let name = name.trim_matches('_');
        let has = |test: fn(char) -> bool| name.chars().any(test);
        let (upper, lower) = (has(char::is_uppercase), has(char::is_lowercase));
        let first_upper = name.starts_with(char::is_uppercase);
        match (name.contains('_'), name.contains('-'), upper, lower) {
            (true, true, _, _) => Style::Mixed,
            (true, false, true, false) => Style::Screaming,
            (true, false, false, _) => Style::Snake,
            (true, false, true, true) => Style::Mixed,
            (false, true, false, _) => Style::Kebab,
            (false, true, true, _) => Style::Mixed,
            (false, false, true, true) if first_upper => Style::Pascal,
            (false, false, true, true) => Style::Camel,
            (false, false, true, false) => Style::Capitals,
            (false, false, false, _) => Style::Word,
        }
    }

    fn fits(self, chosen: Style) -> bool {
        self == chosen
            || self == Style::Word && matches!(chosen, Style::Snake | Style::Camel | Style::Kebab)
            || self == Style::Capitals && matches!(chosen, Style::Pascal | Style::Screaming)
    }

    fn word(self) -> &'static str {
        match self {
            Style::Snake => "snake_case",
            Style::Camel => "camelCase",
            Style::Pascal => "PascalCase",
            Style::Screaming => "SCREAMING_SNAKE_CASE",
            Style::Kebab => "kebab-case",
            Style::Word => "lowercase",
            Style::Capitals => "UPPERCASE",
            Style::Mixed => "mixed",
        }
    }
}

/// Words that define something, and what it is.
fn words_of(language: &str) -> &'static [(&'static str, &'static str)] {
    match language {
        "Rust" => &[
            ("fn", "functions"),
            ("struct", "types"),
            ("enum", "types"),
            ("trait", "types"),
            ("type", "types"),
            ("const", "constants"),
            ("static", "constants"),
            ("mod", "modules"),
        ],
        "Python" => &[("def", "functions"), ("class", "types")],
        "TypeScript" | "JavaScript" => &[
            ("function", "functions"),
            ("class", "types"),
            ("interface", "types"),
            ("type", "types"),
            ("enum", "types"),
            ("const", "variables"),
            ("let", "variables"),
        ],
        "Go" => &[("func", "functions"), ("type", "types")],
        "Java" | "C#" | "Scala" => &[
            ("class", "types"),
            ("interface", "types"),
            ("enum", "types"),
            ("record", "types"),
            ("def", "functions"),
        ],
        "Kotlin" => &[
            ("fun", "functions"),
            ("class", "types"),
            ("interface", "types"),
            ("object", "types"),
            ("val", "variables"),
        ],
        "Ruby" | "Crystal" => &[("def", "functions"), ("class", "types"), ("module", "types")],
        "PHP" => &[("function", "functions"), ("class", "types"), ("interface", "types")],
        "Swift" => &[
            ("func", "functions"),
            ("class", "types"),
            ("struct", "types"),
            ("enum", "types"),
            ("protocol", "types"),
        ],
        "C" | "C++" => &[("struct", "types"), ("class", "types"), ("enum", "types")],
        "Elixir" => &[("def", "functions"), ("defp", "functions"), ("defmodule", "types")],
        "Zig" => &[("fn", "functions"), ("const", "variables")],
        "Dart" => &[("class", "types"), ("enum", "types")],
        _ => &[],
    }
}

impl Naming {
    /// Adds the definitions of a file: a word that defines, and the name behind it.
    pub(super) fn add(&mut self, language: &str, code: &str) {
        let words = words_of(language);
        for line in code.lines() {
            let mut parts = line.split_whitespace().take(8).peekable();
            while let Some(part) = parts.next() {
                let Some((_, kind)) = words.iter().find(|(word, _)| *word == part) else { continue };
                let Some(next) = parts.peek() else { break };
                // A method of Go has its receiver in between.
                let next = match (language, next.starts_with('(')) {
                    ("Go", true) => line.split_once(") ").map(|(_, rest)| rest).unwrap_or_default(),
                    _ => next,
                };
                let is_name = |letter: &char| letter.is_alphanumeric() || *letter == '_';
                let name: String = next.chars().take_while(is_name).collect();
                let is_special = name.starts_with("__")
                    || name.len() < 2
                    || name.starts_with(|letter: char| letter.is_ascii_digit());
                if !is_special && !words.iter().any(|(word, _)| *word == name) {
                    self.by_kind.entry(kind).or_default().push(Style::of(&name));
                }
                break;
            }
        }
    }

    /// Adds a definition that the engine knows.
    pub(crate) fn add_symbol(&mut self, kind: &str, name: &str) {
        let kind = match kind {
            "function" | "method" => "functions",
            "class" | "struct" | "enum" | "interface" | "trait" | "type" | "record" | "union" => "types",
            "constant" | "const" | "static" => "constants",
            "variable" | "field" | "property" => "variables and fields",
            "module" | "namespace" => "modules",
            _ => return,
        };
        if name.len() > 1 && !name.starts_with("__") {
            self.by_kind.entry(kind).or_default().push(Style::of(name));
        }
    }

    pub(crate) fn report(&self, language: &str, conventions: &mut Vec<Convention>) {
        for (kind, styles) in &self.by_kind {
            if let Some((style, count)) = chosen(styles).filter(|_| styles.len() >= 5) {
                let topic = format!("naming of {kind}");
                conventions.push(Convention::new(
                    &topic,
                    language,
                    style.word(),
                    count,
                    styles.len(),
                    "names",
                ));
            }
        }
    }
}

/// How the files of a language are named.
pub(super) fn files<'a>(
    language: &str,
    files: impl Iterator<Item = &'a str>,
    conventions: &mut Vec<Convention>,
) {
    let stem = |file: &'a str| {
        let name = file.rsplit('/').next().unwrap_or(file);
        name.split('.').next().filter(|stem| stem.len() > 1 && !stem.starts_with("__"))
    };
    let styles: Vec<Style> = files.filter_map(stem).map(Style::of).collect();
    if let Some((style, count)) = chosen(&styles).filter(|_| styles.len() >= 5) {
        conventions.push(Convention::new(
            "naming of files",
            language,
            style.word(),
            count,
            styles.len(),
            "files",
        ));
    }
}

/// The style that most names have, and how many fit it. Names of one word decide only where there are no others.
fn chosen(styles: &[Style]) -> Option<(Style, usize)> {
    let mut counted: BTreeMap<Style, usize> = BTreeMap::new();
    for style in styles.iter().filter(|style| !matches!(style, Style::Word | Style::Capitals | Style::Mixed))
    {
        *counted.entry(*style).or_default() += 1;
    }
    if counted.is_empty() {
        styles
            .iter()
            .filter(|style| **style != Style::Mixed)
            .for_each(|style| *counted.entry(*style).or_default() += 1);
    }
    let (style, _) = super::most_frequent(&counted)?;
    Some((style, styles.iter().filter(|one| one.fits(style)).count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_styles() {
        for (name, expected) in [
            ("read_file", "snake_case"),
            ("readFile", "camelCase"),
            ("ReadFile", "PascalCase"),
            ("MAX_SIZE", "SCREAMING_SNAKE_CASE"),
            ("read-file", "kebab-case"),
            ("read", "lowercase"),
            ("_private_one", "snake_case"),
            ("Read_File", "mixed"),
            ("ID", "UPPERCASE"),
        ] {
            assert_eq!(Style::of(name).word(), expected, "{name}");
        }
    }

    #[test]
    fn definitions_are_found_by_their_words() {
        let check = |language: &str, code: &str, expected: &str| {
            let mut naming = Naming::default();
            naming.add(language, &code.repeat(5));
            let mut conventions = Vec::new();
            naming.report(language, &mut conventions);
            let shown: Vec<String> = conventions
                .iter()
                .map(|one| format!("{}: {} {}/{}", one.topic, one.value, one.count, one.of))
                .collect();
            assert_eq!(shown.join("; "), expected, "{code}");
        };
        check("Rust", "pub(crate) async fn read_file() {}\n", "naming of functions: snake_case 5/5");
        check(
            "Go",
            "func (r *Reader) ReadAll() {}\nfunc ReadOne() {}\n",
            "naming of functions: PascalCase 10/10",
        );
        check(
            "Python",
            "    async def read_file(self):\n    def run(self):\n",
            "naming of functions: snake_case 10/10",
        );
        check("TypeScript", "export default class ReadFile {}\n", "naming of types: PascalCase 5/5");
    }
}
