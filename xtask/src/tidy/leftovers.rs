//! Nothing half done is committed, in tests no more than elsewhere.

use super::Finding;
use super::code;
use super::tree::Tree;

/// What to look for, and what to do instead.
const LEFTOVERS: [(&str, &str); 4] = [
    ("#[ignore", "make the test run, or delete it"),
    ("todo!", "finish it, or return an error that says what is missing"),
    ("unimplemented!", "finish it, or return an error that says what is missing"),
    ("dbg!", "delete it"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.sources() {
        let code = code::code_only(&file.text);
        for (word, advice) in LEFTOVERS {
            for position in positions(&code, word) {
                let message = format!("`{word}` is left over, so {advice}");
                findings.push(Finding::new(&file.path, code::line_at(&code, position), message));
            }
        }
    }
    findings
}

/// A macro's name ends in `!`, an attribute may go on: `#[ignore = "…"]`.
fn positions(code: &str, word: &str) -> Vec<usize> {
    code::positions_of_word(code, word)
        .into_iter()
        .filter(|position| {
            let rest = code[position + word.len()..].trim_start();
            rest.starts_with(['(', '[', '{', ']', '='])
        })
        .filter(|position| !code[position + word.len()..].trim_start().starts_with("=="))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn leftovers_are_found_also_in_tests() {
        check(
            super::check,
            "//- a/tests/it/main.rs\n#[ignore]\nfn a() { todo!() }\n#[ignore = \"slow\"]\n\
             fn b() { dbg!(1); unimplemented!(\"x\") }\n",
            &[
                "a/tests/it/main.rs:1: `#[ignore` is left over",
                "a/tests/it/main.rs:2: `todo!` is left over",
                "a/tests/it/main.rs:3: `#[ignore` is left over",
                "a/tests/it/main.rs:4: `dbg!` is left over",
                "a/tests/it/main.rs:4: `unimplemented!` is left over",
            ],
        );
    }

    #[test]
    fn words_in_comments_and_strings_are_not() {
        check(
            super::check,
            "//- a.rs\n// todo!() and #[ignore]\nconst A: &str = \"dbg!(x)\";\nmy_todo!();\n",
            &[],
        );
    }
}
