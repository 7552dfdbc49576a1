//! `reject_task`: with a reason, and the task can be claimed again.

use crate::stored::Shared;
use crate::{code, shown};
use serde_json::json;
use toolpost_core::store::TaskStatus;

#[test]
fn a_rejected_task_is_deferred_and_can_be_claimed_like_a_ready_one() {
    let shared = Shared::new();
    shared.boss("create_task", json!({"title": "one"}));
    let reject = json!({"taskId": "t1", "reason": "no tests"});
    assert_eq!(code(&shared.boss("reject_task", reject.clone())), "TASK_CONFLICT");
    shared.worker("w", "submit_result", json!({"taskId": "t1", "result": "done"}));
    let boss = shared.session("boss", Some("orchestrator"), "toolpost");
    let dry = shared.dry_run(&boss, "reject_task", reject.clone());
    assert_eq!(shown(&dry), "would reject t1 submitted by w (claim 1): one");
    for _ in 0..2 {
        assert_eq!(shown(&shared.boss("reject_task", reject.clone())), "t1 deferred: one");
    }
    let task = shared.task("t1");
    assert_eq!(
        (task.status, task.reason.as_deref(), task.owner),
        (TaskStatus::Deferred, Some("no tests"), None)
    );
    // Listing changes nothing.
    shared.worker("x", "list_tasks", json!({}));
    assert_eq!(shared.task("t1").status, TaskStatus::Deferred);
    assert!(shared.worker("x", "get_task", json!({"taskId": "t1", "claim": true})).is_success());
    assert_eq!(shared.task("t1").owner.as_deref(), Some("x"));
    let empty = shared.boss("reject_task", json!({"taskId": "t1", "reason": ""}));
    assert_eq!(code(&empty), "VALIDATION_ERROR");
}
