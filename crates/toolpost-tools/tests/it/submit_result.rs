//! `submit_result`: who is late is refused, by the number of the claim.

use crate::stored::Shared;
use crate::{code, shown};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::store::{By, TaskChange, TaskStatus};

fn shared() -> Shared {
    let shared = Shared::new();
    shared.boss("create_task", json!({"title": "one"}));
    shared
}

fn claim() -> Value {
    json!({"taskId": "t1", "claim": true})
}

fn result(text: &str) -> Value {
    json!({"taskId": "t1", "result": text})
}

/// What an orchestrator does by `toolpost tasks release`.
fn release(shared: &Shared) {
    let boss = By { session: "boss".to_owned(), ..By::default() };
    shared.store.change_task(&boss, "t1", TaskChange::Release).unwrap();
}

#[test]
fn a_result_is_handed_in() {
    let shared = shared();
    shared.worker("w", "get_task", claim());
    let outcome = shared.worker("w", "submit_result", result("done"));
    assert_eq!(shown(&outcome), "t1 submitted by w (claim 1): one");
    assert!(
        shared.worker("w", "submit_result", result("done")).is_success(),
        "the same again changes nothing"
    );
    assert_eq!(code(&shared.worker("w", "submit_result", result("other"))), "TASK_CONFLICT");
    assert_eq!(shared.task("t1").result.as_deref(), Some("done"));
}

#[test]
fn a_free_task_is_claimed_and_submitted_in_one_step() {
    let shared = shared();
    assert!(shared.worker("w", "submit_result", result("done")).is_success());
    let task = shared.task("t1");
    assert_eq!((task.status, task.claim, task.owner.as_deref()), (TaskStatus::Submitted, 1, Some("w")));
}

#[test]
fn what_another_owner_holds_is_refused() {
    let shared = shared();
    shared.worker("w", "get_task", claim());
    assert_eq!(code(&shared.worker("x", "submit_result", result("mine"))), "TASK_CONFLICT");
    assert_eq!(shared.task("t1").status, TaskStatus::Claimed);
}

#[test]
fn who_was_released_is_late_until_it_claims_again() {
    let shared = shared();
    shared.worker("w", "get_task", claim());
    release(&shared);
    for _ in 0..2 {
        let late = shared.worker("w", "submit_result", result("late"));
        assert_eq!(code(&late), "TASK_CONFLICT");
        assert!(shown(&late).contains("was released"), "{}", shown(&late));
    }
    shared.worker("w", "get_task", claim());
    assert!(shared.worker("w", "submit_result", result("in time")).is_success());
    assert_eq!(shared.task("t1").claim, 2);
}

#[test]
fn the_number_tells_two_claims_of_one_owner_apart() {
    let first = shared();
    let second = Shared::on(Arc::clone(&first.store));
    first.worker("w", "get_task", claim());
    release(&first);
    // The same session, in another process, has claimed it since.
    second.worker("w", "get_task", claim());
    let late = first.worker("w", "submit_result", result("late"));
    assert_eq!(code(&late), "TASK_CONFLICT");
    assert!(shown(&late).contains("number 1, the last one 2"), "{}", shown(&late));
    assert!(second.worker("w", "submit_result", result("in time")).is_success());
    assert_eq!(first.task("t1").result.as_deref(), Some("in time"));
}

#[test]
fn who_was_rejected_may_submit_again_without_a_claim() {
    let shared = shared();
    shared.worker("w", "get_task", claim());
    shared.worker("w", "submit_result", result("bad"));
    shared.boss("reject_task", json!({"taskId": "t1", "reason": "no"}));
    assert!(shared.worker("w", "submit_result", result("good")).is_success());
    assert_eq!(shared.task("t1").result.as_deref(), Some("good"));
}

#[test]
fn no_spelling_of_an_id_avoids_the_number() {
    let shared = shared();
    shared.worker("w", "get_task", claim());
    release(&shared);
    for id in ["t01", "t+1", " t1", "T1"] {
        let outcome = shared.worker("w", "submit_result", json!({"taskId": id, "result": "late"}));
        assert!(!outcome.is_success(), "{id}: {}", shown(&outcome));
    }
    assert_eq!(shared.task("t1").status, TaskStatus::Ready);
}

#[test]
fn a_dry_run_knows_who_is_late() {
    let shared = shared();
    let worker = |name: &str| shared.session(name, Some("worker"), "toolpost");
    let dry = |name: &str| shared.dry_run(&worker(name), "submit_result", result("x"));
    assert_eq!(shown(&dry("w")), "would submit t1 ready: one");
    shared.worker("w", "get_task", claim());
    assert!(dry("w").is_success());
    assert_eq!(code(&dry("x")), "TASK_CONFLICT");
    release(&shared);
    assert_eq!(code(&dry("w")), "TASK_CONFLICT");
    assert!(dry("x").is_success());
    assert_eq!(shared.task("t1").status, TaskStatus::Ready);
}
