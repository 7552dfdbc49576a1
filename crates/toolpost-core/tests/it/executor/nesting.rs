//! Tools that call tools.

use crate::stage::{Stage, any, code, echo, message, said, spec};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Barrier;
use toolpost_core::Call;
use toolpost_core::event::EventKind;

#[tokio::test]
async fn a_call_inside_a_call_knows_its_parent() {
    let stage = Stage::new().tool(echo("inner")).tool(any(spec("outer"), |ctx, _| async move {
        let inner = ctx.call(Call::new("inner", json!({}))).await.unwrap();
        said(format!("{} {}", ctx.call_depth(), code(&inner)))
    }));
    let outcome = stage.call("outer").await;
    assert_eq!(code(&outcome), "0 inner");
    let parents: Vec<Option<String>> = stage
        .log
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::CallRequested { parent, .. } => Some(parent),
            _ => None,
        })
        .collect();
    assert_eq!(parents, [None, Some(outcome.call_id)]);
    stage.check(
        "requested outer · initialized outer · allow · started 1 · \
         requested inner inside · initialized inner · allow · started 1 · finished · finished",
    );
}

#[tokio::test]
async fn calls_that_call_themselves_end_at_the_depth_limit() {
    let stage = Stage::new().tool(any(spec("again"), |ctx, _| async move {
        let inner = ctx.call(Call::new("again", json!({}))).await.unwrap();
        said(if inner.is_success() {
            inner.to_text()
        } else {
            format!("{}: {}", code(&inner), message(&inner))
        })
    }));
    let outcome = stage.call("again").await;
    assert_eq!(code(&outcome), "DEPTH_EXCEEDED: calls are nested deeper than 8; call `again` directly");
    assert_eq!(stage.trace().iter().filter(|words| *words == "started 1").count(), 9);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_call_ends_the_calls_inside() {
    let second = Duration::from_secs(1);
    let stage = Stage::new()
        .tool(any(spec("inner").timeout(9 * second, 9 * second), |ctx, _| async move {
            assert_eq!(ctx.time_left(), Some(Duration::from_secs(1)), "no more than the parent has");
            std::future::pending().await
        }))
        .tool(any(spec("outer").timeout(second, second), |ctx, _| async move {
            said(ctx.call(Call::new("inner", json!({}))).await.unwrap().to_text())
        }));
    let outcome = stage.call("outer").await;
    assert_eq!(code(&outcome), "TIMEOUT");
    stage.check(
        "requested outer · initialized outer · allow · started 1 · \
         requested inner inside · initialized inner · allow · started 1 · finished CANCELLED · finished TIMEOUT",
    );
}

fn meeting(name: &str, barrier: &Arc<Barrier>, is_safe: bool) -> toolpost_core::tool::DynamicTool {
    let barrier = barrier.clone();
    let spec = if is_safe { spec(name).parallel_safe() } else { spec(name) };
    any(spec, move |_, args| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            said(args["n"].to_string())
        }
    })
}

#[tokio::test(start_paused = true)]
async fn calls_of_parallel_safe_tools_run_side_by_side_with_results_in_order() {
    let stage = Stage::new().tool(meeting("meet", &Arc::new(Barrier::new(5)), true));
    let calls = (0..5).map(|n| Call::new("meet", json!({"n": n}))).collect();
    let outcomes = stage.executor().call_all(&stage.ctx().build(), calls).await;
    assert_eq!(outcomes.iter().map(code).collect::<Vec<_>>(), ["0", "1", "2", "3", "4"]);
}

#[tokio::test(start_paused = true)]
async fn other_tools_run_one_after_another_beside_them() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, seen) = (now.clone(), most.clone());
    let alone = any(spec("alone"), move |_, args: Value| {
        let (running, seen) = (running.clone(), seen.clone());
        async move {
            seen.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            said(args["n"].to_string())
        }
    });
    let stage = Stage::new().tool(alone).tool(meeting("meet", &Arc::new(Barrier::new(2)), true));
    let start = tokio::time::Instant::now();
    let names = ["alone", "meet", "alone", "nobody", "meet", "alone"];
    let calls = names.iter().enumerate().map(|(n, name)| Call::new(*name, json!({"n": n}))).collect();
    let outcomes = stage.executor().call_all(&stage.ctx().build(), calls).await;
    assert_eq!(outcomes.iter().map(code).collect::<Vec<_>>(), ["0", "1", "2", "TOOL_NOT_FOUND", "4", "5"]);
    assert_eq!((most.load(Ordering::SeqCst), start.elapsed().as_secs()), (1, 3));
    assert_eq!(now.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_tool_alone_has_nobody_to_call() {
    let ctx = toolpost_core::Context::in_memory();
    assert!(ctx.call(Call::new("x", json!({}))).await.is_none());
    assert!(ctx.call_all(Vec::new()).await.is_none());
}
