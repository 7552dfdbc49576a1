//! No committed text tells of the machine on which it was written. Tests may: their paths are made up.

use super::Finding;
use super::code;
use super::tree::{File, Tree};

/// Top folders that hold one person's or one machine's files.
const FOLDERS: [&str; 3] = ["work", "root", "home"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().filter(|file| !file.is_test()) {
        let text = prose(file);
        for folder in FOLDERS {
            let start = format!("/{folder}/");
            for (position, _) in text.match_indices(&start) {
                if is_machine_path(&text, position, position + start.len()) {
                    let message =
                        format!("`{start}` is a path of one machine, so write `~` or a relative path");
                    findings.push(Finding::new(&file.path, code::line_at(&text, position), message));
                }
            }
        }
    }
    findings
}

fn prose(file: &File) -> String {
    if file.path.ends_with(".rs") { code::without_tests(&file.text) } else { file.text.clone() }
}

/// Whether a path begins here, and goes on with the name of something.
fn is_machine_path(text: &str, begin: usize, end: usize) -> bool {
    let before = text[..begin].chars().next_back();
    let after = text[end..].chars().next();
    let goes_on = |character: char| character.is_alphanumeric() || "_-.~}>)*".contains(character);
    !before.is_some_and(goes_on)
        && after.is_some_and(|character| character.is_alphanumeric() || "._".contains(character))
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn paths_of_one_machine_are_found() {
        check(
            super::check,
            "//- README.md\nSee /home/alice/x.\n//- a.toml\nx = \"/work/tree\"\n//- a.rs\n// file:///root/.cargo\n",
            &[
                "README.md:1: `/home/` is a path of one machine",
                "a.rs:1: `/root/` is a path of one machine",
                "a.toml:1: `/work/` is a path of one machine",
            ],
        );
    }

    #[test]
    fn other_paths_and_tests_are_not() {
        check(
            super::check,
            "//- README.md\ncrates/work/x ~/work/x /workspace/x /home /root https://example.org/home/alice /home/<name>\n\
             //- a.rs\n#[cfg(test)]\nmod tests { const A: &str = \"/home/alice\"; }\n//- tests/a.txt\n/home/alice\n",
            &[],
        );
    }
}
