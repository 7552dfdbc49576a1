//! Known secrets leave by no door.

use crate::stage::{Stage, any, code, said, spec};
use serde_json::json;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::executor::Retry;
use toolpost_core::host::{Always, Redactor};
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_core::{Answer, Call, Capability, Context, Output, Policy, ToolError, dynamic};
use toolpost_disk::{SpillFolder, SpillLimits};

const SECRET: &str = "sk-0123456789abcdef";

fn guarded(stage: &Stage) -> toolpost_core::host::ContextBuilder {
    stage
        .ctx()
        .redactor(Redactor::new([("API_KEY", SECRET)]))
        .confirm(Arc::new(Always(Answer::Yes(toolpost_core::host::Scope::Once))))
}

/// Nothing of the outcome or the log has the secret; the outcome says that something was taken out.
#[track_caller]
fn check(stage: &Stage, outcome: &toolpost_core::Outcome) {
    let envelope = outcome.to_json().to_string();
    assert!(!envelope.contains(SECRET), "{envelope}");
    assert!(envelope.contains("[redacted:API_KEY]"), "{envelope}");
    for event in stage.log.events() {
        let event = serde_json::to_string(&event).unwrap();
        assert!(!event.contains(SECRET), "{event}");
    }
}

#[tokio::test]
async fn a_result_has_none_in_any_part() {
    let stage = Stage::new().tool(any(spec("leaky"), |ctx, _| async move {
        ctx.progress(format!("using {SECRET}"), json!({"key": [SECRET], SECRET: 1}));
        let attachment = Attachment {
            media_type: "text/plain".to_owned(),
            filename: format!("{SECRET}.txt"),
            content: AttachmentContent::Data(String::new()),
        };
        let data = json!({"nested": [{"key": SECRET}], SECRET: true});
        Ok(Output::new(format!("the {SECRET}"), format!("it is {SECRET}!"), data).attach(attachment))
    }));
    let outcome = stage.executor().call(&guarded(&stage).build(), "leaky", json!({"my": SECRET})).await;
    check(&stage, &outcome);
    let output = outcome.result.unwrap();
    assert_eq!(
        (output.title.as_str(), output.text.as_str()),
        ("the [redacted:API_KEY]", "it is [redacted:API_KEY]!")
    );
    assert_eq!(output.data, json!({"nested": [{"key": "[redacted:API_KEY]"}], "[redacted:API_KEY]": true}));
    assert_eq!(output.attachments[0].filename, "[redacted:API_KEY].txt");
    assert!(stage.trace().contains(&"progress using [redacted:API_KEY]".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_error_has_none_nor_the_attempts_before_it() {
    let stage = Stage::new()
        .tool(any(spec("failing").retryable(), |_, _| async {
            Err(ToolError::execution(format!("{SECRET} was refused")).with("key", SECRET).retryable())
        }))
        .tool(any(spec("crashing"), |_, _| async { panic!("{SECRET} is broken") }));
    let ctx = guarded(&stage).build();
    let retry = Retry { attempts: 2, delay: Duration::from_millis(1), backoff: 1.0 };
    check(&stage, &stage.executor().run(&ctx, Call::new("failing", json!({})).retry(retry)).await);
    check(&stage, &stage.executor().call(&ctx, "crashing", json!({})).await);
    check(&stage, &stage.executor().call(&ctx, SECRET, json!({})).await);
}

#[tokio::test]
async fn questions_and_repairs_have_none() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string", "x-toolpost-path": true},
        "list": {"type": "array"}
    }});
    let stage =
        Stage::new().tool(dynamic(spec("run").requires(Capability::Write), schema, |ctx, _| async move {
            ctx.confirm(&format!("send {SECRET}?")).await;
            said("done")
        }));
    let policy = Policy::profile(toolpost_core::policy::Profile::ReadOnly).ask(Capability::Write);
    let arguments = json!({"path": SECRET, "list": format!("[\"{SECRET}\"]")});
    let outcome = stage.builder(policy).build().call(&guarded(&stage).build(), "run", arguments).await;
    assert_eq!(code(&outcome), "done");
    assert_eq!(outcome.metadata.repairs.len(), 1);
    check(&stage, &outcome);
}

#[tokio::test]
async fn a_cut_text_and_the_whole_of_it_have_none() {
    let directory = tempfile::tempdir().unwrap();
    let spill = Arc::new(SpillFolder::new(directory.path(), SpillLimits::default()));
    // So many that every way to cut the text would cut one of them.
    let stage = Stage::new()
        .tool(any(spec("leaky"), |_, args| async move {
            said(SECRET.repeat(args["count"].as_u64().unwrap() as usize))
        }))
        .tool(any(spec("open"), |ctx: Context, args| async move {
            let mut text = String::new();
            ctx.open(&args["filePath"].as_str().unwrap().into())?.reader.read_to_string(&mut text).unwrap();
            Ok(Output::new("", "", json!(text.len())))
        }));
    let ctx = guarded(&stage).spill(spill).build();
    for count in [5_000, 50_000] {
        let outcome = stage.executor().call(&ctx, "leaky", json!({"count": count})).await;
        check(&stage, &outcome);
        assert!(
            !outcome.to_text().contains("sk-0") && !outcome.to_text().contains("cdef"),
            "not even half of one"
        );
        let total = (count * "[redacted:API_KEY]".len()) as u64;
        let cut = outcome.metadata.truncated.unwrap();
        assert_eq!((cut.total_bytes, cut.kept_bytes), (total, total));
        let opened = stage.executor().call(&ctx, "open", json!({"filePath": cut.handle})).await;
        assert_eq!(opened.result.unwrap().data, total);
    }
}
