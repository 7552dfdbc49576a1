//! The prompts of the conformance suite.

use super::PNG;
use crate::port::Port;
use crate::rpc::RpcError;
use serde_json::{Value, json};

/// All prompts; one of them comes and goes.
pub(super) fn all(generation: u64) -> Vec<Value> {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|argument| json!({"name": argument, "description": "Any text.", "required": true}))
            .collect();
        json!({"name": name, "description": "A fixture of the conformance suite.", "arguments": arguments})
    };
    let mut all = vec![
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", &[]),
    ];
    if generation % 2 == 1 {
        all.push(prompt("test_changing_prompt", &[]));
    }
    all
}

pub(super) async fn get(port: &Port, name: &str, arguments: &Value) -> Result<Value, RpcError> {
    let argument = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_str)
            .ok_or_else(|| RpcError::params(format!("this prompt needs `{name}`")))
    };
    let says = |text: String| json!({"role": "user", "content": {"type": "text", "text": text}});
    let messages = match name {
        "test_simple_prompt" | "test_changing_prompt" => {
            vec![says("This is a simple prompt for testing.".to_owned())]
        }
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1")?, argument("arg2")?);
            vec![says(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let text = "Embedded resource content for testing.";
            let resource = json!({"uri": argument("resourceUri")?, "mimeType": "text/plain", "text": text});
            vec![
                json!({"role": "user", "content": {"type": "resource", "resource": resource}}),
                says("Please process the embedded resource above.".to_owned()),
            ]
        }
        "test_prompt_with_image" => vec![
            json!({"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}}),
            says("Please analyze the image above.".to_owned()),
        ],
        "test_input_required_result_prompt" => {
            let form = super::asking::form("What context should the prompt use?", "context");
            let answer = port.ask("user_context", "elicitation/create", form).await.unwrap_or_default();
            let context = answer["content"]["context"].as_str().unwrap_or("none");
            vec![says(format!("Prompt with context: {context}"))]
        }
        _ => {
            let shown: String = name.chars().take(80).collect();
            return Err(RpcError::params(format!("there is no prompt `{shown}`; prompts/list has all")));
        }
    };
    Ok(json!({"description": "A fixture of the conformance suite.", "messages": messages}))
}
