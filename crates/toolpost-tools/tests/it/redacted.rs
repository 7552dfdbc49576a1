//! Marks of redaction that a model gives back: the value of the file stays, or the call is refused.

mod rounds;

use super::edit::content;
use super::{call, shown};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::text::Redactor;
use toolpost_core::{Context, Memory, Outcome, Workspace as _, WorkspacePath};

const NAME: &str = "settings.ini";
const TOKEN: &str = "ghp_0123456789abcdef";
const KEY: &str = "-----BEGIN KEY-----\nMIIEvQ\nBADANB\n-----END KEY-----";

fn made(before: &str, tool: &str, args: Value) -> (Outcome, String) {
    let memory = Memory::new();
    memory.write(&WorkspacePath::new(NAME), before.as_bytes()).unwrap();
    let redactor = Redactor::new([("GITHUB_TOKEN", TOKEN), ("SIGNING_KEY", KEY)]);
    let ctx = Context::builder(Arc::new(memory)).redactor(redactor).build();
    let outcome = call(&ctx, tool, args);
    let after = String::from_utf8(content(&ctx, NAME)).unwrap();
    assert!(!shown(&outcome).contains(TOKEN) && !shown(&outcome).contains("MIIEvQ"), "{}", shown(&outcome));
    (outcome, after)
}

/// The value stays in the file, whichever tool changes the line beside it.
fn check(before: &str, tool: &str, args: Value, after: &str) {
    let (outcome, found) = made(before, tool, args);
    assert!(outcome.is_success(), "{}", shown(&outcome));
    assert_eq!(found, after);
}

/// The call is refused with these words, and the file stays.
fn refused(before: &str, tool: &str, args: Value, words: &str) {
    let (outcome, found) = made(before, tool, args);
    assert!(!outcome.is_success() && shown(&outcome).contains(words), "{}", shown(&outcome));
    assert_eq!(found, before);
}

fn edit(old: &str, new: &str) -> Value {
    json!({"filePath": NAME, "oldString": old, "newString": new})
}

fn patch(hunk: &str) -> Value {
    json!({"patch": format!("--- a/settings.ini\n+++ b/settings.ini\n{hunk}")})
}

#[test]
fn guarantee_50_a_value_stays_where_its_mark_is_given_back() {
    let file = format!("A=1\nTOKEN={TOKEN}\nB=2\n");
    let after = format!("A=1\nTOKEN={TOKEN} # mine\nB=3\n");
    let shown = "A=1\nTOKEN=[redacted:GITHUB_TOKEN] # mine\nB=3\n";
    check(&file, "write", json!({"filePath": NAME, "content": shown}), &after);
    let old = "TOKEN=[redacted:GITHUB_TOKEN]\nB=2";
    check(&file, "edit", edit(old, "TOKEN=[redacted:GITHUB_TOKEN] # mine\nB=3"), &after);
    // Found by overlooking something, too.
    check(
        &file,
        "edit",
        edit(&old.replace('\n', "  \n"), "TOKEN=[redacted:GITHUB_TOKEN] # mine\nB=3"),
        &after,
    );
    let hunk = "@@ -1,3 +1,3 @@\n A=1\n-TOKEN=[redacted:GITHUB_TOKEN]\n-B=2\n+TOKEN=[redacted:GITHUB_TOKEN] # mine\n+B=3\n";
    check(&file, "apply_patch", patch(hunk), &after);
    let whole = format!(
        "*** Begin Patch\n*** Add File: settings.ini\n+{}\n*** End Patch\n",
        shown.trim_end().replace('\n', "\n+")
    );
    check(&file, "apply_patch", json!({"patch": whole}), &after);
    // Of several lines.
    let file = format!("A=1\n{KEY}\nB=2\n");
    let after = format!("A=1\n{KEY}\nB=3\n");
    check(&file, "edit", edit("[redacted:SIGNING_KEY]\nB=2", "[redacted:SIGNING_KEY]\nB=3"), &after);
    check(&file, "apply_patch", patch("@@ -2,2 +2,2 @@\n [redacted:SIGNING_KEY]\n-B=2\n+B=3\n"), &after);
    check(&file, "write", json!({"filePath": NAME, "content": "A=1\n[redacted:SIGNING_KEY]\nB=3\n"}), &after);
}

#[test]
fn guarantee_50_a_word_for_a_value_is_refused() {
    let file = format!("A=1\nTOKEN={TOKEN}\nB=2\n");
    for word in ["[REDACTED]", "<redacted>", "[redacted: GITHUB_TOKEN]", "[redacted:OTHER]"] {
        let content = format!("A=1\nTOKEN={word}\nB=3\n");
        let how = "write exactly `[redacted:GITHUB_TOKEN]`";
        refused(&file, "write", json!({"filePath": NAME, "content": content}), how);
        let new = format!("A=2\nTOKEN={word}");
        refused(&file, "edit", edit("A=1\nTOKEN=[redacted:GITHUB_TOKEN]", &new), how);
        let hunk = format!("@@ -2 +2 @@\n-TOKEN=[redacted:GITHUB_TOKEN]\n+TOKEN={word}\n");
        refused(&file, "apply_patch", patch(&hunk), how);
    }
    // The mark is a text of the file as well: which of the two is meant is not told.
    let both = format!("# [redacted:GITHUB_TOKEN]\nTOKEN={TOKEN}\n");
    refused(&both, "edit", edit("TOKEN=[redacted:GITHUB_TOKEN]", "T=[redacted:GITHUB_TOKEN]"), "is unclear");
    // Where the value may go, it goes; where there is none, the mark is a text like any other.
    check(&file, "edit", edit("TOKEN=[redacted:GITHUB_TOKEN]", "TOKEN=new"), "A=1\nTOKEN=new\nB=2\n");
    check("A=1\n", "edit", edit("A=1", "A=[redacted:GITHUB_TOKEN]"), "A=[redacted:GITHUB_TOKEN]\n");
}

#[test]
fn guarantee_50_a_mark_for_what_may_not_be_read_is_refused() {
    let memory = Memory::new();
    memory.write(&WorkspacePath::new(".env"), format!("TOKEN={TOKEN}\n").as_bytes()).unwrap();
    let redactor = Redactor::new([("GITHUB_TOKEN", TOKEN)]);
    let ctx = Context::builder(Arc::new(memory)).redactor(redactor).build();
    let outcome =
        call(&ctx, "write", json!({"filePath": ".env", "content": "TOKEN=[redacted:GITHUB_TOKEN]\n"}));
    assert!(shown(&outcome).contains("may not be read"), "{}", shown(&outcome));
    assert_eq!(content(&ctx, ".env"), format!("TOKEN={TOKEN}\n").as_bytes());
}
