//! Tools that have to be made ready first.

use crate::load::stretched;
use crate::stage::{Stage, code, message, spec};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_core::tool::{Amendment, Setting};
use toolpost_core::{Context, Output, Policy, Spec, Tool, ToolError};

/// What `init` does at its first attempt; later ones work.
#[derive(Clone, Copy)]
enum First {
    Works,
    Fails,
    Crashes,
    Sleeps,
    Blocks,
    Amends,
    AmendsWrongly,
}

struct Slow {
    first: First,
    attempts: Arc<AtomicUsize>,
}

impl Tool for Slow {
    type Args = serde_json::Map<String, Value>;
    type Data = ();

    fn spec(&self) -> Spec {
        spec("slow")
    }

    async fn init(&self, setting: &Setting) -> Result<Option<Amendment>, ToolError> {
        let attempt = self.attempts.fetch_add(1, Ordering::SeqCst);
        match self.first {
            _ if attempt > 0 => Ok(None),
            First::Works => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Ok(None)
            }
            First::Fails => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Err(ToolError::execution("the index is being built"))
            }
            First::Crashes => panic!("no index"),
            First::Sleeps => std::future::pending().await,
            First::Blocks => {
                std::thread::sleep(Duration::from_secs(4));
                Ok(None)
            }
            First::Amends => Ok(Some(Amendment {
                description: Some(format!("Works in {}.", setting.workspace.root())),
                input: Some(json!({"type": "object", "properties": {"agent": {"enum": ["scout"]}}})),
            })),
            First::AmendsWrongly => {
                Ok(Some(Amendment { input: Some(json!({"type": 5})), ..Amendment::default() }))
            }
        }
    }

    async fn call(&self, _: &Context, _: Self::Args) -> Result<Output<()>, ToolError> {
        Ok(Output::text("ready"))
    }
}

fn stage(first: First) -> (Stage, Arc<AtomicUsize>) {
    let attempts = Arc::new(AtomicUsize::new(0));
    (Stage::new().tool(Slow { first, attempts: attempts.clone() }), attempts)
}

async fn check(first: First, why: &str) {
    let (stage, attempts) = stage(first);
    let executor = stage.builder(Policy::default()).init_limit(Duration::from_millis(50)).build();
    let start = std::time::Instant::now();
    let outcome = executor.call(&stage.ctx().build(), "slow", json!({})).await;
    assert!(start.elapsed() < stretched(Duration::from_secs(3)), "{:?}", start.elapsed());
    assert_eq!(code(&outcome), "INIT_FAILED");
    assert_eq!(
        message(&outcome),
        format!("tool `slow` could not be made ready: {why}; the next call tries again")
    );
    let outcome = executor.call(&stage.ctx().build(), "slow", json!({})).await;
    assert_eq!((code(&outcome), attempts.load(Ordering::SeqCst)), ("ready", 2));
    stage.check(
        "requested slow · finished INIT_FAILED · \
         requested slow · initialized slow · allow · started 1 · finished",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_wrong_in_init_fails_the_call_and_the_next_one_tries_again() {
    check(First::Crashes, "no index").await;
    check(First::Sleeps, "it was not ready after 50 ms").await;
    check(First::Blocks, "it was not ready after 50 ms").await;
}

#[tokio::test(start_paused = true)]
async fn a_wrong_amendment_is_a_failed_init() {
    let (stage, _) = stage(First::AmendsWrongly);
    let outcome = stage.call("slow").await;
    assert_eq!(code(&outcome), "INIT_FAILED");
    assert!(message(&outcome).contains("the schema itself is not valid"), "{}", message(&outcome));
}

/// Fifty callers at once: the codes they got, in order of arrival, and the attempts at `init`.
async fn crowd(first: First) -> (Vec<String>, usize, usize) {
    let (stage, attempts) = stage(first);
    let (executor, ctx) = (stage.executor(), stage.ctx().build());
    let calls = (0..50).map(|_| executor.call(&ctx, "slow", json!({})));
    let outcomes = futures_util::future::join_all(calls).await;
    let told = stage.trace().iter().filter(|words| *words == "initialized slow").count();
    (outcomes.iter().map(|outcome| code(outcome).to_owned()).collect(), attempts.load(Ordering::SeqCst), told)
}

#[tokio::test(start_paused = true)]
async fn fifty_callers_share_one_init_and_its_failure() {
    assert_eq!(crowd(First::Works).await, (vec!["ready".to_owned(); 50], 1, 1));
    let start = tokio::time::Instant::now();
    assert_eq!(crowd(First::Fails).await, (vec!["INIT_FAILED".to_owned(); 50], 1, 0));
    assert_eq!(start.elapsed().as_millis(), 100, "nobody waits for the failures of others");
}

#[tokio::test(start_paused = true)]
async fn init_may_say_what_the_tool_is() {
    let (stage, _) = stage(First::Amends);
    let entry = stage.registry.get("slow").unwrap();
    assert_eq!(entry.prepared().unwrap().definition.description, "Does one thing for a test.");
    assert_eq!(code(&stage.call("slow").await), "ready");
    assert_eq!(entry.prepared().unwrap().definition.description, "Works in /workspace.");
    let outcome = stage.executor().call(&stage.ctx().build(), "slow", json!({"agent": "scuot"})).await;
    assert!(message(&outcome).ends_with("did you mean `scout`?"), "{}", message(&outcome));
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_gives_up_leaves_init_to_the_next_one() {
    let (stage, attempts) = stage(First::Sleeps);
    let token = CancellationToken::new();
    let impatient = stage.ctx().cancel(token.clone()).build();
    let (executor, patient) = (stage.executor(), stage.ctx().build());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        token.cancel();
    });
    let (first, second) = tokio::join!(
        executor.call(&impatient, "slow", json!({})),
        executor.call(&patient, "slow", json!({})),
    );
    assert_eq!((code(&first), code(&second)), ("CANCELLED", "ready"));
    assert_eq!(attempts.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn an_init_that_says_no_is_asked_again_at_the_next_call() {
    let (stage, attempts) = stage(First::Fails);
    let outcome = stage.call("slow").await;
    assert_eq!(code(&outcome), "INIT_FAILED");
    assert!(message(&outcome).contains("the index is being built"), "{}", message(&outcome));
    assert_eq!((code(&stage.call("slow").await), attempts.load(Ordering::SeqCst)), ("ready", 2));
    stage.check(
        "requested slow · finished INIT_FAILED · \
         requested slow · initialized slow · allow · started 1 · finished",
    );
}
