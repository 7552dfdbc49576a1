//! Changes after which a file that parsed does not any more: refused where something was overlooked, else reported.

use super::edit::content;
use super::{call, shown};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::code::{BrokenBy, Parsed, Syntax, SyntaxCheck};
use toolpost_core::{Context, Memory, Outcome, Workspace as _, WorkspacePath};

/// Counts braces, line by line.
struct Braces;

impl Syntax for Braces {
    fn parsed(&self, name: &str, text: &str) -> Parsed {
        let mut open = 0_i32;
        for (at, line) in text.lines().enumerate() {
            for sign in line.chars() {
                open += i32::from(sign == '{') - i32::from(sign == '}');
            }
            if open < 0 {
                return Parsed::BrokenAt(at + 1);
            }
        }
        match (name.ends_with(".x"), open) {
            (false, _) => Parsed::Unknown,
            (true, 0) => Parsed::Whole,
            (true, _) => Parsed::BrokenAt(text.lines().count()),
        }
    }
}

fn made(before: &str, exact: BrokenBy, tool: &str, args: Value) -> (Outcome, String) {
    let memory = Memory::new();
    memory.write(&WorkspacePath::new("f.x"), before.as_bytes()).unwrap();
    let check = SyntaxCheck { syntax: Arc::new(Braces), exact };
    let ctx = Context::builder(Arc::new(memory)).extra(check).build();
    let outcome = call(&ctx, tool, args);
    let after = String::from_utf8(content(&ctx, "f.x")).unwrap();
    (outcome, after)
}

const FILE: &str = "f {\n    one(1)\n    if {\n        two(2)\n    }\n}\n";

/// An edit, and a patch that says the same.
fn both(old: &str, new: &str) -> [(&'static str, Value); 2] {
    let marked =
        |text: &str, mark: char| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let patch = format!(
        "*** Begin Patch\n*** Update File: f.x\n@@\n{}{}*** End Patch\n",
        marked(old, '-'),
        marked(new, '+')
    );
    [
        ("edit", json!({"filePath": "f.x", "oldString": old, "newString": new})),
        ("apply_patch", json!({"patch": patch})),
    ]
}

#[test]
fn guarantee_49_a_tolerant_step_never_breaks_a_file_that_parsed() {
    for (tool, args) in both("    one(1)  \n    if {  ", "    one(2)\n    if") {
        let (outcome, after) = made(FILE, BrokenBy::Reported, tool, args);
        let text = shown(&outcome);
        assert!(
            !outcome.is_success() && text.contains("line 6 would be `}`") && text.contains("trailing"),
            "{text}"
        );
        assert_eq!(after, FILE);
    }
    // Where it did not parse before, nothing is lost.
    let broken = FILE.replacen("f {", "f", 1);
    for (tool, args) in both("    one(1)  \n    if {  ", "    one(2)\n    if {") {
        let (outcome, after) = made(&broken, BrokenBy::Reported, tool, args);
        assert!(outcome.is_success(), "{}", shown(&outcome));
        assert_eq!(after, broken.replace("one(1)", "one(2)"));
    }
}

#[test]
fn guarantee_49_an_exact_change_that_breaks_a_file_says_so_or_is_refused() {
    for (tool, args) in both("    if {", "    if") {
        let (outcome, after) = made(FILE, BrokenBy::Reported, tool, args.clone());
        assert!(
            outcome.is_success() && shown(&outcome).contains("no longer parses, first at line 6"),
            "{}",
            shown(&outcome)
        );
        assert_eq!(after, FILE.replace("if {", "if"));
        let (outcome, after) = made(FILE, BrokenBy::Refused, tool, args);
        assert!(
            !outcome.is_success() && shown(&outcome).contains("would not after this"),
            "{}",
            shown(&outcome)
        );
        assert_eq!(after, FILE);
    }
}

#[test]
fn a_whole_text_that_does_not_parse_is_reported_or_refused() {
    let write = |before: &str, exact: BrokenBy, content: &str| {
        made(before, exact, "write", json!({"filePath": "f.x", "content": content}))
    };
    let broken = "f {\n    one(1)\n";
    let (outcome, after) = write(FILE, BrokenBy::Reported, broken);
    assert!(
        shown(&outcome).contains("(`f.x` no longer parses, first at line 2: `one(1)`)"),
        "{}",
        shown(&outcome)
    );
    assert_eq!(after, broken);
    let (outcome, after) = write(FILE, BrokenBy::Refused, broken);
    let text = shown(&outcome);
    assert!(
        text.starts_with("VALIDATION_ERROR: `f.x` parses now and would not after this: line 2"),
        "{text}"
    );
    assert_eq!(after, FILE);
    // A file that was broken before, and one that still parses.
    for (before, content) in [(broken, "f {{\n"), (FILE, "g {}\n")] {
        for exact in [BrokenBy::Reported, BrokenBy::Refused] {
            let (outcome, after) = write(before, exact, content);
            assert!(outcome.is_success() && !shown(&outcome).contains("parses"), "{}", shown(&outcome));
            assert_eq!(after, content);
        }
    }
}
