//! `get_task`: one task in full, and a claim that one owner has at a time.

use crate::stored::Shared;
use crate::{code, data, run, shown};
use serde_json::json;
use std::sync::Arc;
use toolpost_core::Call;
use toolpost_core::host::Ids;
use toolpost_core::store::TaskStatus;

fn shared() -> Shared {
    let shared = Shared::new();
    shared.boss("create_task", json!({"title": "one", "description": "All\nabout it."}));
    shared
}

#[test]
fn a_task_is_shown_in_full_and_not_claimed_unless_asked() {
    let shared = shared();
    let outcome = shared.worker("w", "get_task", json!({"taskId": "t1"}));
    assert_eq!(shown(&outcome), "t1 ready: one\n\nAll\nabout it.");
    assert_eq!((shared.task("t1").status, shared.task("t1").claim), (TaskStatus::Ready, 0));
    shared.worker("w", "submit_result", json!({"taskId": "t1", "result": "half"}));
    shared.boss("reject_task", json!({"taskId": "t1", "reason": "no tests"}));
    let outcome = shared.worker("w", "get_task", json!({"taskId": "t1", "claim": true}));
    let expected =
        "t1 claimed by w (claim 2): one\nrejected before: no tests\n\nAll\nabout it.\n\nresult:\nhalf";
    assert_eq!(shown(&outcome), expected);
    assert_eq!(data(&outcome)["task"]["claim"], 2);
    let unknown = shared.worker("w", "get_task", json!({"taskId": "t9"}));
    assert_eq!(code(&unknown), "VALIDATION_ERROR");
    assert!(shown(&unknown).contains("`t9`"), "{}", shown(&unknown));
}

#[test]
fn a_claim_has_one_owner() {
    let shared = shared();
    let claim = json!({"taskId": "t1", "claim": true});
    assert!(shared.worker("w", "get_task", claim.clone()).is_success());
    assert!(shared.worker("w", "get_task", claim.clone()).is_success(), "who has it keeps it");
    let late = shared.worker("x", "get_task", claim.clone());
    assert_eq!(code(&late), "TASK_CONFLICT");
    assert!(shown(&late).contains("is claimed by `w` (claim 1)"), "{}", shown(&late));
    // Looking is free.
    assert!(shared.worker("x", "get_task", json!({"taskId": "t1"})).is_success());
}

#[test]
fn the_owner_is_the_activation_where_there_is_one() {
    let shared = shared();
    let ids = Ids {
        session: "s".to_owned(),
        activation: Some("a7".to_owned()),
        role: Some("worker".to_owned()),
        ..Ids::default()
    };
    let ctx = shared.session("s", Some("worker"), "toolpost").rebuild().ids(ids).build();
    shared.call(&ctx, "get_task", json!({"taskId": "t1", "claim": true}));
    assert_eq!(shared.task("t1").owner.as_deref(), Some("a7"));
    assert_eq!(
        code(&shared.worker("s", "get_task", json!({"taskId": "t1", "claim": true}))),
        "TASK_CONFLICT"
    );
}

#[test]
fn of_many_who_claim_at_once_one_wins() {
    let shared = Arc::new(shared());
    let outcomes = run(async {
        let calls = (0..16).map(|number| {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                let ctx = shared.session(&format!("w{number}"), Some("worker"), "toolpost");
                let call = Call::new("get_task", json!({"taskId": "t1", "claim": true}));
                shared.executor.run(&ctx, call).await
            })
        });
        let mut outcomes = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            outcomes.push(call.await.unwrap());
        }
        outcomes
    });
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.iter().partition(|outcome| outcome.is_success());
    assert_eq!((won.len(), lost.len()), (1, 15));
    assert!(lost.into_iter().all(|outcome| code(outcome) == "TASK_CONFLICT"));
    assert_eq!(shared.task("t1").claim, 1);
}

#[test]
fn a_dry_run_says_whether_it_could_be_claimed() {
    let shared = shared();
    let ctx = shared.session("x", Some("worker"), "toolpost");
    let claim = json!({"taskId": "t1", "claim": true});
    assert_eq!(shown(&shared.dry_run(&ctx, "get_task", claim.clone())), "would claim t1 ready: one");
    assert_eq!(shared.task("t1").status, TaskStatus::Ready);
    shared.worker("w", "get_task", claim.clone());
    let refused = shared.dry_run(&ctx, "get_task", claim);
    assert_eq!(code(&refused), "TASK_CONFLICT");
}
