//! The tools of the conformance suite that ask something of their client.

use super::tools::{fixture, no_arguments, port, said};
use crate::port::Port;
use crate::rpc::RpcError;
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::{DynamicTool, Output, ToolError};

pub(super) fn all() -> Vec<DynamicTool> {
    vec![
        asking("test_sampling", "prompt", |port, prompt| async move {
            if !port.client().can("sampling") {
                return Err(ToolError::execution("this client does no sampling"));
            }
            let answer = port.ask("sampled", "sampling/createMessage", message(&prompt)).await;
            let text = answer.unwrap_or_default();
            said(&format!("LLM response: {}", text["content"]["text"].as_str().unwrap_or("none")))
        }),
        asking("test_elicitation", "message", |port, message| async move {
            let text = |description: &str| json!({"type": "string", "description": description});
            let properties =
                json!({"username": text("User's response"), "email": text("User's email address")});
            let schema =
                json!({"type": "object", "properties": properties, "required": ["username", "email"]});
            elicited(&port, "User response", &message, schema).await
        }),
        asking("test_elicitation_sep1034_defaults", "", |port, _| async move {
            let schema = json!({"type": "object", "properties": {
                "name": {"type": "string", "description": "User name", "default": "John Doe"},
                "age": {"type": "integer", "description": "User age", "default": 30},
                "score": {"type": "number", "description": "User score", "default": 95.5},
                "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                "verified": {"type": "boolean", "description": "Verification status", "default": true},
            }, "required": []});
            elicited(&port, "Elicitation completed", "Please look at the defaults", schema).await
        }),
        asking("test_elicitation_sep1330_enums", "", |port, _| async move {
            let titled = |values: &[(&str, &str)]| -> Vec<Value> {
                values.iter().map(|(value, title)| json!({"const": value, "title": title})).collect()
            };
            let options = ["option1", "option2", "option3"];
            let single = titled(&[
                ("value1", "First Option"),
                ("value2", "Second Option"),
                ("value3", "Third Option"),
            ]);
            let multi = titled(&[
                ("value1", "First Choice"),
                ("value2", "Second Choice"),
                ("value3", "Third Choice"),
            ]);
            let legacy = json!({
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            });
            let schema = json!({"type": "object", "properties": {
                "untitledSingle": {"type": "string", "enum": options},
                "titledSingle": {"type": "string", "oneOf": single},
                "legacyEnum": legacy,
                "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
                "titledMulti": {"type": "array", "items": {"anyOf": multi}},
            }, "required": []});
            elicited(&port, "Elicitation completed", "Please choose", schema).await
        }),
        asking("test_missing_capability", "", |port, _| async move {
            if !port.client().can("sampling") {
                port.refuse(RpcError::missing_capability("sampling"));
            }
            said("This client does sampling")
        }),
        asking("test_streaming_elicitation", "", |port, _| async move {
            let answer =
                port.ask("user_name", "elicitation/create", form("What is your name?", "name")).await;
            said(&format!("Hello, {}!", field(&answer, "name")))
        }),
        asking("test_input_required_result_elicitation", "", |port, _| async move {
            let answer =
                port.ask("user_name", "elicitation/create", form("What is your name?", "name")).await;
            said(&format!("Hello, {}!", field(&answer, "name")))
        }),
        asking("test_input_required_result_sampling", "", |port, _| async move {
            let params = message("What is the capital of France?");
            let answer = port.ask("capital_question", "sampling/createMessage", params).await;
            said(answer.unwrap_or_default()["content"]["text"].as_str().unwrap_or("none"))
        }),
        asking("test_input_required_result_list_roots", "", |port, _| async move {
            let answer = port.ask("client_roots", "roots/list", json!({})).await.unwrap_or_default();
            said(&format!("Roots: {}", answer["roots"]))
        }),
        asking("test_input_required_result_request_state", "", |port, _| async move {
            let _ = port.ask("confirm", "elicitation/create", agreement()).await;
            said("state-ok")
        }),
        asking("test_input_required_result_tampered_state", "", |port, _| async move {
            let _ = port.ask("confirm", "elicitation/create", agreement()).await;
            said("state-ok")
        }),
        asking("test_input_required_result_multiple_inputs", "", |port, _| async move {
            let answers = port
                .ask_all(&[
                    ("user_name", "elicitation/create", form("What is your name?", "name")),
                    ("greeting", "sampling/createMessage", message("Generate a greeting")),
                    ("client_roots", "roots/list", json!({})),
                ])
                .await;
            said(&format!("{} answers", answers.iter().flatten().count()))
        }),
        asking("test_input_required_result_multi_round", "", |port, _| async move {
            let name =
                port.ask("step1", "elicitation/create", form("Step 1: What is your name?", "name")).await;
            let color = port
                .ask("step2", "elicitation/create", form("Step 2: What is your favorite color?", "color"))
                .await;
            said(&format!("{} likes {}", field(&name, "name"), field(&color, "color")))
        }),
        asking("test_input_required_result_capabilities", "", |port, _| async move {
            let mut requests = Vec::new();
            if port.client().can_fill_forms() {
                requests.push(("user_name", "elicitation/create", form("What is your name?", "name")));
            }
            if port.client().can("sampling") {
                requests.push(("greeting", "sampling/createMessage", message("Generate a greeting")));
            }
            let answers = port.ask_all(&requests).await;
            said(&format!("{} answers", answers.iter().flatten().count()))
        }),
    ]
}

/// A tool with at most one argument, which is a text.
pub(super) fn asking<F, R>(name: &str, argument: &'static str, function: F) -> DynamicTool
where
    F: Fn(Arc<Port>, String) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Output<Value>, ToolError>> + Send + 'static,
{
    let schema = match argument {
        "" => no_arguments(),
        name => json!({
            "type": "object", "properties": {name: {"type": "string", "description": "Any text."}}, "required": [name],
        }),
    };
    let function = Arc::new(function);
    fixture(name, schema, move |ctx, args| {
        let function = Arc::clone(&function);
        async move { function(port(&ctx)?, args[argument].as_str().unwrap_or_default().to_owned()).await }
    })
}

/// A form with one text in it.
pub(super) fn form(question: &str, name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    json!({"mode": "form", "message": question, "requestedSchema": schema})
}

fn agreement() -> Value {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    json!({"mode": "form", "message": "Please confirm", "requestedSchema": schema})
}

fn message(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}], "maxTokens": 100})
}

fn field(answer: &Option<Value>, name: &str) -> String {
    let content = answer.as_ref().map(|answer| &answer["content"][name]);
    content.and_then(Value::as_str).unwrap_or("nobody").to_owned()
}

async fn elicited(port: &Port, what: &str, message: &str, schema: Value) -> Result<Output<Value>, ToolError> {
    if !port.client().can_fill_forms() {
        return Err(ToolError::execution("this client shows no forms"));
    }
    let params = json!({"message": message, "requestedSchema": schema});
    let answer = port.ask("form", "elicitation/create", params).await.unwrap_or_default();
    said(&format!(
        "{what}: action={}, content={}",
        answer["action"].as_str().unwrap_or("none"),
        answer["content"]
    ))
}
