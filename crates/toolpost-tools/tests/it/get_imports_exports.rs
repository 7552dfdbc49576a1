//! `get_imports_exports`: both lists, with where imports lead.

use super::{call, data, shown};
use crate::fake_engine::{session, whole};
use serde_json::json;

#[test]
fn imports_lead_to_files() {
    let outcome = call(&session(whole()), "get_imports_exports", json!({"file": "src/main.rs"}));
    let expected = "\
imports (3):
src/main.rs
1: crate::reader {Reader} -> src/reader.rs
1: std::io
1: crate::keys {parse_key} -> secret/keys.rs

exports (1):
src/main.rs
2: function main
";
    assert_eq!(shown(&outcome), expected);
    assert_eq!(data(&outcome)["imports"][1], json!({"module": "std::io", "names": [], "line": 1}));
}
