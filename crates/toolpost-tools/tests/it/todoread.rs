//! `todoread`: the list of its own session, and no other.

use crate::stored::Shared;
use crate::{data, shown};
use serde_json::json;

#[test]
fn a_session_reads_what_it_has_written() {
    let shared = Shared::new();
    let session = |name: &str| shared.session(name, None, "toolpost");
    assert_eq!(shown(&shared.call(&session("a"), "todoread", json!({}))), "[]");
    let todo = json!({"id": "1", "content": "x", "status": "pending", "priority": "high"});
    shared.call(&session("a"), "todowrite", json!({"todos": [todo.clone()]}));
    let read = shared.call(&session("a"), "todoread", json!({}));
    assert_eq!(shown(&read), json!([todo]).to_string());
    assert_eq!(data(&read), &json!({"todos": [todo]}));
    assert_eq!(shown(&shared.call(&session("b"), "todoread", json!({}))), "[]");
    // Another process on the same store sees the same.
    let other = Shared::on(std::sync::Arc::clone(&shared.store));
    assert_eq!(data(&other.call(&session("a"), "todoread", json!({}))), data(&read));
}

#[test]
fn every_dialect_reads_it_by_its_name() {
    let shared = Shared::new();
    let names = [
        ("toolpost", "todoread"),
        ("long", "todo_read"),
        ("claude", "TodoRead"),
        ("gemini", "todoread"),
        ("codex", "todoread"),
    ];
    for (dialect, name) in names {
        let outcome = shared.call(&shared.session("s", None, dialect), name, json!({}));
        assert_eq!((outcome.tool.as_str(), shown(&outcome).as_str()), ("todoread", "[]"), "{dialect}");
        assert_eq!(outcome.metadata.repairs, [], "{dialect}");
    }
}
