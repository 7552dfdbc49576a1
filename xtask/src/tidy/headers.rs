//! Every source file opens with a sentence on what it is for.

use super::Finding;
use super::tree::Tree;

const PLACES: [&str; 3] = ["crates/", "xtask/", "examples/"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources()
        .filter(|file| PLACES.iter().any(|place| file.path.starts_with(place)))
        .filter(|file| !opens_with_a_sentence(&file.text))
        .map(|file| {
            Finding::new(&file.path, 1, "does not open with `//!`, so say in one sentence what it is for")
        })
        .collect()
}

fn opens_with_a_sentence(text: &str) -> bool {
    text.strip_prefix("//!").and_then(|rest| rest.lines().next()).is_some_and(|rest| !rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn a_file_without_a_sentence_is_found() {
        check(
            super::check,
            "//- crates/a/src/lib.rs\n//! Says what it is.\n//- crates/a/src/b.rs\nfn b() {}\n//- xtask/src/c.rs\n//!\n//- d.rs\n",
            &["crates/a/src/b.rs:1: does not open with `//!`", "xtask/src/c.rs:1: does not open with `//!`"],
        );
    }
}
