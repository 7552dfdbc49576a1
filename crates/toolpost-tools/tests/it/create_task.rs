//! `create_task`: ready at once, or when what it depends on is completed.

use crate::stored::Shared;
use crate::{code, data, shown};
use serde_json::json;

#[test]
fn a_task_waits_for_what_it_depends_on() {
    let shared = Shared::new();
    let first = shared.boss("create_task", json!({"title": " one ", "description": "text"}));
    assert_eq!(shown(&first), "t1 ready: one");
    assert_eq!(data(&first)["task"]["description"], "text");
    let second = shared.boss("create_task", json!({"title": "two", "dependsOn": ["t1"]}));
    assert_eq!(shown(&second), "t2 pending: two (depends on t1)");
    let claim = shared.worker("w", "get_task", json!({"taskId": "t2", "claim": true}));
    assert_eq!(code(&claim), "TASK_CONFLICT");
    shared.worker("w", "submit_result", json!({"taskId": "t1", "result": "done"}));
    shared.boss("complete_task", json!({"taskId": "t1"}));
    assert!(shared.worker("w", "get_task", json!({"taskId": "t2", "claim": true})).is_success());
}

#[test]
fn what_cannot_be_is_refused_and_takes_no_number() {
    let shared = Shared::new();
    for (args, expected) in [
        (json!({"title": "x", "dependsOn": ["t9"]}), "`t9`"),
        // A task that waits for itself: its id is the next one.
        (json!({"title": "x", "dependsOn": ["t1"]}), "`t1`"),
        (json!({"title": "x", "dependsOn": ["nonsense"]}), "`nonsense`"),
        (json!({"title": ""}), "title"),
        (json!({"title": "   "}), "title"),
        (json!({"title": "x".repeat(1_001)}), "1000 bytes"),
        (json!({}), "title"),
    ] {
        let outcome = shared.boss("create_task", args.clone());
        assert_eq!(code(&outcome), "VALIDATION_ERROR", "{args}");
        assert!(shown(&outcome).contains(expected), "{args}: {}", shown(&outcome));
    }
    assert_eq!(shown(&shared.boss("create_task", json!({"title": "x"}))), "t1 ready: x");
}

#[test]
fn a_dry_run_creates_nothing() {
    let shared = Shared::new();
    let boss = shared.session("boss", Some("orchestrator"), "toolpost");
    assert_eq!(
        shown(&shared.dry_run(&boss, "create_task", json!({"title": "x"}))),
        "would create t? ready: x"
    );
    let wrong = shared.dry_run(&boss, "create_task", json!({"title": "x", "dependsOn": ["t1"]}));
    assert_eq!(code(&wrong), "VALIDATION_ERROR");
    assert_eq!(shared.store.tasks(None).unwrap(), []);
}
