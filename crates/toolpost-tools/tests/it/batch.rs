//! `batch`: order, shares, failures within, limits, dry runs, and the end of all children.

use super::{call, code, data, executor, memory, numbers, one_file, run, shown};
use crate::fixed::Fixed as Executor;
use crate::load::stretched;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use toolpost_core::event::{EventKind, MemoryLog};
use toolpost_core::policy::Profile;
use toolpost_core::{Call, Context, Event, Memory, Policy};

const FIXTURE: &str = "//- a.txt\none\n//- b.txt\ntwo\n//- src/c.rs\n";

fn check(calls: Value, expected: &str) {
    assert_eq!(shown(&call(&memory(FIXTURE), "batch", json!({"calls": calls}))), expected);
}

#[test]
fn results_come_in_order_failures_and_aliases_among_them() {
    check(
        json!([
            {"tool": "sleep", "args": {"ms": 60}},
            {"tool": "read", "args": {"filePath": "a.txt"}},
            {"tool": "read", "args": {"filePath": "none.txt"}},
            {"tool": "raed", "args": {}},
            {"tool": "read_file", "args": {"path": "b.txt", "offset": "0"}},
            {"tool": "panics"},
            {"tool": "list", "args": {"path": "src"}},
            {"tool": "read", "args": {"filePath": true}},
        ]),
        "\
## 1. sleep: ok
slept

## 2. read: ok
1: one

## 3. read: failed
Error: no file `none.txt`; list its folder to see what is there

## 4. raed: failed
Error: no tool `raed`; nearest: `read`

## 5. read: ok
1: two
(note: `read_file` is called `read` here; `offset`: \"0\" was read as offset=1, since it counts from 0)

## 6. panics: failed
Error: `panics` crashed: as it does

## 7. list: ok
src/
  c.rs

## 8. read: failed
Error: the arguments of `read` do not fit: `filePath`: expected a string, got true",
    );
}

#[test]
fn data_counts_and_holds_every_envelope() {
    let outcome = call(
        &memory(FIXTURE),
        "batch",
        json!({"calls": [{"tool": "read_file", "args": {"path": "a.txt"}}, {"tool": "nope"}]}),
    );
    let output = outcome.result.as_ref().unwrap();
    assert_eq!(output.title, "1 of 2 calls worked");
    assert_eq!((&output.data["succeeded"], &output.data["failed"]), (&json!(1), &json!(1)));
    let [one, two] = output.data["results"].as_array().unwrap().as_slice() else { panic!("{output:?}") };
    assert_eq!(
        (&one["tool"], &one["output"], &one["data"]["lines"]),
        (&json!("read"), &json!("1: one\n"), &json!(1))
    );
    assert_eq!(one["metadata"]["repairs"][0]["path"], "tool");
    assert_eq!((&two["success"], &two["error"]["code"]), (&json!(false), &json!("TOOL_NOT_FOUND")));
}

#[test]
fn a_batch_takes_one_to_twenty_five_calls_and_no_batch() {
    let many =
        |count: usize| json!({"calls": vec![json!({"tool": "read", "args": {"filePath": "a.txt"}}); count]});
    assert_eq!(data(&call(&memory(FIXTURE), "batch", many(25)))["succeeded"], 25);
    for (args, part) in [
        (many(26), "`calls`: expected at most 25 items"),
        (many(0), "`calls`: expected at least 1 items"),
        (json!({}), "`calls`"),
        (
            json!({"calls": [{"tool": "x".repeat(6_000_000)}]}),
            "`calls[0].tool`: expected at most 128 characters",
        ),
        (json!({"calls": [{"tool": "read", "arguments": {}}]}), "`calls[0].arguments`"),
    ] {
        let outcome = call(&memory(FIXTURE), "batch", args);
        assert_eq!(code(&outcome), "VALIDATION_ERROR");
        let shown = outcome.to_json().to_string();
        assert!(shown.contains(part) && shown.len() < 10_000, "{part}: {}", &shown[..shown.len().min(1_000)]);
    }
    let nested = json!({"calls": [{"tool": "read"}, {"tool": "batch", "args": many(1)}]});
    let outcome = call(&memory(FIXTURE), "batch", nested);
    assert_eq!(shown(&outcome), "DEPTH_EXCEEDED: `calls[1]` is a batch itself; put its calls into this one");
}

#[test]
fn calls_run_side_by_side() {
    let start = Instant::now();
    let outcome =
        call(&memory(""), "batch", json!({"calls": vec![json!({"tool": "sleep", "args": {"ms": 400}}); 25]}));
    assert_eq!(data(&outcome)["succeeded"], 25);
    assert!(start.elapsed() < stretched(Duration::from_secs(8)), "{:?}", start.elapsed());
}

#[test]
fn long_results_share_the_room_that_short_ones_leave() {
    let ctx = one_file("long.txt", numbers(200_000).as_bytes());
    let long = json!({"tool": "read", "args": {"filePath": "long.txt", "limit": 100_000}});
    let alone = call(&ctx, "read", long["args"].clone());
    let outcome = call(&ctx, "batch", json!({"calls": [long, {"tool": "sleep", "args": {"ms": 1}}]}));
    assert!(shown(&outcome).contains(shown(&alone).trim_end()), "one long result fits whole");
    assert!(outcome.metadata.truncated.is_none());

    let outcome = call(&ctx, "batch", json!({"calls": vec![long; 25]}));
    let text = shown(&outcome);
    assert!(outcome.metadata.truncated.is_none() && text.len() <= 100_000, "{}", text.len());
    assert_eq!(text.matches(" bytes left out; make this call alone]").count(), 25);
    assert_eq!(text.matches("\n1: 1\n2: 2\n").count(), 25);
    assert!(outcome.to_json().to_string().len() < 1 << 20, "the data is bounded like the text");
}

#[test]
fn attachments_are_passed_on_once() {
    let outcome = call(
        &memory(""),
        "batch",
        json!({"calls": [{"tool": "picture", "args": {"name": "a.png"}}, {"tool": "picture", "args": {"name": "b.png"}}]}),
    );
    let output = outcome.result.as_ref().unwrap();
    let names: Vec<_> = output.attachments.iter().map(|one| one.filename.as_str()).collect();
    assert_eq!(names, ["a.png", "b.png"]);
    assert_eq!(
        output.data["results"][1]["attachments"],
        json!([{"mediaType": "image/png", "filename": "b.png"}])
    );
    assert_eq!(outcome.to_json().to_string().matches("cGl4ZWxz").count(), 2);
}

#[test]
fn what_a_dry_batch_calls_is_dry() {
    let files = Arc::new(Memory::from_fixture(FIXTURE));
    let ctx = Context::builder(files.clone()).build();
    let calls = || json!({"calls": [{"tool": "put", "args": {"path": "new.txt"}}, {"tool": "read", "args": {"filePath": "a.txt"}}]});
    let outcome = run(executor().run(&ctx, Call::new("batch", calls()).dry_run()));
    assert_eq!(data(&outcome)["succeeded"], 2, "{}", shown(&outcome));
    let planned = &data(&outcome)["results"][0]["metadata"]["dryRun"]["changes"][0];
    assert_eq!((&planned["path"], &planned["kind"]), (&json!("new.txt"), &json!("create")));
    assert_eq!(files.text("new.txt"), None);
    assert_eq!(data(&call(&ctx, "batch", calls()))["succeeded"], 2);
    assert_eq!(files.text("new.txt").as_deref(), Some("put"));
}

#[test]
fn each_call_is_judged_by_itself() {
    let calls = json!({"calls": [{"tool": "put", "args": {"path": "x"}}, {"tool": "read", "args": {"filePath": "a.txt"}}]});
    let read_only = Executor::new(executor().registry().clone(), Policy::profile(Profile::ReadOnly));
    let outcome = run(read_only.call(&memory(FIXTURE), "batch", calls));
    let results = &data(&outcome)["results"];
    assert_eq!(
        (&results[0]["error"]["code"], &results[1]["success"]),
        (&json!("PERMISSION_DENIED"), &json!(true))
    );
}

#[test]
fn cancelling_a_batch_ends_its_children() {
    for _ in 0..20 {
        let (cancel, log) = (CancellationToken::new(), Arc::new(MemoryLog::default()));
        let ctx =
            Context::builder(Arc::new(Memory::new())).cancel(cancel.clone()).events(log.clone()).build();
        let calls = json!({"calls": vec![json!({"tool": "sleep"}); 5]});
        let (outcome, took) = run(async {
            let executor = executor();
            let running = executor.call(&ctx, "batch", calls);
            tokio::pin!(running);
            let is_sleeping =
                |event: &Event| matches!(&event.kind, EventKind::CallStarted { tool, .. } if tool == "sleep");
            while log.events().iter().filter(|event| is_sleeping(event)).count() < 5 {
                assert!(tokio::time::timeout(Duration::from_millis(5), &mut running).await.is_err());
            }
            let start = Instant::now();
            cancel.cancel();
            (running.await, start.elapsed())
        });
        assert_eq!(code(&outcome), "CANCELLED", "a batch that was given up did not work");
        assert!(took < stretched(Duration::from_secs(2)), "{took:?}");
        let woken =
            log.events().iter().filter(|event| matches!(event.kind, EventKind::Progress { .. })).count();
        assert_eq!(woken, 5, "every child was told");
    }
}

#[test]
fn a_batch_out_of_time_hands_over_what_it_has() {
    let ctx = memory(FIXTURE);
    let calls = json!({"calls": [{"tool": "read", "args": {"filePath": "a.txt"}}, {"tool": "sleep"}]});
    let outcome = run(executor().run(&ctx, Call::new("batch", calls).timeout(Duration::from_millis(300))));
    assert!(
        shown(&outcome).starts_with("## 1. read: ok\n1: one\n\n## 2. sleep: failed\n"),
        "{}",
        shown(&outcome)
    );
}

#[test]
fn nobody_is_told_that_it_changes_nothing() {
    let registry = toolpost_core::Registry::new();
    let services = toolpost_core::host::Services::default();
    toolpost_tools::register_default(&registry, &services, &toolpost_tools::Settings::default()).unwrap();
    let snapshot = registry.snapshot();
    let source = |tool: &str| {
        let found = snapshot.find(tool, &toolpost_core::Dialect::canonical()).unwrap();
        let source = toolpost_declaration::Source::of(&found.entry.prepared().unwrap().definition);
        (source.read_only, source.destructive, source.open_world)
    };
    assert_eq!((source("batch"), source("read")), ((false, true, true), (true, false, false)));
}
