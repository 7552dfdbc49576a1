//! `complete_task`: a result is accepted once, and frees what has waited for it.

use crate::stored::Shared;
use crate::{code, shown};
use serde_json::json;
use toolpost_core::store::TaskStatus;

#[test]
fn a_submitted_task_is_completed_once() {
    let shared = Shared::new();
    shared.boss("create_task", json!({"title": "one"}));
    shared.boss("create_task", json!({"title": "two", "dependsOn": ["t1"]}));
    let early = shared.boss("complete_task", json!({"taskId": "t1"}));
    assert_eq!(code(&early), "TASK_CONFLICT");
    assert!(shown(&early).contains("must be submitted first"), "{}", shown(&early));
    let boss = shared.session("boss", Some("orchestrator"), "toolpost");
    assert_eq!(code(&shared.dry_run(&boss, "complete_task", json!({"taskId": "t1"}))), "TASK_CONFLICT");
    shared.worker("w", "submit_result", json!({"taskId": "t1", "result": "done"}));
    let dry = shared.dry_run(&boss, "complete_task", json!({"taskId": "t1"}));
    assert_eq!(shown(&dry), "would complete t1 submitted by w (claim 1): one");
    for _ in 0..2 {
        let outcome = shared.boss("complete_task", json!({"taskId": "t1"}));
        assert_eq!(shown(&outcome), "t1 completed: one");
    }
    assert_eq!(shared.task("t2").status, TaskStatus::Ready);
    assert_eq!(code(&shared.boss("complete_task", json!({"taskId": "t9"}))), "VALIDATION_ERROR");
}
