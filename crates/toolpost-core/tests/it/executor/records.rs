//! What is remembered of calls: sinks, last results, statistics.

use crate::stage::{Stage, any, code, echo, said, spec};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolpost_core::dialect::Alias;
use toolpost_core::event::EventSink;
use toolpost_core::host::{BoxFuture, Clock};
use toolpost_core::{Code, Event, Executor, Policy, ToolError};

/// A clock that only goes on when it is told to.
#[derive(Default)]
struct Hands(AtomicU64);

impl Clock for Hands {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.now_ms())
    }
}

#[tokio::test]
async fn every_outcome_is_handed_to_every_sink() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    let stage = Stage::new().tool(echo("fine"));
    let executor = stage
        .builder(Policy::default())
        .on_result(|_| panic!("a bad sink"))
        .on_result(move |outcome| kept.lock().unwrap().push(code(outcome).to_owned()))
        .build();
    let ctx = stage.ctx().build();
    executor.call(&ctx, "fine", json!({})).await;
    executor.call(&ctx, "fien", json!({})).await;
    assert_eq!(*seen.lock().unwrap(), ["fine", "TOOL_NOT_FOUND"]);
    stage.check(
        "requested fine · initialized fine · allow · started 1 · finished · \
         warning a result sink crashed after `fine` · \
         requested fien · finished TOOL_NOT_FOUND · warning a result sink crashed after `fien`",
    );
}

#[tokio::test]
async fn the_last_results_of_a_session_are_kept_within_bounds() {
    let stage = Stage::new().tool(any(spec("count"), |_, args| async move {
        Ok(toolpost_core::Output::new(
            "",
            args["n"].to_string(),
            json!("x".repeat(args["size"].as_u64().unwrap_or(0) as usize)),
        ))
    }));
    let executor = stage.executor();
    let texts = |session: &str| -> Vec<String> {
        executor.last_results(session).iter().map(|outcome| outcome.to_text()).collect()
    };
    let ctx = stage.ctx().build();
    for n in 0..20 {
        executor.call(&ctx, "count", json!({"n": n})).await;
    }
    assert_eq!(texts("s"), (4..20).map(|n| n.to_string()).collect::<Vec<_>>());
    for n in 20..24 {
        executor.call(&ctx, "count", json!({"n": n, "size": 3 << 20})).await;
    }
    assert_eq!(texts("s"), ["22", "23"], "large ones push out more");
    for n in 0..80 {
        executor.call(&stage.ctx().session(format!("other {n}")).build(), "count", json!({"n": n})).await;
        if n % 20 == 0 {
            executor.call(&ctx, "count", json!({"n": "still here"})).await;
        }
    }
    assert_eq!((texts("other 0").len(), texts("other 79").len()), (0, 1));
    assert!(!texts("s").is_empty(), "a session in use is not forgotten");
}

#[tokio::test]
async fn statistics_count_calls_and_their_time_by_tool() {
    let hands = Arc::new(Hands::default());
    let turned = hands.clone();
    let stage = Stage::new().tool(echo("quick")).tool(any(spec("slow"), move |_, args| {
        turned.0.fetch_add(args["ms"].as_u64().unwrap(), Ordering::SeqCst);
        async move {
            match args["fails"].is_null() {
                true => said("done"),
                false => Err(ToolError::execution("no")),
            }
        }
    }));
    stage.registry.add_alias(Alias::new("sluggish", "slow")).unwrap();
    let (executor, ctx) = (stage.executor(), stage.ctx().clock(hands).build());
    for (tool, args) in [
        ("slow", json!({"ms": 10})),
        ("sluggish", json!({"ms": 30})),
        ("slow", json!({"ms": 80, "fails": true})),
        ("quick", json!({})),
        ("unheard-of", json!({})),
    ] {
        executor.call(&ctx, tool, args).await;
    }
    let stats = executor.stats();
    assert_eq!((stats.all.total, stats.all.success, stats.all.error), (5, 3, 2));
    assert_eq!(stats.tools.keys().collect::<Vec<_>>(), ["quick", "slow"]);
    let slow = stats.tools["slow"];
    assert_eq!((slow.total, slow.success, slow.error), (3, 2, 1));
    assert!((slow.average_ms - 40.0).abs() < 1e-9, "{}", slow.average_ms);
    for (found, exact) in [(slow.p50_ms, 30.0), (slow.p95_ms, 80.0), (slow.p99_ms, 80.0)] {
        assert!((found - exact).abs() / exact <= 1.0 / 16.0, "{found} for {exact}");
    }
}

/// A log that says when it was asked to make its events durable, or that it cannot.
struct Durable {
    commits: AtomicU64,
    is_full: bool,
    is_overloaded: bool,
}

impl EventSink for Durable {
    fn record(&self, _: &Arc<Event>) {}

    fn is_overloaded(&self) -> bool {
        self.is_overloaded
    }

    fn commit(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        let result = match self.is_full {
            true => Err(ToolError::new(Code::WriteError, "the disk is full")),
            false => Ok(()),
        };
        Box::pin(std::future::ready(result))
    }
}

#[tokio::test]
async fn the_start_of_a_call_is_durable_before_it_runs_and_its_end_before_its_result_unless_it_is_idempotent()
{
    let stage =
        Stage::new().tool(echo("once")).tool(any(spec("again").idempotent(), |_, _| async { said("again") }));
    for (tool, is_full, expected, commits) in
        [("once", false, "once", 2), ("again", false, "again", 0), ("once", true, "WRITE_ERROR", 1)]
    {
        let log = Arc::new(Durable { commits: AtomicU64::new(0), is_full, is_overloaded: false });
        let ctx = stage.ctx().events(log.clone()).build();
        let outcome = stage.executor().call(&ctx, tool, json!({})).await;
        assert_eq!((code(&outcome), log.commits.load(Ordering::SeqCst)), (expected, commits));
    }
}

#[tokio::test]
async fn a_call_waits_for_a_log_that_has_too_much_to_write() {
    let stage = Stage::new().tool(any(spec("again").idempotent(), |_, _| async { said("again") }));
    for is_overloaded in [false, true] {
        let log = Arc::new(Durable { commits: AtomicU64::new(0), is_full: false, is_overloaded });
        let ctx = stage.ctx().events(log.clone()).build();
        let outcome = stage.executor().call(&ctx, "again", json!({})).await;
        assert_eq!(code(&outcome), "again");
        assert_eq!(log.commits.load(Ordering::SeqCst), u64::from(is_overloaded));
    }
}

#[tokio::test]
async fn a_host_with_a_log_keeps_no_results() {
    let stage = Stage::new().tool(echo("once"));
    let ctx = stage.ctx().build();
    for (executor, kept) in [(Executor::new(), 1), (Executor::builder().without_last_results().build(), 0)] {
        executor.call(&ctx, "once", json!({})).await;
        assert_eq!(executor.last_results(ctx.session()).len(), kept);
        assert_eq!(executor.stats().all.total, 1);
    }
}
