//! How large each crate is: its lines without tests, and the names that its root exports. Some have a budget.

use super::Finding;
use super::code;
use super::tree::Tree;
use std::collections::BTreeMap;

/// What a crate may grow to.
struct Budget {
    name: &'static str,
    lines: usize,
    exports: usize,
}

/// Core is what everybody compiles and reads.
const BUDGETS: [Budget; 1] = [Budget { name: "toolpost-core", lines: 16_500, exports: 25 }];

/// One crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) name: String,
    pub(super) lines: usize,
    pub(super) exports: usize,
}

/// The crates, by name.
pub(super) fn sizes(tree: &Tree) -> Vec<Size> {
    let mut lines: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for file in tree.sources().filter(|file| !file.is_test()) {
        let Some((name, below)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if below.ends_with("_tests.rs") {
            continue;
        }
        let size = lines.entry(name.to_owned()).or_default();
        size.0 += code::without_tests(&file.text).trim_end().lines().count();
        if below == "lib.rs" {
            size.1 = exports(&file.text);
        }
    }
    lines.into_iter().map(|(name, (lines, exports))| Size { name, lines, exports }).collect()
}

/// The names that a root exports, modules aside.
fn exports(text: &str) -> usize {
    let code = code::code_only(text);
    let uses = code.split("pub use ").skip(1).filter_map(|rest| rest.split_once(';'));
    let uses = uses.filter(|(used, _)| !is_module_of_ours(used)).map(|(used, _)| {
        let names = used
            .split_once('{')
            .map(|(_, names)| names.split(',').filter(|name| name.contains(char::is_alphabetic)));
        names.map_or(1, Iterator::count)
    });
    let items = ["fn ", "struct ", "enum ", "trait ", "type ", "const "];
    let defined = code
        .lines()
        .filter_map(|line| line.strip_prefix("pub "))
        .filter(|rest| items.iter().any(|item| rest.starts_with(item)));
    uses.sum::<usize>() + defined.count()
}

/// Whether what is exported is a crate of ours, or one module of it: its names do not stand at the root.
fn is_module_of_ours(used: &str) -> bool {
    let last = used.rsplit([':', ' ']).next().unwrap_or(used);
    used.starts_with("toolpost_") && last.starts_with(char::is_lowercase) && !last.contains(['{', '*', '}'])
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sizes = sizes(tree);
    let over = |budget: &Budget| -> Option<Finding> {
        let size = sizes.iter().find(|size| size.name == budget.name)?;
        let (what, is, most) = match size {
            size if size.lines > budget.lines => ("lines without tests", size.lines, budget.lines),
            size if size.exports > budget.exports => ("names at its root", size.exports, budget.exports),
            _ => return None,
        };
        let path = format!("crates/{}/src/lib.rs", budget.name);
        Some(Finding::new(
            &path,
            1,
            format!("`{}` has {is} {what} and may have {most}, so move a part out", budget.name),
        ))
    };
    BUDGETS.iter().filter_map(over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_names_are_counted_without_tests() {
        let tree = Tree::of(
            "//- crates/a/src/lib.rs\n//! A.\nmod b;\npub use b::{C, D as E};\npub use b::F;\npub fn g() {}\npub mod h;\n\
             //- crates/a/src/b.rs\npub struct C;\n#[cfg(test)]\nmod tests {\n    fn x() {}\n}\n\
             //- crates/a/src/tests.rs\nfn y() {}\n",
        );
        assert_eq!(sizes(&tree), [Size { name: "a".to_owned(), lines: 7, exports: 4 }]);
    }

    #[test]
    fn names_of_another_crate_of_ours_count_and_the_crate_as_a_module_does_not() {
        for (line, expected) in [
            ("pub use toolpost_policy as policy;", 0),
            ("pub use toolpost_policy::access;", 0),
            ("pub use toolpost_policy::{Layer, Effect};", 2),
            ("pub use toolpost_policy::Layer;", 1),
        ] {
            assert_eq!(exports(line), expected, "{line}");
        }
    }

    #[test]
    fn a_crate_past_its_budget_is_a_finding() {
        let files = format!("//- crates/toolpost-core/src/lib.rs\n{}", "fn a() {}\n".repeat(16_501));
        super::super::check(
            check,
            &files,
            &[
                "crates/toolpost-core/src/lib.rs:1: `toolpost-core` has 16501 lines without tests and may have 16500",
            ],
        );
    }
}
