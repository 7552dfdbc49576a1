//! Every built-in tool has its files: its code in `PACK/NAME.rs`, the text for the model beside it in
//! `PACK/NAME.txt`, its line in `PACK.rs`, and its test. What the text says is for people to judge, but for its length.

use std::ops::RangeInclusive;

use super::Finding;
use super::code;
use super::tree::{File, Tree};

const SOURCES: &str = "crates/toolpost-tools/src/";
const TESTS: &str = "crates/toolpost-tools/tests/it/";

/// How long a text for the model may be. The aim is 10 to 40; the estimate is rough, so it gets some room.
const TOKENS: RangeInclusive<usize> = 10..=50;

/// Words that begin an example, which costs tokens in every conversation.
const EXAMPLES: [&str; 4] = ["example", "e.g.", "for instance", "```"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let Some(below) = file.path.strip_prefix(SOURCES) else { continue };
        let parts: Vec<&str> = below.split('/').collect();
        if let [_, name] = parts.as_slice()
            && name.ends_with(".txt")
        {
            check_text(tree, file, &mut findings);
        }
        let Some(position) = tool_in(file) else { continue };
        let line = code::line_at(&file.text, position);
        match parts.as_slice() {
            [pack, name] => check_tool(tree, file, line, pack, name.trim_end_matches(".rs"), &mut findings),
            _ => {
                let message = "a tool outside a pack's folder, so move it to `PACK/NAME.rs`";
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
    findings
}

/// Where a source file implements a tool, outside its tests.
fn tool_in(file: &File) -> Option<usize> {
    if !file.path.ends_with(".rs") || file.is_test() {
        return None;
    }
    code::positions_of_word(&code::code_without_tests(&file.text), "impl Tool for").first().copied()
}

fn check_tool(tree: &Tree, file: &File, line: usize, pack: &str, name: &str, findings: &mut Vec<Finding>) {
    let text = format!("{SOURCES}{pack}/{name}.txt");
    if tree.file(&text).is_none() {
        findings.push(Finding::new(
            &file.path,
            line,
            format!("no text for the model, so write `{pack}/{name}.txt`"),
        ));
    }
    let test = format!("{TESTS}{name}.rs");
    if tree.file(&test).is_none() {
        findings.push(Finding::new(
            &file.path,
            line,
            format!("the tool `{name}` has no test, so write {test}"),
        ));
    }
    let pack_file = format!("{SOURCES}{pack}.rs");
    match tree.file(&pack_file) {
        None => {
            let message = format!("the pack of `{name}` is missing, so write `{pack}.rs`");
            findings.push(Finding::new(&file.path, line, message));
        }
        Some(pack_file) if !declares(&pack_file.text, name) => {
            let message = format!("the tool `{name}` is not in its pack, so add `mod {name};` and its line");
            findings.push(Finding::new(&pack_file.path, 1, message));
        }
        Some(_) => {}
    }
}

fn declares(text: &str, name: &str) -> bool {
    let code = code::code_without_tests(text);
    let forms = [format!("mod {name};"), format!("mod r#{name};")];
    forms
        .iter()
        .any(|form| code.lines().any(|line| line.trim() == form || line.ends_with(&format!(" {form}"))))
}

fn check_text(tree: &Tree, file: &File, findings: &mut Vec<Finding>) {
    if tree.file(&file.path.replace(".txt", ".rs")).is_none() {
        let message = "a text without its tool, so delete it or name it like the tool's `.rs`";
        findings.push(Finding::new(&file.path, 1, message));
    }
    let tokens = file.text.trim().len().div_ceil(4);
    if !TOKENS.contains(&tokens) {
        let message = format!(
            "about {tokens} tokens long, so bring it to {} to {} tokens (bytes / 4)",
            TOKENS.start(),
            TOKENS.end()
        );
        findings.push(Finding::new(&file.path, 1, message));
    }
    let lower = file.text.to_lowercase();
    for (index, line) in lower.lines().enumerate() {
        if let Some(word) = EXAMPLES.iter().find(|word| line.contains(**word)) {
            let message = format!("`{word}` begins an example, so take it out: a text has none");
            findings.push(Finding::new(&file.path, index + 1, message));
        }
    }
}

#[cfg(test)]
mod tests;
