//! `todowrite`: the whole list, replaced; in the arguments that each family of models was trained on.

use crate::stored::Shared;
use crate::{code, data, shown};
use serde_json::{Value, json};

fn write(shared: &Shared, todos: Value) -> toolpost_core::Outcome {
    shared.call(&shared.session("s", None, "toolpost"), "todowrite", json!({ "todos": todos }))
}

fn kept(shared: &Shared) -> Value {
    serde_json::to_value(shared.store.todos("s").unwrap()).unwrap()
}

fn todo(id: &str, content: &str, status: &str, priority: &str) -> Value {
    json!({"id": id, "content": content, "status": status, "priority": priority})
}

#[test]
fn the_list_is_replaced_and_returned_as_json() {
    let shared = Shared::new();
    let first = json!([todo("a", "one", "in_progress", "high"), todo("b", "two", "cancelled", "low")]);
    let outcome = write(&shared, first.clone());
    assert_eq!(shown(&outcome), first.to_string());
    assert_eq!(data(&outcome), &json!({ "todos": first }));
    assert_eq!(outcome.result.as_ref().unwrap().title, "1 of 2 todos open");
    assert_eq!(kept(&shared), first);
    let second = json!([todo("c", "three", "completed", "medium")]);
    write(&shared, second.clone());
    assert_eq!(kept(&shared), second);
    assert_eq!(shown(&write(&shared, json!([]))), "[]");
    assert_eq!(kept(&shared), json!([]));
}

#[test]
fn an_id_and_a_priority_may_be_left_out() {
    let shared = Shared::new();
    write(
        &shared,
        json!([{"content": "one", "status": "pending"}, {"id": "1", "content": "two", "status": "pending"}]),
    );
    assert_eq!(
        kept(&shared),
        json!([todo("2", "one", "pending", "medium"), todo("1", "two", "pending", "medium")])
    );
}

#[test]
fn a_list_that_does_not_fit_changes_nothing() {
    let shared = Shared::new();
    let before = json!([todo("a", "one", "pending", "high")]);
    write(&shared, before.clone());
    let many: Vec<Value> = (0..1_001).map(|_| json!({"content": "x", "status": "pending"})).collect();
    for (todos, expected, message) in [
        (json!([{"content": "x", "status": "done"}]), "VALIDATION_ERROR", "in_progress"),
        (json!([{"content": "x"}]), "VALIDATION_ERROR", "status"),
        (json!([{"content": "", "status": "pending"}]), "VALIDATION_ERROR", "content"),
        (json!([{"content": "x", "status": "pending", "priority": "urgent"}]), "VALIDATION_ERROR", "medium"),
        (
            json!([todo("a", "x", "pending", "low"), todo("a", "y", "pending", "low")]),
            "VALIDATION_ERROR",
            "`a`",
        ),
        (json!(many), "TOO_LARGE", "1000"),
        (json!("buy milk"), "VALIDATION_ERROR", "todos"),
    ] {
        let outcome = write(&shared, todos.clone());
        assert_eq!(code(&outcome), expected, "{}", shown(&outcome));
        assert!(shown(&outcome).contains(message), "{}", shown(&outcome));
    }
    assert_eq!(kept(&shared), before);
    let ctx = shared.session("s", None, "toolpost");
    let dry = shared.dry_run(&ctx, "todowrite", json!({"todos": [{"content": "new", "status": "pending"}]}));
    assert_eq!(shown(&dry), json!([todo("1", "new", "pending", "medium")]).to_string());
    assert_eq!(kept(&shared), before);
}

#[test]
fn every_dialect_is_understood_and_nothing_is_lost_in_silence() {
    let left_out =
        |path: &str, name: &str| format!("`{path}`: `{name}` → left out, the tool has no such argument");
    let checks = [
        ("toolpost", "todowrite", json!({"todos": [todo("1", "a", "pending", "medium")]}), "pending", vec![]),
        ("long", "todo_write", json!({"todos": [todo("1", "a", "pending", "medium")]}), "pending", vec![]),
        (
            "claude",
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "in_progress", "activeForm": "Doing a"}]}),
            "in_progress",
            vec![left_out("todos[0].activeForm", "activeForm")],
        ),
        (
            "gemini",
            "write_todos",
            json!({"todos": [{"description": "a", "status": "blocked"}]}),
            "pending",
            vec!["`todos[0].status`: \"blocked\" → \"pending\"".to_owned()],
        ),
        (
            "gemini",
            "write_todos",
            json!({"todos": [{"description": "a", "status": "cancelled"}]}),
            "cancelled",
            vec![],
        ),
        (
            "codex",
            "update_plan",
            json!({"explanation": "why", "plan": [{"step": "a", "status": "completed"}]}),
            "completed",
            vec![],
        ),
        // A name of another dialect is understood in every session.
        (
            "toolpost",
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "pending"}]}),
            "pending",
            vec!["`tool`: `TodoWrite` → `todowrite`".to_owned()],
        ),
    ];
    for (dialect, name, args, status, repairs) in checks {
        let shared = Shared::new();
        let outcome = shared.call(&shared.session("s", None, dialect), name, args.clone());
        let expected = json!([todo("1", "a", status, "medium")]);
        assert_eq!(kept(&shared), expected, "{dialect}: {args}: {}", shown(&outcome));
        let told: Vec<String> = outcome.metadata.repairs.iter().map(ToString::to_string).collect();
        assert_eq!(told, repairs, "{dialect}: {args}");
    }
}

#[test]
fn every_dialect_offers_the_fields_that_its_models_know() {
    let shared = Shared::new();
    let snapshot = shared.executor.registry().snapshot();
    for (dialect, name, list, fields) in [
        ("toolpost", "todowrite", "todos", vec!["id", "content", "status", "priority"]),
        ("long", "todo_write", "todos", vec!["id", "content", "status", "priority"]),
        ("claude", "TodoWrite", "todos", vec!["content", "status"]),
        ("gemini", "write_todos", "todos", vec!["description", "status"]),
        ("codex", "update_plan", "plan", vec!["step", "status"]),
    ] {
        let dialect = toolpost_tools::dialects().named(dialect).unwrap();
        let offered = snapshot.offer(snapshot.get("todowrite").unwrap(), &dialect).unwrap().unwrap();
        let items = &offered.input["properties"][list]["items"]["properties"];
        let found: Vec<&String> = items.as_object().unwrap().keys().collect();
        assert_eq!(
            (offered.name.as_str(), found),
            (name, fields.iter().map(|field| (*field).to_owned()).collect::<Vec<_>>().iter().collect())
        );
        assert_eq!(
            items["status"]["enum"],
            json!(["pending", "in_progress", "completed", "cancelled"]),
            "{}: {items}",
            dialect.name()
        );
    }
}

#[test]
fn the_list_is_shown_in_the_words_of_the_session() {
    let shared = Shared::new();
    write(&shared, json!([todo("7", "a", "in_progress", "high")]));
    for (dialect, name, expected) in [
        ("toolpost", "todoread", json!([todo("7", "a", "in_progress", "high")])),
        ("long", "todo_read", json!([todo("7", "a", "in_progress", "high")])),
        ("claude", "TodoRead", json!([{"content": "a", "status": "in_progress"}])),
        ("gemini", "todoread", json!([{"description": "a", "status": "in_progress"}])),
        ("codex", "todoread", json!([{"step": "a", "status": "in_progress"}])),
    ] {
        let outcome = shared.call(&shared.session("s", None, dialect), name, json!({}));
        assert_eq!(shown(&outcome), expected.to_string(), "{dialect}");
    }
}
