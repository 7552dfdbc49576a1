//! The wire formats of the providers, as far as a model needs them: which tools are offered, and a reply that is a text or
//! one tool call, whole or as a stream of events.

use serde_json::{Value, json};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini `generateContent`.
    Gemini,
}

/// A tool that a request offers.
pub(super) struct Offered {
    /// The name by which it is called.
    name: String,
    /// The group of tools that it belongs to, where calls name one.
    namespace: Option<String>,
    /// The schema of its arguments.
    schema: Value,
}

impl Offered {
    /// The arguments with all that the schema requires, as a model gives them: some hosts require every argument.
    pub(super) fn complete(&self, arguments: &Value) -> Value {
        let mut complete = arguments.clone();
        for name in self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if complete.get(name).is_none() {
                let property = &self.schema["properties"][name];
                let forms = property["anyOf"].as_array().into_iter().flatten();
                let takes_null = forms.map(|form| &form["type"]).any(|kind| kind == "null");
                complete[name] = match (property.get("default"), property["type"].as_str()) {
                    (Some(value), _) => value.clone(),
                    _ if takes_null => Value::Null,
                    (None, Some("boolean")) => json!(false),
                    (None, Some("integer" | "number")) => json!(1_000),
                    (None, Some("array")) => json!([]),
                    (None, _) => json!(""),
                };
            }
        }
        complete
    }

    /// Whether it is this tool of the host's own.
    pub(super) fn is_host_tool(&self, name: &str) -> bool {
        self.namespace.is_none() && self.name == name
    }

    /// Whether it is our tool of this name.
    pub(super) fn is(&self, tool: &str, naming: Naming) -> bool {
        match (&self.namespace, naming) {
            (None, Naming::Bare) => self.name == tool,
            (Some(_), Naming::Bare) => false,
            (Some(namespace), Naming::Prefixed) => namespace.contains("toolpost") && self.name == tool,
            (None, Naming::Prefixed) => {
                let server = self.name.strip_suffix(tool).unwrap_or_default();
                server.contains("toolpost") && server.ends_with(['_', '-'])
            }
        }
    }
}

/// How a host names the tools of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// As the server does.
    Bare,
    /// With the server's name before that, because it has tools of its own: `mcp__toolpost__read`.
    Prefixed,
}

/// What the model says.
pub(super) enum Reply<'a> {
    Text(&'a str),
    Call { number: usize, offered: &'a Offered, arguments: Value },
}

impl Wire {
    /// The format that is spoken at this address.
    pub(super) fn of(target: &str) -> Option<Wire> {
        let path = target.split('?').next().unwrap_or_default();
        match path {
            _ if path.ends_with("/messages") => Some(Wire::Messages),
            _ if path.ends_with("/responses") => Some(Wire::Responses),
            _ if path.ends_with("/chat/completions") => Some(Wire::Chat),
            _ if path.to_ascii_lowercase().ends_with("generatecontent") => Some(Wire::Gemini),
            _ => None,
        }
    }

    /// The tools that a request offers.
    pub(super) fn tools(self, request: &Value) -> Vec<Offered> {
        let offered = |tool: &Value, namespace: Option<&str>| {
            let schemas = ["input_schema", "parameters", "parametersJsonSchema"];
            Some(Offered {
                name: tool["name"].as_str()?.to_owned(),
                namespace: namespace.map(str::to_owned),
                schema: schemas.iter().find_map(|key| tool.get(key)).cloned().unwrap_or_default(),
            })
        };
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let all = list(&request["tools"]);
        match self {
            Wire::Messages => all.iter().filter_map(|tool| offered(tool, None)).collect(),
            Wire::Chat => all.iter().filter_map(|tool| offered(&tool["function"], None)).collect(),
            Wire::Gemini => all
                .iter()
                .flat_map(|tool| list(&tool["functionDeclarations"]))
                .filter_map(|tool| offered(&tool, None))
                .collect(),
            Wire::Responses => all
                .iter()
                .flat_map(|tool| match tool["type"].as_str() {
                    Some("namespace") => {
                        let namespace = tool["name"].as_str();
                        list(&tool["tools"]).iter().filter_map(|one| offered(one, namespace)).collect()
                    }
                    Some("function") => offered(tool, None).into_iter().collect(),
                    _ => Vec::new(),
                })
                .collect(),
        }
    }

    /// The reply, and its media type.
    pub(super) fn reply(self, target: &str, request: &Value, reply: &Reply) -> (&'static str, String) {
        let is_stream = request["stream"] == true || target.contains("streamGenerateContent");
        let events = match (self, is_stream) {
            (Wire::Messages, true) => messages_events(reply),
            (Wire::Responses, true) => responses_events(reply),
            (Wire::Chat, true) => chat_events(reply),
            (Wire::Gemini, true) => vec![gemini(reply)],
            (Wire::Messages, false) => return whole(&messages(reply)),
            (Wire::Responses, false) => return whole(&responses(reply)),
            (Wire::Chat, false) => return whole(&chat(reply)),
            (Wire::Gemini, false) => return whole(&gemini(reply)),
        };
        let mut text = String::new();
        for event in &events {
            if let Some(kind) = event["type"].as_str() {
                text.push_str(&format!("event: {kind}\n"));
            }
            text.push_str(&format!("data: {event}\n\n"));
        }
        if self == Wire::Chat {
            text.push_str("data: [DONE]\n\n");
        }
        ("text/event-stream", text)
    }
}

fn whole(value: &Value) -> (&'static str, String) {
    ("application/json", value.to_string())
}

fn messages(reply: &Reply) -> Value {
    let (block, reason) = match reply {
        Reply::Text(text) => (json!({"type": "text", "text": text}), "end_turn"),
        Reply::Call { number, offered, arguments } => {
            let id = format!("toolu_{number}");
            (json!({"type": "tool_use", "id": id, "name": offered.name, "input": arguments}), "tool_use")
        }
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "played", "content": [block],
        "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

fn messages_events(reply: &Reply) -> Vec<Value> {
    let mut message = messages(reply);
    let mut block = message["content"][0].take();
    let reason = message["stop_reason"].take();
    message["content"] = json!([]);
    let delta = match reply {
        Reply::Text(text) => {
            block["text"] = "".into();
            json!({"type": "text_delta", "text": text})
        }
        Reply::Call { arguments, .. } => {
            block["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()})
        }
    };
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ]
}

fn responses(reply: &Reply) -> Value {
    let item = match reply {
        Reply::Text(text) => json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Reply::Call { number, offered, arguments } => {
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
                "name": offered.name, "arguments": arguments.to_string(), "status": "completed",
            });
            if let Some(namespace) = &offered.namespace {
                item["namespace"] = namespace.as_str().into();
            }
            item
        }
    };
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "played", "output": [item],
        "parallel_tool_calls": false, "tool_choice": "auto", "tools": [], "error": null, "incomplete_details": null,
        "instructions": null, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
        "usage": {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
        },
    })
}

fn responses_events(reply: &Reply) -> Vec<Value> {
    let response = responses(reply);
    let item = response["output"][0].clone();
    let mut begun = response.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    vec![
        json!({"type": "response.created", "sequence_number": 0, "response": begun}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item}),
        json!({"type": "response.completed", "sequence_number": 3, "response": response}),
    ]
}

fn chat_message(reply: &Reply) -> (Value, &'static str) {
    match reply {
        Reply::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Reply::Call { number, offered, arguments } => {
            let function = json!({"name": offered.name, "arguments": arguments.to_string()});
            let call =
                json!({"index": 0, "id": format!("call_{number}"), "type": "function", "function": function});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    }
}

fn chat(reply: &Reply) -> Value {
    let (message, reason) = chat_message(reply);
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "played",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    })
}

fn chat_events(reply: &Reply) -> Vec<Value> {
    let (delta, reason) = chat_message(reply);
    let chunk = |choice: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "played", "choices": [choice]});
    let mut last = chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}));
    last["usage"] = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    vec![chunk(json!({"index": 0, "delta": delta, "finish_reason": null})), last]
}

fn gemini(reply: &Reply) -> Value {
    let part = match reply {
        Reply::Text(text) => json!({"text": text}),
        Reply::Call { offered, arguments, .. } => {
            json!({"functionCall": {"name": offered.name, "args": arguments}})
        }
    };
    json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "played",
    })
}
