//! `search_code`: symbols by name and code by structure, as a model sees them.

use super::{call, data, shown};
use crate::fake_engine::{session, whole};
use serde_json::{Value, json};

fn check(args: Value, expected: &str) {
    assert_eq!(shown(&call(&session(whole()), "search_code", args.clone())), expected, "{args}");
}

#[test]
fn symbols_stand_below_their_files() {
    check(
        json!({"query": "parse"}),
        "src/reader.rs\n3: pub fn parse(&self) -> Result<Page, Error>  in Reader\n\nsecret/keys.rs\n1: pub fn parse_key()\n",
    );
    check(json!({"query": "parse", "kind": "function"}), "secret/keys.rs\n1: pub fn parse_key()\n");
    check(json!({"query": "zzzz"}), "(nothing found; try a part of the name, or search the text)");
    check(
        json!({"query": "parse", "limit": 1}),
        "src/reader.rs\n3: pub fn parse(&self) -> Result<Page, Error>  in Reader\n(there may be more; narrow the search, or \
         raise `limit`)",
    );
}

#[test]
fn a_pattern_finds_code_with_its_lines() {
    check(
        json!({"query": "$X.parse()", "limit": 2}),
        "src/main.rs\n4: reader.parse();\n2-6: fn main() {\n(there may be more; narrow the search, or raise `limit`)",
    );
    let outcome = call(&session(whole()), "search_code", json!({"query": "$X.parse()"}));
    assert_eq!(data(&outcome)["matches"][0]["captures"], json!([["X", "reader"]]));
    assert_eq!(data(&outcome)["symbols"], json!([]));
}
