//! `find_references`: lines by file, how sure each is, and what is only possible.

use super::{call, data, shown};
use crate::fake_engine::{session, whole};
use serde_json::json;

#[test]
fn references_stand_with_their_lines() {
    let outcome = call(&session(whole()), "find_references", json!({"symbol": "Reader.parse"}));
    let expected = "\
defined: method parse in Reader, src/reader.rs:3

secret/keys.rs
1: pub fn parse_key() {}

src/main.rs
4: reader.parse();  [typed]

src/reader.rs
3: pub fn parse(&self) -> Result<Page, Error> { todo() }

possible (1), because the receiver is unknown:
src/main.rs
5: anything.parse();
(3 references in 3 files)";
    assert_eq!(shown(&outcome), expected);
    let data = data(&outcome);
    assert_eq!(
        data["references"][0],
        json!({"file": "src/main.rs", "line": 4, "column": 12, "role": "member", "confidence": "typed"})
    );
    assert_eq!((&data["possible"][0]["confidence"], &data["total"]), (&json!("possible"), &json!(3)));
}

#[test]
fn an_unknown_symbol_is_an_error() {
    let outcome = call(&session(whole()), "find_references", json!({"symbol": "parsed"}));
    assert_eq!(shown(&outcome), "NO_MATCH: no symbol `parsed`; nearest: `parse` (src/reader.rs:3)");
}

#[test]
fn a_line_without_its_file_and_a_column_without_its_line_are_refused() {
    for (tool, args, expected) in [
        (
            "find_references",
            json!({"symbol": "parse", "line": 3}),
            "VALIDATION_ERROR: `line` means nothing without `file`; give both, or neither",
        ),
        (
            "find_references",
            json!({"symbol": "parse", "file": "src/reader.rs", "column": 3}),
            "VALIDATION_ERROR: `column` means nothing without `line`; give both, or neither",
        ),
        (
            "resolve_symbol",
            json!({"symbol": "parse", "file": "src/reader.rs", "column": 3}),
            "VALIDATION_ERROR: `column` means nothing without `line`; give both, or neither",
        ),
    ] {
        assert_eq!(shown(&call(&session(whole()), tool, args)), expected);
    }
}
