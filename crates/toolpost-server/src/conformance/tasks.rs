//! The tools of the conformance suite that become tasks.

use super::asking::{asking, form};
use super::tools::{fixture, no_arguments, port, said};
use crate::client::TASKS;
use crate::port::Port;
use crate::rpc::RpcError;
use crate::tool::Escalation;
use serde_json::{Value, json};
use std::time::Duration;
use toolpost_core::{DynamicTool, ToolError};

pub(super) fn all() -> Vec<DynamicTool> {
    let seconds = json!({"type": "object", "properties": {
        "seconds": {"type": "number", "description": "How long."}, "label": {"type": "string", "description": "Any text."},
    }});
    vec![
        asking("greet", "name", |_, name| async move { said(&format!("Hello, {name}!")) }),
        fixture("slow_compute", seconds, |_, args: Value| async move {
            tokio::time::sleep(Duration::from_secs_f64(
                args["seconds"].as_f64().unwrap_or(0.0).clamp(0.0, 100.0),
            ))
            .await;
            said("computed")
        }),
        fixture("failing_job", no_arguments(), |_, _| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Err(ToolError::execution("this job always fails"))
        }),
        fixture("protocol_error_job", no_arguments(), |ctx, _| async move {
            // Not before it has become a task.
            tokio::time::sleep(Duration::from_millis(300)).await;
            port(&ctx)?.refuse(RpcError::internal("this job breaks the protocol"));
            said("")
        }),
        asking("confirm_delete", "filename", |port, name| async move {
            let question = form(&format!("Delete {name}?"), "confirm");
            let _ = port.ask("confirm", "elicitation/create", question).await;
            said(&format!("deleted {name}"))
        }),
        asking("multi_input", "", |port, _| async move {
            let one = ("first", "elicitation/create", form("First?", "value"));
            let two = ("second", "elicitation/create", form("Second?", "value"));
            let answers = port.ask_all(&[one, two]).await;
            said(&format!("{} answers", answers.iter().flatten().count()))
        }),
        asking("test_tool_with_task", "", |port, _| async move {
            let answer =
                port.ask("user_name", "elicitation/create", form("What is your name?", "name")).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            let name = answer.unwrap_or_default();
            said(&format!("Hello, {}!", name["content"]["name"].as_str().unwrap_or("nobody")))
        }),
    ]
}

/// Whether and when a fixture becomes a task; some make no sense otherwise.
pub(crate) fn escalation(tool: &str, port: &Port, is_followed: bool) -> Result<Escalation, RpcError> {
    match tool {
        "failing_job" | "test_tool_with_task" if !is_followed && port.client().is_modern() => {
            Err(RpcError::missing_extension(TASKS))
        }
        // Once its question is answered.
        "test_tool_with_task" if port.answers().is_empty() => Ok(Escalation::When(Duration::from_secs(5))),
        "slow_compute"
        | "failing_job"
        | "protocol_error_job"
        | "confirm_delete"
        | "multi_input"
        | "test_tool_with_task" => Ok(Escalation::When(Duration::ZERO)),
        _ => Ok(Escalation::Never),
    }
}
