//! The code of `docs/guide/testing.md`, which shows parts of this file to the letter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolpost_core::host::FakeClock;
use toolpost_core::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Text file to look at.
    file: WorkspacePath,
    /// Counts words instead of letters.
    #[serde(default)]
    words: bool,
}

#[derive(Serialize, JsonSchema, Debug, PartialEq)]
struct Data {
    count: usize,
}

struct Count;

impl Tool for Count {
    type Args = Args;
    type Data = Data;
    fn spec(&self) -> Spec {
        Spec::new("count", "1.0.0", "Counts the letters or words of a file.").requires(Capability::Read)
    }
    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let text = ctx.read_text(&args.file).await?;
        let count = if args.words { text.split_whitespace().count() } else { text.chars().count() };
        Ok(Output::data(Data { count }))
    }
}

fn session(files: &str) -> Context {
    let tools = Arc::new(Registry::new());
    tools.register(Count).expect("a name and a schema that are valid");
    Context::builder(Arc::new(Memory::from_fixture(files))).tools(tools).build()
}

#[tokio::test]
async fn it_counts() {
    let session = session("//- notes.txt\none two\n");
    let outcome = Executor::new().call(&session, "count", json!({"file": "notes.txt", "words": true})).await;
    assert_eq!(outcome.to_text(), r#"{"count":2}"#);
}

#[tokio::test]
async fn it_says_what_was_wrong() {
    let session = session("//- notes.txt\none two\n");
    for (arguments, code, words) in [
        (json!({"file": "note.txt"}), Code::FileNotFound, "notes.txt"),
        (json!({"file": "notes.txt", "word": true}), Code::ValidationError, "did you mean `words`?"),
        (json!({"file": "../notes.txt"}), Code::PathEscape, "leads out of the workspace"),
    ] {
        let error = Executor::new().call(&session, "count", arguments).await.result.expect_err("refused");
        assert_eq!(error.code(), code);
        assert!(error.message().contains(words), "{error}");
    }
}

#[tokio::test]
async fn its_work_alone() -> Result<(), ToolError> {
    let ctx = Context::builder(Arc::new(Memory::from_fixture("//- a\none two\n"))).build();
    let output = Count.call(&ctx, Args { file: WorkspacePath::new("a"), words: false }).await?;
    assert_eq!(output.data, Data { count: 8 });
    Ok(())
}

#[tokio::test]
async fn it_reads_only_what_the_policy_lets_it() -> Result<(), ToolError> {
    let session = session("//- secret/plan.txt\none two\n");
    let closed = session.with_policy(Policy::read_only().deny("read: /secret")?);
    let outcome = Executor::new().call(&closed, "count", json!({"file": "secret/plan.txt"})).await;
    assert_eq!(outcome.result.expect_err("denied").code(), Code::PermissionDenied);
    Ok(())
}

#[tokio::test]
async fn a_person_is_asked_first() -> Result<(), ToolError> {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let questions = asked.clone();
    let session = session("//- notes.txt\none two\n")
        .rebuild()
        .policy(Policy::read_only().ask_rule("read: *.txt")?)
        .confirm_with(move |question| {
            questions.lock().expect("no test has crashed").push(question.text);
            async { Answer::Yes(Scope::Once) }
        })
        .build();
    let outcome = Executor::new().call(&session, "count", json!({"file": "notes.txt"})).await;
    assert!(outcome.is_success());
    assert_eq!(asked.lock().expect("no test has crashed").len(), 1);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_ended() {
    let limit = Duration::from_secs(60);
    let spec = Spec::new("hang", "1.0.0", "Never ends.").timeout(limit, limit);
    let tools = Arc::new(Registry::new());
    let hang = dynamic(spec, json!({"type": "object"}), |_, _| std::future::pending());
    tools.register(hang).expect("a name and a schema that are valid");
    let session = Context::in_memory().with_tools(tools);
    let outcome = Executor::new().call(&session, "hang", json!({})).await;
    assert_eq!(outcome.result.expect_err("too late").code(), Code::Timeout);
}

#[tokio::test]
async fn events_and_their_times() {
    let clock = Arc::new(FakeClock::at(1_700_000_000_000));
    let seen: Arc<Mutex<Vec<u64>>> = Arc::default();
    let times = seen.clone();
    let session = session("//- notes.txt\none two\n")
        .rebuild()
        .clock(clock.clone())
        .on_event(move |event| {
            if let EventKind::CallFinished { .. } = event.kind {
                times.lock().expect("no test has crashed").push(event.at_ms);
            }
        })
        .build();
    for _ in 0..2 {
        Executor::new().call(&session, "count", json!({"file": "notes.txt"})).await;
        clock.advance(Duration::from_secs(30));
    }
    assert_eq!(*seen.lock().expect("no test has crashed"), [1_700_000_000_000, 1_700_000_030_000]);
}
