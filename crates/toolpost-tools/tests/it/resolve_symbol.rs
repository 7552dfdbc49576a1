//! `resolve_symbol`: the definition with how sure it is, what is outside, what is unknown.

use super::{call, data, shown};
use crate::fake_engine::{session, whole};
use serde_json::{Value, json};

fn check(args: Value, expected: &str) {
    assert_eq!(shown(&call(&session(whole()), "resolve_symbol", args.clone())), expected, "{args}");
}

#[test]
fn a_name_leads_to_its_definition() {
    check(
        json!({"symbol": "parse", "file": "src/main.rs", "line": 4, "column": 12}),
        "method parse in Reader, src/reader.rs:3  [typed]\n  pub fn parse(&self) -> Result<Page, Error>\n",
    );
    check(json!({"symbol": "println", "file": "src/main.rs"}), "outside of the workspace: std::println\n");
    check(
        json!({"symbol": "parsex", "file": "src/main.rs", "line": 4}),
        "NO_MATCH: no symbol `parsex` at src/main.rs:4; nearest: `parse` (src/reader.rs:3)",
    );
}

#[test]
fn data_has_the_definition_and_the_confidence() {
    let outcome =
        call(&session(whole()), "resolve_symbol", json!({"symbol": "parse", "file": "src/main.rs"}));
    assert_eq!(data(&outcome)["definition"]["file"], "src/reader.rs");
    assert_eq!(data(&outcome)["confidence"], "typed");
    assert_eq!(data(&outcome)["candidates"], json!([]));
    assert_eq!(data(&outcome)["complete"], true);
}
