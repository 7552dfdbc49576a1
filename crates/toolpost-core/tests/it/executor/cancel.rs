//! Callers who give up.

use crate::stage::{Stage, any, code, path_schema, said, spec};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolpost_core::host::{BoxFuture, Confirm};
use toolpost_core::policy::Profile;
use toolpost_core::{Answer, Capability, Policy, Question, Workspace, dynamic};

async fn after(delay: Duration, token: CancellationToken) {
    tokio::time::sleep(delay).await;
    token.cancel();
}

struct Silence;

impl Confirm for Silence {
    fn confirm<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn the_callers_token_ends_a_running_tool() {
    let stage = Stage::new().tool(any(spec("slow"), |ctx, _| async move {
        ctx.cancel().cancelled().await;
        assert_eq!(ctx.checkpoint().unwrap_err().code().as_str(), "CANCELLED");
        said("too late to matter")
    }));
    let token = CancellationToken::new();
    let ctx = stage.ctx().cancel(token.clone()).build();
    tokio::spawn(after(Duration::from_secs(1), token));
    let outcome = stage.executor().call(&ctx, "slow", json!({})).await;
    assert_eq!((code(&outcome), outcome.exit_status()), ("CANCELLED", 4));
    stage.check("requested slow · initialized slow · allow · started 1 · finished CANCELLED");
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_cancelled_session_does_not_begin() {
    let stage = Stage::new().tool(crate::stage::echo("fine"));
    let token = CancellationToken::new();
    token.cancel();
    let ctx = stage.ctx().cancel(token).build();
    assert_eq!(code(&stage.executor().call(&ctx, "fine", json!({})).await), "CANCELLED");
    stage.check("requested fine · finished CANCELLED");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_an_answer_can_be_cancelled() {
    let stage = Stage::new().tool(any(spec("risky").requires(Capability::Exec), |_, _| async { said("") }));
    let token = CancellationToken::new();
    let ctx = stage.ctx().cancel(token.clone()).confirm(Arc::new(Silence)).build();
    tokio::spawn(after(Duration::from_secs(60), token));
    let executor = stage.builder(Policy::default().ask(Capability::Exec)).build();
    assert_eq!(code(&executor.call(&ctx, "risky", json!({})).await), "CANCELLED");
    stage.check(
        "requested risky · initialized risky · ask · asked · no (the call was cancelled) · finished CANCELLED",
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_turn_can_be_cancelled_and_gives_up_by_itself() {
    let stage = Stage::with_files("//- a\n").tool(dynamic(
        spec("write").requires(Capability::Write).timeout(Duration::from_secs(5), Duration::from_secs(5)),
        path_schema(),
        |_, _| async { said("written") },
    ));
    let held = stage.memory.lock(&"a".into()).unwrap().wait().await.unwrap();
    let token = CancellationToken::new();
    let ctx = stage.ctx().cancel(token.clone()).build();
    tokio::spawn(after(Duration::from_secs(2), token));
    assert_eq!(code(&stage.executor().call(&ctx, "write", json!({"path": "a"})).await), "CANCELLED");
    // After a second it says what it waits for.
    stage.check(
        "requested write · initialized write · allow · progress waits for its turn to change `a`, which another call of this process \
         is changing · finished CANCELLED",
    );

    let outcome = stage.executor().call(&stage.ctx().build(), "write", json!({"path": "a"})).await;
    assert_eq!(
        outcome.to_text(),
        "Error: `write` waited 5 s for its turn to change `a`, which another call of this process is changing; try again when that \
         has ended"
    );
    assert_eq!(code(&outcome), "TIMEOUT");
    drop(held);
    let outcome = stage.executor().call(&stage.ctx().build(), "write", json!({"path": "a"})).await;
    assert_eq!(code(&outcome), "written");
}

#[tokio::test(start_paused = true)]
async fn dropping_the_future_ends_the_tool_and_what_it_started_and_is_recorded() {
    let told = Arc::new(Notify::new());
    let kept = told.clone();
    let stage = Stage::new().tool(any(spec("parent"), move |ctx, _| {
        let kept = kept.clone();
        async move {
            // Work that outlives the tool's own future learns of the end by the token.
            tokio::spawn(async move {
                ctx.cancel().cancelled().await;
                kept.notify_one();
            });
            std::future::pending().await
        }
    }));
    let (executor, ctx) = (stage.executor(), stage.ctx().build());
    let call = executor.call(&ctx, "parent", json!({}));
    assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
    told.notified().await;
    stage.check("requested parent · initialized parent · allow · started 1 · finished CANCELLED");
    assert_eq!(executor.stats().tools["parent"].error, 1);
    assert_eq!(executor.last_results("s").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_finished_call_tells_what_it_left_behind() {
    let told = Arc::new(Notify::new());
    let kept = told.clone();
    let stage = Stage::new().tool(any(spec("parent"), move |ctx, _| {
        let kept = kept.clone();
        async move {
            tokio::spawn(async move {
                ctx.cancel().cancelled().await;
                ctx.progress("a word from the past", json!(null));
                assert_eq!(ctx.confirm("May I?").await, Answer::No("the call has ended".to_owned()));
                kept.notify_one();
            });
            said("done")
        }
    }));
    let executor = stage.builder(Policy::profile(Profile::ReadOnly)).build();
    assert_eq!(code(&executor.call(&stage.ctx().build(), "parent", json!({})).await), "done");
    told.notified().await;
    stage.check("requested parent · initialized parent · allow · started 1 · finished");
}
