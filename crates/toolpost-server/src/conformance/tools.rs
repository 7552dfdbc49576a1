//! The tools of the conformance suite that ask nothing of their client.

use super::{PNG, Reach, WAV};
use crate::port::Port;
use serde_json::{Value, json};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;
use toolpost_core::{Context, DynamicTool, Output, Registry, Spec, ToolError, dynamic};

/// The tool that comes and goes.
const CHANGING: &str = "test_changing_tool";

pub(super) fn all(registry: &Arc<Registry>, prompts: &watch::Sender<u64>) -> Vec<DynamicTool> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let resource = |uri: &str, kind: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}});
    let mixed =
        resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
    let embedded =
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.");
    let (changing, prompts) = (Arc::downgrade(registry), prompts.clone());
    vec![
        fixed("test_simple_text", vec![text("This is a simple text response for testing.")]),
        fixed("test_image_content", vec![image.clone()]),
        fixed("test_audio_content", vec![json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]),
        fixed("test_embedded_resource", vec![embedded]),
        fixed("test_multiple_content_types", vec![text("Multiple content types test:"), image, mixed]),
        fixture("test_error_handling", no_arguments(), |_, _| async {
            Err(ToolError::execution("This tool intentionally returns an error for testing"))
        }),
        fixture("test_tool_with_progress", no_arguments(), |ctx, _| async move {
            for progress in [0, 50, 100] {
                ctx.progress(format!("{progress} of 100"), json!({"progress": progress, "total": 100}));
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            said("Tool with progress completed")
        }),
        fixture("test_tool_with_logging", no_arguments(), |ctx, _| logged(ctx)),
        fixture("test_logging_tool", no_arguments(), |ctx, _| logged(ctx)),
        fixture("test_trigger_tool_change", no_arguments(), move |_, _| {
            let changed = toggle(&changing);
            async move { changed.and_then(|()| said("The list of tools has changed")) }
        }),
        fixture("test_trigger_prompt_change", no_arguments(), move |_, _| {
            prompts.send_modify(|generation| *generation += 1);
            async { said("The list of prompts has changed") }
        }),
    ]
}

async fn logged(ctx: Context) -> Result<Output<Value>, ToolError> {
    let port = port(&ctx)?;
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        port.log(message);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    said("Tool with logging completed")
}

fn toggle(registry: &Weak<Registry>) -> Result<(), ToolError> {
    let Some(registry) = registry.upgrade() else { return Ok(()) };
    // As one change, or it would be told twice.
    registry.change(|draft| match draft.unregister(CHANGING) {
        Some(_) => Ok(()),
        None => {
            draft.register(Arc::new(fixed(CHANGING, vec![json!({"type": "text", "text": "I am here."})])))
        }
    })
}

/// A tool that always answers the same.
fn fixed(name: &str, blocks: Vec<Value>) -> DynamicTool {
    fixture(name, no_arguments(), move |ctx, _| {
        let blocks = blocks.clone();
        async move {
            port(&ctx)?.put_content(blocks);
            said("")
        }
    })
}

pub(super) fn fixture<F, R>(name: &str, schema: Value, function: F) -> DynamicTool
where
    F: Fn(Context, Value) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output<Value>, ToolError>> + Send + 'static,
{
    dynamic(Spec::new(name, "1.0.0", "A fixture of the conformance suite.").parallel_safe(), schema, function)
}

pub(super) fn no_arguments() -> Value {
    json!({"type": "object", "properties": {}})
}

pub(super) fn said(text: &str) -> Result<Output<Value>, ToolError> {
    Ok(Output::new("", text, Value::Null))
}

pub(super) fn port(ctx: &Context) -> Result<Arc<Port>, ToolError> {
    let reach = ctx.extra().get::<Reach>();
    reach.map(|reach| Arc::clone(&reach.0)).ok_or_else(|| ToolError::execution("there is no client here"))
}
