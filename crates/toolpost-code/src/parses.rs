//! Whether the text of a file parses: with the grammars of the languages, and as JSON, TOML or YAML.
//!
//! Nothing is indexed or kept. What takes too long, or is of another kind, is not judged.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::Node;

use crate::language::Language;
use crate::languages;

/// Maximum number of bytes of a text that is judged.
const MOST_BYTES: usize = 2 << 20;
/// The time after which a text is not judged.
const PATIENCE: Duration = Duration::from_millis(200);

/// What was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parsed {
    /// The text is valid.
    Whole,
    /// The first line, counting from 1, that is not.
    BrokenAt(usize),
    /// The kind of the file is not known here, or the text is too large.
    Unknown,
}

/// Judges the text of a file by the end of its name.
#[must_use]
pub fn parsed(path: &str, text: &str) -> Parsed {
    if text.len() > MOST_BYTES {
        return Parsed::Unknown;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let name = path.rsplit('/').next().unwrap_or(path);
    let broken = |line: Option<usize>| line.map_or(Parsed::Whole, Parsed::BrokenAt);
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("json") => broken(json(text)),
        Some("toml") => broken(toml(text)),
        Some("yaml" | "yml") => broken(yaml(text)),
        Some("lock") if ["Cargo.lock", "uv.lock", "poetry.lock"].contains(&name) => broken(toml(text)),
        _ => {
            let all = languages::all();
            let language = languages::of_path(&all, path).and_then(|number| all.get(usize::from(number)));
            language.map_or(Parsed::Unknown, |language| of_language(*language, path, text.as_bytes()))
        }
    }
}

fn json(text: &str) -> Option<usize> {
    serde_json::from_str::<serde_json::Value>(text).err().map(|error| error.line().max(1))
}

fn toml(text: &str) -> Option<usize> {
    let error = toml::de::DeTable::parse(text).err()?;
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    Some(text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1)
}

fn yaml(text: &str) -> Option<usize> {
    let events = saphyr_parser::Parser::new_from_str(text);
    events.into_iter().find_map(Result::err).map(|error| error.marker().line().max(1))
}

fn of_language(language: &dyn Language, path: &str, source: &[u8]) -> Parsed {
    let mut parser = tree_sitter::Parser::new();
    if parser.set_language(&language.grammar(path)).is_err() {
        return Parsed::Unknown;
    }
    let start = Instant::now();
    let mut parse = |source: &[u8]| {
        let mut give_up = |_: &tree_sitter::ParseState| match start.elapsed() > PATIENCE {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = tree_sitter::ParseOptions::new().progress_callback(&mut give_up);
        let mut input = |offset: usize, _: tree_sitter::Point| source.get(offset..).unwrap_or(&[]);
        parser.parse_with_options(&mut input, None, Some(options))
    };
    let Some(tree) = parse(source) else { return Parsed::Unknown };
    let Some(line) = first_error(language, tree.root_node()) else { return Parsed::Whole };
    match language.repaired(path, source).map(|text| parse(&text)) {
        Some(Some(better)) => {
            first_error(language, better.root_node()).map_or(Parsed::Whole, Parsed::BrokenAt)
        }
        Some(None) => Parsed::Unknown,
        None => Parsed::BrokenAt(line),
    }
}

/// The line of the first error in a tree that is one in the language as well.
fn first_error(language: &dyn Language, root: Node<'_>) -> Option<usize> {
    languages::first_error(language, root).map(|line| line as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parses_and_what_does_not() {
        for (path, text, expected) in [
            ("a.json", "{\"a\": [1, 2]}\n", Parsed::Whole),
            ("a.json", "{\n\"a\": [1, 2\n}\n", Parsed::BrokenAt(1)),
            ("a.toml", "[a]\nb = 1\n", Parsed::Whole),
            ("a.toml", "[a]\nb = 1\nc = \n", Parsed::BrokenAt(1)),
            ("a.yml", "a:\n  - b: 1\n    c: 2\n", Parsed::Whole),
            ("a.yaml", "a:\n  b: 1\n c: 2\n", Parsed::BrokenAt(1)),
            ("a.md", "# A (\n", Parsed::Unknown),
            ("Makefile", "a:\n", Parsed::Unknown),
            #[cfg(feature = "rust")]
            ("a.rs", "fn f() {\n    g();\n}\n", Parsed::Whole),
            #[cfg(feature = "rust")]
            ("a.rs", "fn f() {}\nfn g( {\n    h();\n}\n", Parsed::BrokenAt(1)),
            #[cfg(feature = "python")]
            ("a.py", "def f():\n    return 1\n", Parsed::Whole),
            #[cfg(feature = "go")]
            ("a.go", "package a\n\nfunc f() {\n}\n", Parsed::Whole),
            #[cfg(feature = "typescript")]
            ("a.tsx", "const a = <b>{c}</b>;\n", Parsed::Whole),
        ] {
            // Where a parser notices the mistake is its own affair.
            let found = match parsed(path, text) {
                Parsed::BrokenAt(line) if line <= text.lines().count() + 1 => Parsed::BrokenAt(1),
                other => other,
            };
            assert_eq!(found, expected, "{path}: {text}");
        }
        assert_eq!(parsed("a.json", "{\n\"a\": [1, 2\n}\n"), Parsed::BrokenAt(3));
        assert_eq!(parsed("a.json", &" ".repeat(MOST_BYTES + 1)), Parsed::Unknown);
    }
}
