//! Histories of a few calls, and what is said of them.

use super::*;
use replay::Deed;

/// One line of a call.
fn line(tool: &str, arguments: serde_json::Value, error: Option<&str>, original: Option<&str>) -> String {
    let text = error.unwrap_or("     1→one\n     2→two\n\nthe end");
    json!({
        "id": "c", "session": "s", "tool": tool, "arguments": arguments, "failed": error.is_some(), "text": text,
        "original": original
    })
    .to_string()
}

fn edit(old: &str, new: &str, error: Option<&str>, original: Option<&str>) -> String {
    line("Edit", json!({"file_path": "a.txt", "old_string": old, "new_string": new}), error, original)
}

fn attempts(lines: &[String]) -> Vec<Attempt> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    history::attempts(calls::read(&file).unwrap())
}

/// The verdict on the first attempt, if this is what a tool left behind.
fn check(lines: &[String], after: &str, message: &str, expected: Verdict) {
    let attempts = attempts(lines);
    let deed = Deed { file: after.to_owned(), is_error: message.contains(':'), message: message.to_owned() };
    assert_eq!(verdict::judge(&attempts[0], Some(&deed)), expected, "{after:?}");
}

#[test]
fn what_landed_there_must_land_with_the_same_bytes() {
    let landed = [edit("b", "c", None, Some("a\nb\n"))];
    check(&landed, "a\nc\n", "", Verdict::Same);
    check(&landed, "a\nc", "", Verdict::Differs);
    check(&landed, "a\nb\n", "NO_MATCH: no", Verdict::Missing);
    check(&landed, "a\nb\n", "Error: it is a placeholder for text", Verdict::Placeholder);
    // A deleted line takes its newline along.
    check(&[edit("a", "", None, Some("a\nb\n"))], "b\n", "", Verdict::Same);
    check(&[edit("a", "", None, Some("a\nb\n"))], "\nb\n", "", Verdict::Literal);
    // Read before, so that the file is known.
    let read = line("Read", json!({"file_path": "a.txt"}), None, None);
    check(&[read, edit("two", "2", None, None)], "one\n2\n", "", Verdict::Same);
    check(&[edit("two", "2", None, None)], "one\n2\n", "", Verdict::Unknown);
}

#[test]
fn what_failed_there_may_land_as_the_next_attempt_did() {
    let error = Some("String to replace not found in file.");
    let retried = [edit("x \ny", "x \nz", error, None), edit("x\ny", "x\nz", None, Some("x\ny\nw\ny\n"))];
    check(&retried, "x\nz\nw\ny\n", "", Verdict::AsNext);
    check(&retried, "x\ny\nw\ny\n", "NO_MATCH: no", Verdict::Refused);
    check(&retried, "x\ny\nw\nz\n", "", Verdict::Otherwise);
    check(&retried, "x\nz \nw\ny\n", "", Verdict::Otherwise);
    let other = [edit("x \ny", "x \nz", error, None), edit("w", "v", None, Some("x\ny\nw\ny\n"))];
    check(&other, "x\ny\nw\ny\n", "NO_MATCH: no", Verdict::RefusedForGood);
    check(&other, "x\ny\nw\ny\n", "NO_MATCH: it is there already", Verdict::Applied);
    check(&other, "x\nz\nw\ny\n", "", Verdict::SamePlace);
    let more =
        [edit("a ", "b ", error, None), edit("a\n1\nc", "b\n1\nd", None, Some("a\n1\n2\n3\na\n1\nc\n"))];
    check(&more, "a\n1\n2\n3\nb\n1\nc\n", "", Verdict::SamePlace);
    let more =
        [edit("a ", "b ", error, None), edit("a\n1\n2\nc", "b\n1\n2\nd", None, Some("x\na\n1\n2\nc\n"))];
    check(&more, "x\nb\n1\n2\nc\n", "", Verdict::PartOfNext);
    let far = [edit("a", "b", error, None), edit("w", "v", None, Some("x \na\n1\n2\n3\nw\n"))];
    check(&far, "x \nb\n1\n2\n3\nw\n", "", Verdict::Exact);
    let far = [edit("x\na", "x\nb", error, None), edit("w", "v", None, Some("x \na\n1\n2\n3\nw\n"))];
    check(&far, "x \nb\n1\n2\n3\nw\n", "", Verdict::Otherwise);
}

#[test]
fn what_a_user_declines_is_not_asked_again() {
    let attempts = attempts(&[edit("a", "b", Some("The user doesn't want to proceed"), None)]);
    assert!(!attempts[0].is_asked() && attempts[0].file.is_none());
}
