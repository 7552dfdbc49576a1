//! Anthropic: `messages` and its stream.
//!
//! Blocks are told apart by their index and may come in any order. Results of calls are the first blocks of the very
//! next message, and calls the last of theirs. Thinking goes back with its signature, before the calls.

mod stream;

pub(super) use stream::Stream;

use super::conversation::{Turn, object, turns};
use super::file::{File, file};
use super::format::{Encoded, Format, Reasoning, Target, declarations};
use serde_json::{Map, Value, json};
use toolpost_core::model::{ModelError, Part, Request, Role, Thinking, ToolCall, ToolChoice, ToolResult};
use toolpost_core::outcome::Attachment;
use toolpost_declaration::Format as Declared;

const FORMAT: Format = Format::Anthropic;

/// The limit of a response must be stated; this one every current model accepts.
const OUTPUT_TOKENS: u64 = 8_192;

pub(super) fn encode(target: &Target, request: &Request) -> Result<Encoded, ModelError> {
    let mut messages: Vec<Value> =
        turns(&request.messages).iter().map(|turn| message(target, turn)).collect();
    let mut system: Vec<Value> = Vec::new();
    if !request.system.is_empty() {
        system.push(json!({"type": "text", "text": request.system}));
    }
    let (mut tools, mut left_out) = declarations(&request.tools, Declared::Anthropic);
    if request.search {
        match tools.iter().any(|tool| tool["name"] == "web_search") {
            true => left_out.push(("web search".into(), "a tool has the same name, `web_search`".into())),
            false => tools.push(json!({"type": "web_search_20250305", "name": "web_search"})),
        }
    }
    if request.cache.is_some() {
        // What comes first is cached with what comes after: tools, instructions, messages.
        let last_message = messages.last_mut().and_then(|message| message["content"].as_array_mut());
        let prefix = system.last_mut().or(tools.last_mut());
        for block in [prefix, last_message.and_then(|blocks| blocks.last_mut())].into_iter().flatten() {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
    }
    let mut body = Map::new();
    body.insert("model".into(), target.model.clone().into());
    let mut limit = request.max_output_tokens.or(target.output_tokens).unwrap_or(OUTPUT_TOKENS);
    let is_forced =
        matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_)) && !tools.is_empty();
    let mut output = Map::new();
    // A forced call and thinking exclude each other.
    let thinking = request.thinking.filter(|_| !is_forced);
    let thinking = thinking.and_then(|thinking| thinking_block(target, thinking, &mut limit, &mut output));
    body.insert("max_tokens".into(), limit.into());
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), messages.into());
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
        if let Some(choice) = tool_choice(&request.tool_choice) {
            body.insert("tool_choice".into(), choice);
        }
    }
    // Thinking fixes the temperature, and so do newer models.
    if let (Some(temperature), None, false) = (request.temperature, &thinking, is_newest(&target.model)) {
        body.insert("temperature".into(), temperature.into());
    }
    if let Some(thinking) = thinking {
        body.insert("thinking".into(), thinking);
    }
    if !request.stop.is_empty() {
        body.insert("stop_sequences".into(), json!(request.stop));
    }
    if let Some(schema) = &request.schema {
        output.insert("format".into(), json!({"type": "json_schema", "schema": schema}));
    }
    if !output.is_empty() {
        body.insert("output_config".into(), output.into());
    }
    body.insert("stream".into(), true.into());
    let headers = vec![("anthropic-version", "2023-06-01")];
    Ok(Encoded { path: "/messages".into(), headers, body: body.into(), left_out })
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({"type": "none"})),
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Tool(name) => Some(json!({"type": "tool", "name": name})),
    }
}

/// The version in a model's name: `claude-opus-4-8` is 4.8. A date is none.
fn version(model: &str) -> (u32, u32) {
    let mut numbers = model
        .split(['-', '.', '@'])
        .filter(|word| word.len() <= 2)
        .filter_map(|word| word.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn is_newest(model: &str) -> bool {
    version(model) >= (4, 7)
}

fn thinking_block(
    target: &Target,
    thinking: Thinking,
    limit: &mut u64,
    output: &mut Map<String, Value>,
) -> Option<Value> {
    let by_name = match version(&target.model) {
        (4, 6..) | (5.., _) => Reasoning::Adaptive,
        _ => Reasoning::Tokens,
    };
    let budget = match thinking {
        Thinking::Off => return None,
        Thinking::Low => 2_048,
        Thinking::Medium => 8_192,
        Thinking::High => 16_384,
        Thinking::Tokens(tokens) => tokens.max(1_024),
    };
    match target.quirks.reasoning.unwrap_or(by_name) {
        Reasoning::None => None,
        Reasoning::Tokens => {
            // The budget is a part of the limit.
            *limit = (*limit).max(budget.saturating_add(1_024));
            Some(json!({"type": "enabled", "budget_tokens": budget}))
        }
        _ => {
            let effort = match budget {
                0..=2_048 => "low",
                2_049..=8_192 => "medium",
                _ => "high",
            };
            output.insert("effort".into(), effort.into());
            Some(json!({"type": "adaptive"}))
        }
    }
}

fn message(target: &Target, turn: &Turn<'_>) -> Value {
    let results = turn.results.iter().map(|(call, result)| tool_result(target, call, result));
    let mut blocks: Vec<Value> = results.collect();
    let mut calls = Vec::new();
    for part in &turn.parts {
        match part.as_ref() {
            Part::Text { text, .. } if text.is_empty() => {}
            Part::Text { text, opaque } => {
                let mut block = json!({"type": "text", "text": text});
                if let Some(own) = FORMAT.own(opaque.as_ref()) {
                    block["citations"] = own["citations"].clone();
                }
                blocks.push(block);
            }
            // Without a signature it is refused.
            Part::Thinking { text, opaque } => {
                let signature = FORMAT.own(opaque.as_ref()).and_then(|own| own["signature"].as_str());
                let block = signature
                    .map(|signature| json!({"type": "thinking", "thinking": text, "signature": signature}));
                blocks.extend(block);
            }
            Part::File(attachment) => blocks.push(file_block(target, attachment)),
            Part::ToolCall(call) => calls.push(
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": object(&call.arguments)}),
            ),
            Part::ToolResult(_) => {}
            Part::Opaque(opaque) => blocks.extend(FORMAT.own(Some(opaque)).cloned()),
        }
    }
    blocks.extend(calls);
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    json!({"role": role, "content": blocks})
}

fn tool_result(target: &Target, call: &ToolCall, result: &ToolResult) -> Value {
    let mut content = Vec::new();
    // An empty text is refused.
    if !result.text.is_empty() || result.attachments.is_empty() {
        let text = if result.text.is_empty() { "(no output)" } else { &result.text };
        content.push(json!({"type": "text", "text": text}));
    }
    content.extend(result.attachments.iter().map(|attachment| file_block(target, attachment)));
    let mut block = json!({"type": "tool_result", "tool_use_id": call.id, "content": content});
    if result.is_error {
        block["is_error"] = true.into();
    }
    block
}

fn file_block(target: &Target, attachment: &Attachment) -> Value {
    let source = |data: &str| json!({"type": "base64", "media_type": attachment.media_type, "data": data});
    match file(target, attachment, true) {
        File::Image(data) => json!({"type": "image", "source": source(data)}),
        File::Document(data) => {
            json!({"type": "document", "source": source(data), "title": attachment.filename})
        }
        File::Text(text) => json!({"type": "document", "title": attachment.filename,
            "source": {"type": "text", "media_type": "text/plain", "data": text}}),
        File::Note(note) => json!({"type": "text", "text": note}),
    }
}
