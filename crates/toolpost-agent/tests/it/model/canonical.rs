//! What a request means, whatever format it is written in: read from a wire body, and turned into a request of ours.

use serde_json::{Map, Value, json};
use std::sync::Arc;
use toolpost_agent::model::Format;
use toolpost_core::Spec;
use toolpost_core::model::{
    Arguments, Message, Opaque, Part, Request, Role, ToolCall, ToolChoice, ToolResult,
};
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_core::tool::Definition;

/// The meaning of a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Canonical {
    pub(crate) system: String,
    pub(crate) turns: Vec<(Side, Vec<Item>)>,
    /// Name, description, and schema without what differs between providers.
    pub(crate) tools: Vec<(String, String, Value)>,
    pub(crate) choice: Value,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) search: bool,
    pub(crate) schema: Value,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Side {
    User,
    Model,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    Text(String, Option<String>),
    File(String, String),
    Thinking(String, Option<String>),
    /// Id, name, arguments, signature.
    Call(String, String, Value, Option<String>),
    /// Id, text, whether it is an error, images.
    Result(String, String, bool, Vec<(String, String)>),
}

/// What a body means. None if it holds something that we have no words for, such as an image behind a URL.
pub(crate) fn canonical(format: Format, body: &Value) -> Option<Canonical> {
    let mut meaning = match format {
        Format::Gemini => gemini(body)?,
        Format::Anthropic => anthropic(body)?,
        Format::OpenaiResponses => responses(body),
        Format::OpenaiChat | Format::Ollama => chat(body, format),
    };
    for (_, _, schema) in &mut meaning.tools {
        *schema = plain_schema(schema);
    }
    meaning.schema = plain_schema(&meaning.schema);
    // Empty texts say nothing.
    for (_, items) in &mut meaning.turns {
        items.retain(|item| !matches!(item, Item::Text(text, None) if text.is_empty()));
    }
    Some(meaning)
}

fn push(meaning: &mut Canonical, side: Side, items: impl IntoIterator<Item = Item>) {
    match meaning.turns.last_mut() {
        Some((last, known)) if *last == side => known.extend(items),
        _ => meaning.turns.push((side, items.into_iter().collect())),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
        _ => String::new(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A signature; the two alphabets of base64 are one.
fn signature(value: &Value) -> Option<String> {
    Some(value.as_str()?.replace('-', "+").replace('_', "/"))
}

fn either<'a>(value: &'a Value, keys: [&str; 2]) -> &'a Value {
    keys.into_iter().map(|key| &value[key]).find(|value| !value.is_null()).unwrap_or(&Value::Null)
}

fn gemini(body: &Value) -> Option<Canonical> {
    let config = &body["generationConfig"];
    let mut meaning = Canonical {
        system: text(&body["systemInstruction"]["parts"]),
        max_tokens: config["maxOutputTokens"].as_u64(),
        temperature: config["temperature"].as_f64(),
        schema: either(config, ["response_schema", "responseJsonSchema"]).clone(),
        ..Canonical::default()
    };
    for content in list(&body["contents"]) {
        let side = if content["role"] == "model" { Side::Model } else { Side::User };
        for part in list(&content["parts"]) {
            let signature = signature(either(part, ["thoughtSignature", "thought_signature"]));
            let call = either(part, ["functionCall", "function_call"]);
            let response = either(part, ["functionResponse", "function_response"]);
            let data = &part["inlineData"];
            let item = if call.is_object() {
                Item::Call(String::new(), text(&call["name"]), call["args"].clone(), signature)
            } else if response.is_object() {
                if response["parts"].is_array() {
                    return None;
                }
                let (said, is_error) = gemini_result(&response["response"]);
                Item::Result(String::new(), said, is_error, Vec::new())
            } else if data.is_object() {
                Item::File(text(&data["mimeType"]), text(&data["data"]))
            } else if part["thought"] == true {
                Item::Thinking(text(&part["text"]), signature)
            } else {
                Item::Text(text(&part["text"]), signature)
            };
            push(&mut meaning, side, [item]);
        }
    }
    for tool in list(&body["tools"]) {
        meaning.search |= tool["googleSearch"].is_object();
        for function in list(&tool["functionDeclarations"]) {
            let json_schema = either(function, ["parameters_json_schema", "parametersJsonSchema"]);
            let schema = if json_schema.is_null() { &function["parameters"] } else { json_schema };
            meaning.tools.push((text(&function["name"]), text(&function["description"]), schema.clone()));
        }
    }
    let calling = &body["toolConfig"]["functionCallingConfig"];
    if calling.is_object() {
        meaning.choice = match calling["mode"].as_str() {
            Some("ANY") => json!("required"),
            Some("NONE") => json!("none"),
            _ => Value::Null,
        };
    }
    Some(meaning)
}

fn gemini_result(response: &Value) -> (String, bool) {
    if response["error"].is_string() {
        return (text(&response["error"]), true);
    }
    let known = ["output", "return_value", "content"].into_iter().map(|key| text(&response[key]));
    (known.into_iter().find(|found| !found.is_empty()).unwrap_or_default(), false)
}

fn anthropic(body: &Value) -> Option<Canonical> {
    let mut meaning = Canonical {
        system: text(&body["system"]),
        max_tokens: body["max_tokens"].as_u64(),
        temperature: body["temperature"].as_f64(),
        ..Canonical::default()
    };
    for message in list(&body["messages"]) {
        let side = if message["role"] == "assistant" { Side::Model } else { Side::User };
        for block in list(&message["content"]) {
            let image = |block: &Value| {
                let source = &block["source"];
                (source["type"] == "base64").then(|| (text(&source["media_type"]), text(&source["data"])))
            };
            let item = match block["type"].as_str()? {
                "text" => Item::Text(text(&block["text"]), None),
                "image" => image(block).map(|(kind, data)| Item::File(kind, data))?,
                "thinking" => Item::Thinking(text(&block["thinking"]), signature(&block["signature"])),
                "tool_use" => {
                    Item::Call(text(&block["id"]), text(&block["name"]), block["input"].clone(), None)
                }
                "tool_result" => {
                    let content = match &block["content"] {
                        Value::String(text) => &vec![json!({"type": "text", "text": text})],
                        content => &list(content).to_vec(),
                    };
                    let images = content.iter().filter(|part| part["type"] == "image").filter_map(image);
                    let said = text(&json!(content));
                    let is_error = block["is_error"] == true;
                    Item::Result(text(&block["tool_use_id"]), said, is_error, images.collect())
                }
                _ => return None,
            };
            push(&mut meaning, side, [item]);
        }
    }
    for tool in list(&body["tools"]) {
        match tool["input_schema"].is_object() {
            true => meaning.tools.push((
                text(&tool["name"]),
                text(&tool["description"]),
                tool["input_schema"].clone(),
            )),
            false => meaning.search |= tool["name"] == "web_search",
        }
    }
    Some(meaning)
}

fn responses(body: &Value) -> Canonical {
    let mut meaning = Canonical {
        system: text(&body["instructions"]),
        max_tokens: body["max_output_tokens"].as_u64(),
        temperature: body["temperature"].as_f64(),
        schema: body["text"]["format"]["schema"].clone(),
        choice: choice(&body["tool_choice"]),
        ..Canonical::default()
    };
    for item in list(&body["input"]) {
        match (item["type"].as_str(), item["role"].as_str()) {
            (_, Some("system")) => meaning.system = text(&item["content"]),
            (_, Some("assistant")) => {
                push(&mut meaning, Side::Model, [Item::Text(text(&item["content"]), None)]);
            }
            (_, Some(_)) => push(&mut meaning, Side::User, [Item::Text(text(&item["content"]), None)]),
            (Some("reasoning"), _) => {
                let thought = Item::Thinking(text(&item["summary"]), signature(&item["encrypted_content"]));
                push(&mut meaning, Side::Model, [thought]);
            }
            (Some("function_call"), _) => {
                let arguments = serde_json::from_str(&text(&item["arguments"])).unwrap();
                let call = Item::Call(text(&item["call_id"]), text(&item["name"]), arguments, None);
                push(&mut meaning, Side::Model, [call]);
            }
            (Some("function_call_output"), _) => {
                let result = Item::Result(text(&item["call_id"]), text(&item["output"]), false, Vec::new());
                push(&mut meaning, Side::User, [result]);
            }
            other => panic!("{other:?}"),
        }
    }
    for tool in list(&body["tools"]) {
        match tool["type"] == "function" {
            true => {
                meaning.tools.push((
                    text(&tool["name"]),
                    text(&tool["description"]),
                    tool["parameters"].clone(),
                ));
            }
            false => meaning.search |= tool["type"] == "web_search",
        }
    }
    meaning
}

fn chat(body: &Value, format: Format) -> Canonical {
    let options = if format == Format::Ollama { &body["options"] } else { body };
    let limits = ["max_tokens", "max_completion_tokens", "num_predict"];
    let mut meaning = Canonical {
        max_tokens: limits.into_iter().find_map(|key| options[key].as_u64()),
        temperature: options["temperature"].as_f64(),
        schema: body["response_format"]["json_schema"]["schema"].clone(),
        choice: choice(&body["tool_choice"]),
        ..Canonical::default()
    };
    for message in list(&body["messages"]) {
        match message["role"].as_str().unwrap() {
            "system" | "developer" => meaning.system = text(&message["content"]),
            "user" => push(&mut meaning, Side::User, [Item::Text(text(&message["content"]), None)]),
            "tool" => {
                let (id, said) = (text(&message["tool_call_id"]), text(&message["content"]));
                push(&mut meaning, Side::User, [Item::Result(id, said, false, Vec::new())]);
            }
            "assistant" => {
                let thoughts = ["reasoning", "reasoning_content", "thinking"];
                let thought =
                    thoughts.into_iter().map(|key| text(&message[key])).find(|text| !text.is_empty());
                push(&mut meaning, Side::Model, thought.map(|text| Item::Thinking(text, None)));
                push(&mut meaning, Side::Model, [Item::Text(text(&message["content"]), None)]);
                for call in list(&message["tool_calls"]) {
                    let function = &call["function"];
                    let arguments = match &function["arguments"] {
                        Value::String(text) => serde_json::from_str(text).unwrap(),
                        object => object.clone(),
                    };
                    let id = if format == Format::Ollama { String::new() } else { text(&call["id"]) };
                    push(
                        &mut meaning,
                        Side::Model,
                        [Item::Call(id, text(&function["name"]), arguments, None)],
                    );
                }
            }
            other => panic!("{other}"),
        }
    }
    for tool in list(&body["tools"]) {
        let function = &tool["function"];
        let described = text(&function["description"]);
        meaning.tools.push((text(&function["name"]), described, function["parameters"].clone()));
    }
    meaning
}

fn choice(value: &Value) -> Value {
    match value {
        Value::String(word) if word == "auto" => Value::Null,
        Value::Object(_) => either(value, ["function", "name"]).get("name").unwrap_or(&value["name"]).clone(),
        other => other.clone(),
    }
}

/// A schema without what providers write differently: case of types, closed objects, titles, empty lists.
fn plain_schema(schema: &Value) -> Value {
    let Value::Object(object) = schema else { return Value::Null };
    let mut plain = Map::new();
    for (key, value) in object {
        match key.as_str() {
            "type" => _ = plain.insert(key.clone(), text(value).to_lowercase().into()),
            "properties" => {
                let mut names: Vec<(&String, &Value)> = value.as_object().unwrap().iter().collect();
                names.sort_by_key(|(name, _)| name.as_str());
                let properties: Map<String, Value> =
                    names.into_iter().map(|(name, schema)| (name.clone(), plain_schema(schema))).collect();
                if !properties.is_empty() {
                    plain.insert(key.clone(), properties.into());
                }
            }
            "items" => _ = plain.insert(key.clone(), plain_schema(value)),
            "required" if list(value).is_empty() => {}
            "required" | "enum" | "description" => _ = plain.insert(key.clone(), value.clone()),
            _ => {}
        }
    }
    // An object without properties is no schema at all in some formats.
    if plain.get("type") == Some(&json!("object")) && plain.len() == 1 {
        return Value::Null;
    }
    plain.sort_keys();
    plain.into()
}

/// The same as a request of ours.
pub(crate) fn request(format: Format, body: &Value, meaning: &Canonical) -> Request {
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut messages = Vec::new();
    for (number, (side, items)) in meaning.turns.iter().enumerate() {
        let role = if *side == Side::User { Role::User } else { Role::Assistant };
        let mut results = 0;
        let before = calls.clone();
        if *side == Side::Model {
            calls.clear();
        }
        let parts = items.iter().enumerate().map(|(place, item)| match item {
            Item::Text(text, signature) => {
                let opaque = signature.as_ref().map(|text| opaque(format, "thoughtSignature", text));
                Part::Text { text: text.clone(), opaque }
            }
            Item::File(kind, data) => Part::File(attachment(kind, data)),
            Item::Thinking(text, signature) => {
                let opaque = match (format, signature) {
                    (Format::Gemini, Some(given)) => Some(opaque(format, "thoughtSignature", given)),
                    (Format::Anthropic, Some(given)) => Some(opaque(format, "signature", given)),
                    (Format::OpenaiResponses, Some(given)) => Some(Opaque {
                        format: format.as_str().into(),
                        value: json!({"type": "reasoning", "summary": [], "encrypted_content": given}),
                    }),
                    (Format::OpenaiChat, _) => Some(opaque(format, "field", "reasoning")),
                    _ => None,
                };
                Part::Thinking { text: text.clone(), opaque }
            }
            Item::Call(id, name, arguments, signature) => {
                let id = if id.is_empty() { format!("made_{number}_{place}") } else { id.clone() };
                calls.push((id.clone(), name.clone()));
                let opaque = signature.as_ref().map(|text| opaque(format, "thoughtSignature", text));
                Part::ToolCall(ToolCall {
                    id,
                    name: name.clone(),
                    arguments: Arguments::Json(arguments.clone()),
                    opaque,
                })
            }
            Item::Result(_, text, is_error, images) => {
                let (id, name) = before[results].clone();
                results += 1;
                let attachments = images.iter().map(|(kind, data)| attachment(kind, data)).collect();
                Part::ToolResult(ToolResult {
                    id,
                    name,
                    text: text.clone(),
                    attachments,
                    is_error: *is_error,
                    code: None,
                    data: Value::Null,
                })
            }
        });
        messages.push(Message { role, parts: parts.collect() });
    }
    let tools: Vec<Definition> = meaning.tools.iter().zip(schemas(format, body)).map(definition).collect();
    Request {
        system: meaning.system.clone(),
        messages,
        tools: Arc::from(tools),
        tool_choice: match meaning.choice.as_str() {
            None => ToolChoice::Auto,
            Some("none") => ToolChoice::None,
            Some("required") => ToolChoice::Required,
            Some(name) => ToolChoice::Tool(name.to_owned()),
        },
        max_output_tokens: meaning.max_tokens,
        temperature: meaning.temperature,
        search: meaning.search,
        schema: Some(meaning.schema.clone()).filter(|schema| !schema.is_null()),
        ..Request::default()
    }
}

fn definition(((name, description, _), schema): (&(String, String, Value), Value)) -> Definition {
    let spec = Spec::new(name.clone(), "1.0.0", description.clone());
    Definition { spec, input: schema, output: None }
}

/// The schemas as they stand in the body, in the spelling of JSON schema.
fn schemas(format: Format, body: &Value) -> Vec<Value> {
    fn lower(schema: &Value) -> Value {
        match schema {
            Value::Object(object) => {
                let pairs =
                    object.iter().filter(|(key, _)| *key != "strict").map(|(key, value)| match value {
                        Value::String(word) if key == "type" => (key.clone(), word.to_lowercase().into()),
                        other => (key.clone(), lower(other)),
                    });
                Value::Object(pairs.collect())
            }
            other => other.clone(),
        }
    }
    let schema = |tool: &Value| match format {
        Format::Anthropic => tool["input_schema"].clone(),
        Format::OpenaiResponses => tool["parameters"].clone(),
        Format::OpenaiChat | Format::Ollama => tool["function"]["parameters"].clone(),
        Format::Gemini => {
            let json_schema = either(tool, ["parameters_json_schema", "parametersJsonSchema"]);
            if json_schema.is_null() { tool["parameters"].clone() } else { json_schema.clone() }
        }
    };
    let tools: Vec<Value> = match format {
        Format::Gemini => list(&body["tools"])
            .iter()
            .flat_map(|tool| list(&tool["functionDeclarations"]))
            .cloned()
            .collect(),
        _ => list(&body["tools"]).to_vec(),
    };
    let found = tools.iter().map(|tool| lower(&schema(tool))).filter(|schema| !schema.is_null());
    found.collect()
}

fn opaque(format: Format, key: &str, text: &str) -> Opaque {
    Opaque { format: format.as_str().to_owned(), value: json!({key: text}) }
}

fn attachment(kind: &str, data: &str) -> Attachment {
    let content = AttachmentContent::Data(data.to_owned());
    Attachment { media_type: kind.to_owned(), filename: "file".to_owned(), content }
}
