//! Whole conversations with an independent server, in every wire format: `@copilotkit/aimock`, from npm.

use super::transport::{asked, remote};
use crate::aimock_server;
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_agent::model::{Format, Remote};
use toolpost_core::Spec;
use toolpost_core::model::{
    Arguments, Delta, Finish, Message, ModelErrorKind, Part, Request, Role, ToolResult,
};
use toolpost_core::tool::Definition;

/// Each format, its base URL, and its name in the fixtures.
fn formats(url: &str) -> [(Format, String, &'static str); 5] {
    [
        (Format::Gemini, format!("{url}/v1beta"), "gemini"),
        (Format::Anthropic, format!("{url}/v1"), "anthropic"),
        (Format::OpenaiResponses, format!("{url}/v1"), "responses"),
        (Format::OpenaiChat, format!("{url}/v1"), "chat"),
        (Format::Ollama, format!("{url}/api"), "ollama"),
    ]
}

fn request(messages: &[Message]) -> Request {
    let input = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let spec = Spec::new("get_weather", "1.0.0", "Weather of a city.");
    let tools = Arc::from(vec![Definition { spec, input, output: None }]);
    Request { system: "Answer briefly.".into(), messages: messages.to_vec(), tools, ..Request::default() }
}

/// Talks until the model needs nothing more. The cities that were asked for, the last text, and the number of retries.
async fn talk(model: &Remote, question: &str) -> (Vec<String>, String, usize) {
    let mut messages = vec![Message::user(question)];
    let (mut cities, mut retries) = (Vec::new(), 0);
    for _ in 0..6 {
        let (deltas, response) = asked(model, request(&messages), CancellationToken::new()).await;
        let response = response.unwrap_or_else(|error| panic!("{question}: {error:?}"));
        retries += deltas.iter().filter(|delta| matches!(delta, Delta::Retry { .. })).count();
        let results: Vec<Part> = response
            .tool_calls()
            .map(|call| {
                let Arguments::Json(arguments) = &call.arguments else { panic!("{call:?}") };
                cities.push(arguments["city"].as_str().unwrap().to_owned());
                let (id, name, text) = (call.id.clone(), call.name.clone(), "{\"degrees\":7}".to_owned());
                Part::ToolResult(ToolResult {
                    id,
                    name,
                    text,
                    attachments: vec![],
                    is_error: false,
                    code: None,
                    data: json!(null),
                })
            })
            .collect();
        if results.is_empty() {
            assert_eq!(response.finish, Finish::Stop, "{question}: {response:?}");
            return (cities, response.text(), retries);
        }
        assert_eq!(response.finish, Finish::ToolCalls, "{question}: {response:?}");
        if question != "three cities" {
            return (cities, String::new(), retries);
        }
        messages.push(Message { role: Role::Assistant, parts: response.parts });
        messages.push(Message { role: Role::User, parts: results });
    }
    panic!("{question} never ends");
}

#[tokio::test]
async fn conversations_end_right_in_every_format() {
    let mock = aimock_server::start("models", include_str!("../../data/aimock.mjs"));
    for (format, url, name) in formats(&mock.url) {
        let model = remote(format, &url, 3, "test-key-123");
        let expected = vec!["Paris".to_owned(), "Zürich".into(), "東京".into()];
        assert_eq!(
            talk(&model, "three cities").await,
            (expected, "Paris 7°, Zürich 3°, 東京 12°.".into(), 0),
            "{name}"
        );
        for fault in ["limited", "overloaded"] {
            let found = talk(&model, &format!("{fault} {name}")).await;
            assert_eq!(found, (vec!["Oslo".to_owned()], String::new(), 1), "{fault} {name}");
        }
        for fault in ["cut", "hung"] {
            let found = talk(&model, &format!("{fault} {name}")).await;
            assert_eq!(found, (Vec::new(), "All of it.".to_owned(), 1), "{fault} {name}");
        }
        let messages = [Message::user("always broken")];
        let (deltas, response) = asked(&model, request(&messages), CancellationToken::new()).await;
        let error = response.unwrap_err();
        assert_eq!(
            (deltas.len(), error.kind, error.status),
            (2, ModelErrorKind::Server, Some(503)),
            "{name}"
        );
    }
}
