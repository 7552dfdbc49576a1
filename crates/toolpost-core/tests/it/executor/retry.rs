//! Trying again, where both the tool and the error allow it.

use crate::stage::{Stage, any, code, said, spec};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_core::executor::Retry;
use toolpost_core::{Call, Spec, ToolError};

/// A tool that fails twice, with an error that may or may not be worth another attempt.
fn flaky(spec: Spec, worth_it: bool) -> (Stage, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let stage = Stage::new().tool(any(spec, move |_, _| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            match (run > 2, worth_it) {
                (true, _) => said(format!("worked at {run}")),
                (false, true) => Err(ToolError::execution("busy").retryable()),
                (false, false) => Err(ToolError::execution("broken")),
            }
        }
    }));
    (stage, runs)
}

fn patient(attempts: u32) -> Call {
    let retry = Retry { attempts, delay: Duration::from_secs(1), backoff: 3.0 };
    Call::new("flaky", json!({})).retry(retry)
}

async fn check(spec: Spec, worth_it: bool, call: Call, expected: &str, attempts: u32, trace: &str) {
    let (stage, runs) = flaky(spec, worth_it);
    let start = tokio::time::Instant::now();
    let outcome = stage.executor().run(&stage.ctx().build(), call).await;
    assert_eq!(code(&outcome), expected);
    assert_eq!((outcome.metadata.attempts, runs.load(Ordering::SeqCst)), (attempts, attempts));
    let waited = [0, 1, 1 + 3][attempts as usize - 1];
    assert_eq!(start.elapsed().as_secs(), waited);
    stage.check(&format!("requested flaky · initialized flaky · allow · {trace}"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_twice_works_at_the_third_attempt() {
    check(
        spec("flaky").retryable(),
        true,
        patient(5),
        "worked at 3",
        3,
        "started 1 · retried 1 in 1000 · started 2 · retried 2 in 3000 · started 3 · finished",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded_and_need_both_the_tool_and_the_error() {
    let twice = "started 1 · retried 1 in 1000 · started 2 · finished EXECUTION_ERROR";
    let once = "started 1 · finished EXECUTION_ERROR";
    let willing = || spec("flaky").retryable();
    check(willing(), true, patient(2), "EXECUTION_ERROR", 2, twice).await;
    check(willing(), true, patient(0), "EXECUTION_ERROR", 1, once).await;
    check(willing(), true, Call::new("flaky", json!({})), "EXECUTION_ERROR", 1, once).await;
    check(willing(), false, patient(5), "EXECUTION_ERROR", 1, once).await;
    check(spec("flaky"), true, patient(5), "EXECUTION_ERROR", 1, once).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_cancelled_between_attempts() {
    let (stage, runs) = flaky(spec("flaky").retryable(), true);
    let token = CancellationToken::new();
    let ctx = stage.ctx().cancel(token.clone()).build();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(500)).await;
        token.cancel();
    });
    let start = tokio::time::Instant::now();
    let outcome = stage.executor().run(&ctx, patient(5)).await;
    assert_eq!((code(&outcome), outcome.metadata.attempts), ("CANCELLED", 1));
    assert_eq!((start.elapsed().as_millis(), runs.load(Ordering::SeqCst)), (500, 1));
    stage.check(
        "requested flaky · initialized flaky · allow · started 1 · retried 1 in 1000 · finished CANCELLED",
    );
}
