//! Quick tools are polled in place: everything that holds for other tools holds for them.

use crate::stage::{Stage, any, code, message, said, spec};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_core::outcome::PlannedChange;
use toolpost_core::{Call, Code, Context, Output, ToolError, WorkspacePath};

/// A tool that says on which thread and in which task it runs.
fn place(spec: toolpost_core::Spec) -> toolpost_core::tool::DynamicTool {
    any(spec, |_, _| async { said(format!("{:?} {:?}", thread::current().id(), tokio::task::try_id())) })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quick_tool_runs_where_its_caller_does() {
    let stage = Stage::new().tool(place(spec("quick").quick())).tool(place(spec("other")));
    let executor = stage.executor();
    let called = tokio::spawn(async move {
        let ctx = Context::in_memory();
        let here = format!("{:?}", tokio::task::try_id());
        let mut said = Vec::new();
        for tool in ["quick", "other"] {
            said.push(executor.call(&ctx, tool, json!({})).await.to_text());
        }
        (here, said)
    });
    let (here, said) = called.await.unwrap();
    assert!(said[0].ends_with(&here), "{here}: {said:?}");
    assert!(!said[1].ends_with(&here), "{here}: {said:?}");
}

#[test]
fn a_quick_tool_runs_on_the_thread_of_block_on() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let stage = Stage::new().tool(place(spec("quick").quick()));
    let said = runtime.block_on(stage.call("quick")).to_text();
    assert_eq!(said, format!("{:?} None", thread::current().id()));
}

#[tokio::test]
async fn a_crash_is_a_failed_call_before_and_after_the_first_wait() {
    let crash = |waits: bool| {
        move |_: Context, _: Value| async move {
            if waits {
                tokio::task::yield_now().await;
            }
            panic!("no luck");
            #[allow(unreachable_code, reason = "the closure needs a result type")]
            said("")
        }
    };
    let stage = Stage::new()
        .tool(any(spec("at-once").quick(), crash(false)))
        .tool(any(spec("later").quick(), crash(true)))
        .tool(any(spec("outside").quick(), |_, args| {
            assert!(args.is_null(), "before there is a future");
            async { said("") }
        }));
    for tool in ["at-once", "later"] {
        let outcome = stage.call(tool).await;
        assert_eq!((code(&outcome), message(&outcome)), ("PANIC", &*format!("`{tool}` crashed: no luck")));
    }
    assert_eq!(message(&stage.call("outside").await), "`outside` crashed: before there is a future");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_a_quick_tool_that_waits() {
    let dropped = Arc::new(AtomicBool::new(false));
    let seen = dropped.clone();
    let stage = Stage::new().tool(any(
        spec("wait")
            .quick()
            .timeout(Duration::from_secs(5), Duration::from_secs(5))
            .grace(Duration::from_secs(2)),
        move |_, _| {
            let guard = SetOnDrop(seen.clone());
            async move {
                let _guard = guard;
                pending::<()>().await;
                said("never")
            }
        },
    ));
    let started = tokio::time::Instant::now();
    let outcome = stage.call("wait").await;
    assert_eq!(message(&outcome), "`wait` took longer than 5 s; ask for less, or for more time");
    assert_eq!(started.elapsed(), Duration::from_secs(7));
    assert!(dropped.load(Ordering::SeqCst), "nothing of it is left");
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_quick_tool_has_when_its_time_is_over_counts() {
    let short = |name| spec(name).quick().timeout(Duration::from_secs(1), Duration::from_secs(1));
    let stage = Stage::new()
        .tool(any(short("partial"), |ctx, _| async move {
            ctx.cancel().cancelled().await;
            said("half of it")
        }))
        .tool(any(short("knows"), |ctx, _| async move {
            ctx.cancel().cancelled().await;
            Err(ToolError::new(Code::Timeout, "out of time at line 7").with("line", 7))
        }))
        .tool(any(short("notices"), |ctx, _| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            ctx.checkpoint()?;
            said("")
        }));
    assert_eq!(stage.call("partial").await.to_text(), "half of it");
    assert_eq!(message(&stage.call("knows").await), "out of time at line 7");
    assert!(message(&stage.call("notices").await).starts_with("`notices` took longer than 1 s"));
}

#[tokio::test]
async fn a_quick_tool_is_cancelled_while_it_waits_and_when_it_cancels_itself() {
    let token = CancellationToken::new();
    let hand = token.clone();
    let stage = Stage::new()
        .tool(any(spec("wait").quick(), move |_, _| {
            let hand = hand.clone();
            async move {
                hand.cancel();
                pending::<()>().await;
                said("")
            }
        }))
        .tool(any(spec("done").quick(), |ctx, _| async move {
            ctx.cancel().cancel();
            said("done")
        }));
    let executor = stage.executor();
    assert_eq!(code(&executor.call(&stage.ctx().build(), "done", json!({})).await), "CANCELLED");
    let ctx = stage.ctx().cancel(token).build();
    assert_eq!(code(&executor.call(&ctx, "wait", json!({})).await), "CANCELLED");
    assert_eq!(code(&executor.call(&ctx, "done", json!({})).await), "CANCELLED", "before it starts");
}

#[tokio::test]
async fn what_a_quick_tool_leaves_behind_is_told_and_held_back() {
    let (sender, mut kept) = tokio::sync::mpsc::unbounded_channel();
    let stage = Stage::with_files("//- a.txt\none\n").tool(any(
        spec("leave").quick().requires(toolpost_core::Capability::Read),
        move |ctx, _| {
            sender.send(ctx).unwrap();
            async { said("gone") }
        },
    ));
    assert_eq!(stage.call("leave").await.to_text(), "gone");
    let ctx = kept.recv().await.unwrap();
    // Nobody had asked for the token before the call ended.
    assert!(ctx.cancel().is_cancelled());
    assert_eq!(ctx.checkpoint().unwrap_err().code(), Code::Cancelled);
    let error = ctx.read_text(&WorkspacePath::new("a.txt")).await.unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    let inner = ctx.call(Call::new("leave", json!({}))).await.unwrap();
    assert_eq!(code(&inner), "CANCELLED");
}

#[tokio::test]
async fn a_dropped_call_drops_a_quick_tool() {
    let dropped = Arc::new(AtomicBool::new(false));
    let seen = dropped.clone();
    let stage = Stage::new().tool(any(spec("wait").quick(), move |_, _| {
        let guard = SetOnDrop(seen.clone());
        async move {
            let _guard = guard;
            pending::<()>().await;
            said("")
        }
    }));
    let (executor, ctx) = (stage.executor(), stage.ctx().build());
    let call = executor.call(&ctx, "wait", json!({}));
    assert!(tokio::time::timeout(Duration::from_millis(1), call).await.is_err());
    assert!(dropped.load(Ordering::SeqCst));
    assert!(stage.trace().last().unwrap().ends_with("finished CANCELLED"), "{:?}", stage.trace());
}

#[tokio::test]
async fn quick_tools_are_retried_dry_run_nested_and_recorded() {
    let stage = Stage::new()
        .tool(any(spec("flaky").quick().retryable(), {
            let is_second = Arc::new(AtomicBool::new(false));
            move |_, _| {
                let is_second = is_second.swap(true, Ordering::SeqCst);
                async move {
                    if is_second {
                        return said("worked");
                    }
                    Err(ToolError::execution("not yet").retryable())
                }
            }
        }))
        .tool(any(spec("plan").quick(), |ctx, _| async move {
            let change = PlannedChange {
                path: "far".into(),
                kind: "create".into(),
                bytes_before: None,
                bytes_after: None,
            };
            ctx.would_change(change);
            Ok(Output::new("", format!("dry {}", ctx.is_dry_run()), Value::Null))
        }))
        .tool(any(spec("outer").quick(), |ctx, _| async move {
            let inner = ctx.call(Call::new("plan", json!({}))).await.unwrap();
            said(format!("{} at {}", inner.to_text(), ctx.call_depth()))
        }));
    let (executor, ctx) = (stage.executor(), stage.ctx().build());
    let retry = toolpost_core::executor::Retry { attempts: 2, delay: Duration::ZERO, backoff: 1.0 };
    let outcome = executor.run(&ctx, Call::new("flaky", json!({})).retry(retry)).await;
    assert_eq!((outcome.to_text().as_str(), outcome.metadata.attempts), ("worked", 2));
    let outcome = executor.run(&ctx, Call::new("plan", json!({})).dry_run()).await;
    assert_eq!(outcome.to_text(), "dry true");
    assert_eq!(outcome.metadata.dry_run.unwrap().changes[0].path, "far");
    assert_eq!(executor.call(&ctx, "outer", json!({})).await.to_text(), "dry false at 0");
    let stats = executor.stats();
    assert_eq!((stats.all.total, stats.tools["plan"].total), (4, 2));
    assert_eq!(executor.last_results("s").len(), 4);
}
