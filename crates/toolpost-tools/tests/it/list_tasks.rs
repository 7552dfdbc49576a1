//! `list_tasks`: all of them, or those that stand somewhere.

use crate::stored::Shared;
use crate::{code, data, shown};
use serde_json::json;

#[test]
fn tasks_are_listed_with_what_they_wait_for() {
    let shared = Shared::new();
    assert_eq!(shown(&shared.boss("list_tasks", json!({}))), "There are no tasks.");
    shared.boss("create_task", json!({"title": "first\nline", "description": "long"}));
    shared.boss("create_task", json!({"title": "second", "dependsOn": ["t1"]}));
    shared.worker("w", "get_task", json!({"taskId": "t1", "claim": true}));
    let outcome = shared.worker("w", "list_tasks", json!({}));
    let expected = "t1 claimed by w (claim 1): first\\nline\nt2 pending: second (depends on t1)";
    assert_eq!(shown(&outcome), expected);
    assert_eq!(
        data(&outcome)["tasks"][1],
        json!({"id": "t2", "title": "second", "status": "pending", "dependsOn": ["t1"]})
    );
    let pending = shared.worker("w", "list_tasks", json!({"status": "pending"}));
    assert_eq!(shown(&pending), "t2 pending: second (depends on t1)");
    let none = shared.worker("w", "list_tasks", json!({"status": "submitted"}));
    assert_eq!(shown(&none), "No task is submitted.");
    let wrong = shared.worker("w", "list_tasks", json!({"status": "done"}));
    assert_eq!(code(&wrong), "VALIDATION_ERROR");
    assert!(shown(&wrong).contains("completed"), "{}", shown(&wrong));
}
