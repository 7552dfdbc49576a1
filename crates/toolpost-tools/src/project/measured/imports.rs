//! In which order files import.

use super::Convention;

/// How imports stand.
#[derive(Default)]
pub(super) struct Imports {
    /// Files with at least three imports.
    files: usize,
    /// Those whose imports are in order inside of each group.
    sorted: usize,
    /// Those with several groups, an empty line between them.
    grouped: usize,
    /// Files in which imports of others and of the project are both, and those where the others come first.
    mixed: usize,
    others_first: usize,
}

impl Imports {
    pub(super) fn add(&mut self, language: &str, text: &str) {
        let mut groups: Vec<Vec<String>> = vec![Vec::new()];
        // Of each import whether it takes single names from a module, which Python's sorters put after whole modules.
        let mut kinds: Vec<Vec<bool>> = vec![Vec::new()];
        let mut is_block = false;
        let mut is_open = false;
        for line in text.lines().take(200) {
            let line = line.trim_end();
            if is_open {
                // A list of names over several lines.
                is_open = !line.contains(['}', ')']) && !line.ends_with(';');
                if is_open || language == "Rust" || language == "Python" {
                    continue;
                }
            }
            if language == "Go" && line == "import (" {
                is_block = true;
                continue;
            }
            if is_block && line == ")" {
                break;
            }
            match imported(language, line, is_block) {
                Some(module) => {
                    groups.last_mut().into_iter().for_each(|group| group.push(module.clone()));
                    kinds.last_mut().into_iter().for_each(|group| group.push(line.starts_with("from ")));
                    let opened = line.matches(['{', '(']).count() > line.matches(['}', ')']).count();
                    is_open = opened && !is_block;
                }
                None if line.is_empty() && groups.last().is_some_and(|group| !group.is_empty()) => {
                    groups.push(Vec::new());
                    kinds.push(Vec::new());
                }
                None => {}
            }
        }
        groups.retain(|group| !group.is_empty());
        kinds.retain(|group| !group.is_empty());
        let all: Vec<&String> = groups.iter().flatten().collect();
        if all.len() < 3 {
            return;
        }
        self.files += 1;
        self.grouped += usize::from(groups.len() > 1);
        let is_sorted = |(group, kinds): (&Vec<String>, &Vec<bool>)| match language {
            "Python" => is_sorted_python(group, kinds),
            _ => group.windows(2).all(|pair| key(&pair[0]) <= key(&pair[1])),
        };
        self.sorted += usize::from(groups.iter().zip(&kinds).all(is_sorted));
        let own: Vec<bool> = all.iter().map(|module| is_own(language, module)).collect();
        if own.contains(&true) && own.contains(&false) {
            self.mixed += 1;
            self.others_first += usize::from(own.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }

    pub(super) fn report(&self, language: &str, conventions: &mut Vec<Convention>) {
        if self.files < 3 {
            return;
        }
        let (value, count) = match self.sorted * 2 >= self.files {
            true => ("sorted inside of groups", self.sorted),
            false => ("not sorted", self.files - self.sorted),
        };
        conventions.push(Convention::new("import order", language, value, count, self.files, "files"));
        let (value, count) = match self.grouped * 2 >= self.files {
            true => ("in groups with empty lines between", self.grouped),
            false => ("in one group", self.files - self.grouped),
        };
        conventions.push(Convention::new("import groups", language, value, count, self.files, "files"));
        if self.mixed >= 3 {
            let (value, count) = match self.others_first * 2 >= self.mixed {
                true => ("packages before own modules", self.others_first),
                false => ("own modules not last", self.mixed - self.others_first),
            };
            conventions.push(Convention::new("own imports", language, value, count, self.mixed, "files"));
        }
    }
}

/// What a line imports.
fn imported(language: &str, line: &str, is_block: bool) -> Option<String> {
    let quoted = |text: &str| {
        let start = text.find(['"', '\''])?;
        let rest = &text[start + 1..];
        rest.find(['"', '\'']).map(|end| rest[..end].to_owned())
    };
    let word = |text: &str| {
        let end = text.find(|letter: char| letter.is_whitespace() || ";{(".contains(letter));
        text[..end.unwrap_or(text.len())].to_owned()
    };
    match language {
        "Rust" => line.strip_prefix("use ").or_else(|| line.strip_prefix("pub use ")).map(word),
        "Python" => line.strip_prefix("import ").or_else(|| line.strip_prefix("from ")).map(word),
        "TypeScript" | "JavaScript" => {
            let is_import = line.starts_with("import ") || line.starts_with("} from ");
            is_import.then(|| line.rsplit_once(" from ").map_or(line, |(_, rest)| rest)).and_then(quoted)
        }
        "Go" => match is_block {
            true => quoted(line),
            false => line.strip_prefix("import ").and_then(quoted),
        },
        "Java" | "Kotlin" | "Scala" => line.strip_prefix("import ").map(word),
        "C#" => line.strip_prefix("using ").filter(|rest| rest.ends_with(';')).map(word),
        "PHP" => line.strip_prefix("use ").map(word),
        "C" | "C++" => line.strip_prefix("#include ").map(word),
        "Ruby" => {
            line.strip_prefix("require ").or_else(|| line.strip_prefix("require_relative ")).and_then(quoted)
        }
        _ => None,
    }
}

/// Whether imports of Python are in the order of one of its sorters: whole modules first or all by name; relative imports
/// from near to far or from far to near.
fn is_sorted_python(group: &[String], is_from: &[bool]) -> bool {
    let dots = |module: &str| module.bytes().take_while(|byte| *byte == b'.').count();
    let name = |module: &str| module.trim_start_matches('.').to_lowercase();
    let sorted = |key: &dyn Fn(usize) -> (bool, bool, usize, String)| {
        (1..group.len()).all(|index| key(index - 1) <= key(index))
    };
    [false, true].into_iter().any(|apart| {
        [false, true].into_iter().any(|far_first| {
            sorted(&|index| {
                let module = &group[index];
                let depth = dots(module);
                let place = if far_first { usize::MAX - depth } else { depth };
                (apart && is_from[index], depth > 0, if depth > 0 { place } else { 0 }, name(module))
            })
        })
    })
}

/// What formatters compare: names without regard to case; in Rust `self`, `super` and `crate` come first, and a list in
/// braces after all single names.
fn key(module: &str) -> (usize, String) {
    let first = module.split("::").next().unwrap_or(module);
    let place = ["self", "super", "crate"].iter().position(|known| *known == first).unwrap_or(3);
    let end = if module.ends_with("::") { "\u{7f}" } else { "" };
    (place, format!("{}{end}", module.to_lowercase()))
}

/// Whether an import is of the project itself.
fn is_own(language: &str, module: &str) -> bool {
    match language {
        "Rust" => ["crate", "self", "super"].iter().any(|start| module.starts_with(start)),
        "C" | "C++" => module.starts_with('"'),
        "Go" => false,
        _ => module.starts_with('.') || module.starts_with("@/") || module.starts_with("~/"),
    }
}

#[cfg(test)]
mod tests {
    use super::Imports;

    #[test]
    fn the_order_of_each_sorter_is_an_order() {
        for (language, text, expected) in [
            ("Python", "import os\nimport sys\nfrom collections import abc\n", 1),
            ("Python", "from collections import abc\nimport os\nimport sys\n", 1),
            ("Python", "import sys\nimport os\nfrom collections import abc\n", 0),
            ("Python", "from .. import a\nfrom . import b\nfrom .c import d\n", 1),
            ("Python", "from . import b\nfrom .c import d\nfrom .. import a\n", 1),
            ("Rust", "use crate::a;\nuse std::b;\nuse zed::c;\n", 1),
            ("Rust", "use zed::c;\nuse std::b;\nuse alloc::a;\n", 0),
        ] {
            let mut imports = Imports::default();
            imports.add(language, text);
            assert_eq!((imports.files, imports.sorted), (1, expected), "{text}");
        }
    }
}
