//! Time-outs and crashes.

use crate::stage::{Stage, any, code, echo, message, said, spec};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use toolpost_core::{Call, Capability, Code, ToolError};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_tool_that_sleeps_past_its_time_is_ended() {
    let stage = Stage::new().tool(any(spec("sleepy").timeout(2 * SECOND, 5 * SECOND), |_, _| async {
        tokio::time::sleep(3600 * SECOND).await;
        said("late")
    }));
    let start = tokio::time::Instant::now();
    let outcome = stage.call("sleepy").await;
    assert_eq!(message(&outcome), "`sleepy` took longer than 2 s; ask for less, or for more time");
    assert_eq!(start.elapsed().as_millis(), 2250, "its time, and the grace to hand something over");
    assert_eq!(outcome.exit_status(), 4);
    stage.check("requested sleepy · initialized sleepy · allow · started 1 · finished TIMEOUT");
}

#[tokio::test(start_paused = true)]
async fn a_caller_may_ask_for_less_time_and_for_no_more_than_the_tool_allows() {
    let stage = Stage::new().tool(any(spec("sleepy").timeout(2 * SECOND, 5 * SECOND), |ctx, _| async move {
        let left = ctx.time_left().unwrap();
        ctx.cancel().cancelled().await;
        said(left.as_millis().to_string())
    }));
    for (asked, given) in [(1_500, "1500"), (4_000, "4000"), (60_000, "5000"), (0, "0")] {
        let call = Call::new("sleepy", json!({})).timeout(Duration::from_millis(asked));
        let outcome = stage.executor().run(&stage.ctx().build(), call).await;
        assert_eq!(outcome.to_text(), given, "what it has at its deadline still counts");
    }
    let stage = Stage::new().tool(any(spec("endless").timeout(Duration::MAX, Duration::MAX), |_, _| async {
        tokio::time::sleep(SECOND).await;
        said("done")
    }));
    assert_eq!(code(&stage.call("endless").await), "done");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_its_token_is_dropped() {
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let flag = gone.clone();
    let stage = Stage::new().tool(any(spec("deaf").timeout(SECOND, SECOND), move |_, _| {
        let gone = Gone(flag.clone());
        async move {
            let _gone = gone;
            loop {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }));
    assert_eq!(code(&stage.call("deaf").await), "TIMEOUT");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(gone.load(Ordering::SeqCst), "its future is gone");
    stage.check("requested deaf · initialized deaf · allow · started 1 · finished TIMEOUT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_does_not_keep_its_caller_and_can_do_no_more() {
    let late = Arc::new(std::sync::Mutex::new(None));
    let kept = late.clone();
    let spec = spec("stuck").timeout(Duration::from_millis(50), SECOND).grace(Duration::from_millis(10));
    let stage = Stage::new().tool(any(spec.requires(Capability::Write), move |ctx, _| {
        let kept = kept.clone();
        async move {
            std::thread::sleep(Duration::from_secs(2));
            ctx.progress("still here", json!(null));
            let write = ctx.workspace().write(&"a".into(), b"late");
            *kept.lock().unwrap() = Some(write.map_err(|error| error.code()));
            said("late")
        }
    }));
    assert_eq!(code(&stage.call("stuck").await), "TIMEOUT");
    assert!(late.lock().unwrap().is_none(), "the caller waited for it");
    while late.lock().unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(*late.lock().unwrap(), Some(Err(Code::Cancelled)));
    assert_eq!(stage.memory.text("a"), None, "nothing is written after the end");
    stage.check("requested stuck · initialized stuck · allow · started 1 · finished TIMEOUT");
}

#[tokio::test]
async fn a_crash_is_a_failed_call_and_the_next_one_works() {
    let stage = Stage::new().tool(echo("fine")).tool(any(spec("crashing"), |_, args| async move {
        let part = args["part"].as_str().unwrap_or("engine");
        panic!("the {part} is on fire");
    }));
    let outcome = stage.call("crashing").await;
    assert_eq!((code(&outcome), message(&outcome)), ("PANIC", "`crashing` crashed: the engine is on fire"));
    assert_eq!(code(&stage.call("fine").await), "fine");
    assert_eq!(code(&stage.call("crashing").await), "PANIC");
    stage.check(
        "requested crashing · initialized crashing · allow · started 1 · finished PANIC · \
         requested fine · initialized fine · allow · started 1 · finished · \
         requested crashing · allow · started 1 · finished PANIC",
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_out_of_time_can_say_how_far_it_came() {
    let stage = Stage::new().tool(any(spec("partial").timeout(SECOND, SECOND), |ctx, _| async move {
        ctx.cancel().cancelled().await;
        let error = ctx.checkpoint().unwrap_err();
        Err(ToolError::new(error.code(), "stopped after 3 of 9 files").with("done", 3))
    }));
    let outcome = stage.call("partial").await;
    assert_eq!((code(&outcome), message(&outcome)), ("TIMEOUT", "stopped after 3 of 9 files"));
    assert_eq!(outcome.result.unwrap_err().details()["done"], 3);
}
