//! Guarantee 26: a bad server costs one call, bounded time and memory; the others, and our own tools, go on.

use crate::load::{slowness, stretched};
use crate::stage::{Setup, World, run, until};
use serde_json::json;
use std::time::{Duration, Instant};
use toolpost_core::{Call, Code, Policy, ToolError};
use toolpost_plugins::Server;

/// More than any of these may take, and what each may hold.
const MEMORY: u64 = 200 << 20;

/// A bad server beside a good one: what a call of the bad one says, within `limit`. Meanwhile and afterwards the good
/// one and the built-in tool answer at once, and nothing is left in the end.
fn check(mode: &str, tool: &str, limit: Duration, expected: impl FnOnce(Result<String, ToolError>)) {
    check_with(mode, |_| {}, tool, limit, expected);
}

fn check_with(
    mode: &str,
    change: impl FnOnce(&mut Server),
    tool: &str,
    limit: Duration,
    expected: impl FnOnce(Result<String, ToolError>),
) {
    run(async {
        let stretch = Stretch::now();
        let world = World::with(Setup::default(), |world| {
            let mut bad = world.server(mode);
            bad.name = "bad".to_owned();
            bad.start = Some(stretch.limit(Duration::from_secs(4)));
            bad.call = Some(stretch.limit(Duration::from_secs(2)));
            change(&mut bad);
            vec![bad, world.server("good")]
        });
        // Started beforehand, so that only the bad one's time is measured.
        assert_eq!(world.echo("good").await, "hello");
        let before = memory("VmRSS:");
        let began = Instant::now();
        let called = async {
            let outcome = world.call(&format!("bad/{tool}"), json!({})).await;
            (outcome, began.elapsed())
        };
        let meanwhile = async {
            let mut slowest = Duration::ZERO;
            for _ in 0..20 {
                let began = Instant::now();
                assert_eq!(world.echo("good").await, "hello");
                assert_eq!(world.text("ping", json!({})).await, "pong");
                slowest = slowest.max(began.elapsed());
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            slowest
        };
        let ((outcome, took), slowest) = tokio::join!(called, meanwhile);
        let grown = memory("VmHWM:").saturating_sub(before);
        println!(
            "measure: guarantee 26: {mode} {} ms, +{} MiB, others at most {} ms",
            took.as_millis(),
            grown >> 20,
            slowest.as_millis()
        );
        assert!(took < stretch.bar(limit), "{mode} took {took:?}");
        assert!(grown < MEMORY, "{mode} took {grown} bytes");
        assert!(slowest < stretch.bar(Duration::from_secs(2)), "{mode} held up others for {slowest:?}");
        expected(outcome.result.map(|output| output.text));
        assert_eq!(world.echo("good").await, "hello");
        assert_eq!(world.text("ping", json!({})).await, "pong");
        world.end().await;
    });
}

/// Memory of this process, in bytes: `VmRSS` now, `VmHWM` at most so far.
fn memory(which: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(which)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn says(result: Result<String, ToolError>, code: Code, words: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    for word in words {
        assert!(error.message().contains(word), "{word:?} in {error}");
    }
}

#[test]
fn guarantee_26_one_that_never_answers() {
    let limit = |server: &mut Server| server.start = Some(Duration::from_secs(4));
    check_with("never-answers", limit, "echo", Duration::from_secs(6), |result| {
        says(result, Code::InitFailed, &["`bad` (test.json:1) did not start", "not ready after 4 s"]);
    });
}

#[test]
fn guarantee_26_one_that_dies_at_its_start() {
    check("dies-at-start", "echo", Duration::from_secs(4), |result| {
        let words = [
            "ended with exit code 2",
            "standard error begins:\nError: the API key is missing\n  set API_KEY",
        ];
        says(result, Code::InitFailed, &words);
    });
    check("noise-then-dies", "echo", Duration::from_secs(4), |result| {
        let words = ["exit code 1", "a line that is not a message: `Server listening on port 3000`"];
        says(result, Code::InitFailed, &words);
    });
    let no_program = |server: &mut Server| {
        let toolpost_plugins::Reach::Stdio { command, .. } = &mut server.reach else { panic!("a program") };
        *command = "no-such-program".to_owned();
    };
    check_with("good", no_program, "echo", Duration::from_secs(4), |result| {
        says(result, Code::InitFailed, &["`no-such-program` cannot be run: No such file"]);
    });
}

#[test]
fn guarantee_26_one_that_dies_in_a_call() {
    check("dies-in-call", "echo", Duration::from_secs(4), |result| {
        says(
            result,
            Code::ExecutionError,
            &["lost during the call: it ended with exit code 3", "Segmentation fault"],
        );
    });
}

#[test]
fn guarantee_26_one_that_hangs_in_a_call() {
    // The limit that its message names.
    let limit = |server: &mut Server| server.call = Some(Duration::from_secs(2));
    check_with("hangs-in-call", limit, "echo", Duration::from_secs(5), |result| {
        says(result, Code::Timeout, &["took longer than 2 s"]);
    });
}

#[test]
fn guarantee_26_one_that_floods() {
    check("floods", "echo", Duration::from_secs(4), |result| {
        says(result, Code::ExecutionError, &["it floods its output"]);
    });
    check("floods-line", "echo", Duration::from_secs(4), |result| {
        says(result, Code::ExecutionError, &["a line of more than 16 MiB"]);
    });
    check("bloats", "echo", Duration::from_secs(4), |result| {
        says(result, Code::ExecutionError, &["more than a million parts"]);
    });
    check("floods-stderr", "echo", Duration::from_secs(4), |result| assert_eq!(result.unwrap(), "nothing"));
}

#[test]
fn guarantee_26_one_that_answers_twice() {
    check("twice", "echo", Duration::from_secs(4), |result| assert_eq!(result.unwrap(), "first"));
}

#[test]
fn guarantee_26_one_that_answers_to_somebody_else() {
    check("wrong-id", "echo", Duration::from_secs(4), |result| assert_eq!(result.unwrap(), "nothing"));
}

#[test]
fn guarantee_26_one_that_writes_garbage() {
    check("garbage", "echo", Duration::from_secs(4), |result| assert_eq!(result.unwrap(), "nothing"));
}

#[test]
fn guarantee_26_one_with_a_huge_or_broken_schema() {
    for (mode, tool, why) in [
        ("huge-schema", "huge", "its schema has"),
        ("bad-schema", "broken", "the schema itself is not valid"),
    ] {
        check(mode, "echo", Duration::from_secs(6), |result| assert_eq!(result.unwrap(), "nothing"));
        run(async {
            let world = World::new(&[mode]);
            assert!(world.registry.sources()[0].all_ready().await.is_empty());
            assert!(!world.registry.has(&format!("mcp__{mode}__{tool}")));
            let notes = world.plugins.as_ref().unwrap().notes();
            assert!(
                notes.iter().any(|note| note.contains(&format!("tool `{tool}` is left out: {why}"))),
                "{notes:?}"
            );
            world.end().await;
        });
    }
}

#[test]
fn guarantee_26_one_with_a_thousand_tools() {
    check("many", "tool_0777", Duration::from_secs(6), |result| {
        assert_eq!(result.unwrap(), "called tool_0777")
    });
}

#[test]
fn guarantee_26_one_with_a_slow_or_endless_list() {
    check("slow-list", "echo", Duration::from_secs(6), |result| assert_eq!(result.unwrap(), "nothing"));
    check("circles", "echo", Duration::from_secs(4), |result| {
        says(result, Code::InitFailed, &["goes round in circles"]);
    });
    check("future", "echo", Duration::from_secs(4), |result| {
        says(result, Code::InitFailed, &["revision `3000-01-01`"]);
    });
}

#[test]
fn guarantee_26_one_that_changes_its_tools() {
    check("changes", "change", Duration::from_secs(4), |result| assert_eq!(result.unwrap(), "changed"));
    run(async {
        let world = World::new(&["changes"]);
        world.text("changes/change", json!({})).await;
        until("the list is taken", || world.registry.has("mcp__changes__new")).await;
        let gone = world.call("changes/change", json!({})).await.result.unwrap_err();
        assert_eq!(gone.code(), Code::ToolNotFound, "{gone}");
        world.end().await;
    });
}

#[test]
fn guarantee_26_one_that_lies_about_its_tools() {
    run(async {
        let setup = Setup { policy: Policy::default(), ..Setup::default() };
        let world = World::with(setup, |world| vec![world.server("liar")]);
        let refused = world.call("liar/harmless", json!({})).await.result;
        says(
            refused.map(|output| output.text),
            Code::PermissionDenied,
            &["needs exec, network", "the policy must allow exec, network"],
        );
        assert!(!world.state().exists(), "its word has opened nothing");
        world.end().await;
    });
}

#[test]
fn guarantee_26_the_next_call_starts_a_lost_server_again() {
    run(async {
        let world = World::new(&["dies-in-call"]);
        let call = || async { world.call("dies-in-call/echo", json!({})).await.result.unwrap_err() };
        for _ in 0..2 {
            let lost = call().await;
            assert_eq!(lost.code(), Code::ExecutionError, "{lost}");
        }
        // From now on it is left alone for a while, and a call costs nothing.
        let began = Instant::now();
        let resting = call().await;
        assert!(began.elapsed() < stretched(Duration::from_millis(200)), "{:?}", began.elapsed());
        assert_eq!(resting.code(), Code::InitFailed, "{resting}");
        assert!(resting.message().contains("tried again in"), "{resting}");
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        assert_eq!(call().await.code(), Code::ExecutionError);
        world.end().await;
    });
}

#[test]
fn guarantee_26_a_server_that_gives_no_sign_of_life_is_ended() {
    run(async {
        let world = World::new(&["hangs-in-call"]);
        let call = Call::new("hangs-in-call/echo", json!({})).timeout(Duration::from_millis(800));
        let outcome = world.executor.run(&world.context, call).await;
        assert_eq!(outcome.result.unwrap_err().code(), Code::Timeout);
        until("it is ended", || world.processes().is_empty()).await;
        world.end().await;
    });
}

#[test]
fn guarantee_26_slow_servers_start_side_by_side() {
    run(async {
        let world = World::with(Setup::default(), |world| {
            ["a", "b", "c"].map(|name| Server { name: name.to_owned(), ..world.server("slow-list") }).into()
        });
        let began = Instant::now();
        world.plugins.as_ref().unwrap().start();
        assert_eq!(world.text("ping", json!({})).await, "pong");
        assert!(began.elapsed() < stretched(Duration::from_millis(300)), "{:?}", began.elapsed());
        world.registry.sources()[0].all_ready().await;
        let took = began.elapsed();
        assert!(took > Duration::from_secs(3) && took < stretched(Duration::from_secs(8)), "{took:?}");
        world.end().await;
    });
}

#[test]
fn guarantee_26_a_call_that_is_given_up_while_its_server_starts_ends_at_once() {
    run(async {
        let world = World::new(&["slow-list"]);
        let cancel = world.context.cancel().clone();
        let began = Instant::now();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            cancel.cancel();
        });
        let outcome = world.call("slow-list/echo", json!({})).await;
        assert_eq!(outcome.result.unwrap_err().code(), Code::Cancelled);
        assert!(began.elapsed() < stretched(Duration::from_secs(1)), "{:?}", began.elapsed());
        world.end().await;
    });
}

/// A measure that is taken when something begins, and holds if the machine is quieter at its end.
#[derive(Clone, Copy)]
struct Stretch(f64);

impl Stretch {
    fn now() -> Stretch {
        Stretch(slowness())
    }

    /// The bar for what began then and ends now.
    fn bar(self, bar: Duration) -> Duration {
        bar.mul_f64(self.0.max(slowness()))
    }

    /// The bar as it was when it began: for a limit that is given to the product.
    fn limit(self, limit: Duration) -> Duration {
        limit.mul_f64(self.0)
    }
}
