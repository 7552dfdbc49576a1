//! Anthropic: `messages` and its stream.
//!
//! Blocks are told apart by their index and may come in any order. Results of calls are the first blocks of the very
//! next message, and calls the last of theirs. Thinking goes back with its signature, before the calls.

use super::conversation::{Turn, object, turns};
use super::decoder::Decode;
use super::draft::{Draft, arguments, cut, hostile, items, text, tokens};
use super::file::{File, file};
use super::format::{Encoded, Format, Reasoning, Target, declarations};
use serde_json::{Map, Value, json};
use toolpost_core::model::{
    Finish, ModelError, Part, Request, Response, Role, Thinking, ToolCall, ToolChoice, ToolResult,
};
use toolpost_core::outcome::Attachment;
use toolpost_declaration::Format as Declared;

const FORMAT: Format = Format::Anthropic;

/// The limit of a response must be stated; this one every current model accepts.
const OUTPUT_TOKENS: u64 = 8_192;
/// Maximum number of blocks that are open at once.
const MAX_OPEN: usize = 256;

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

/// What comes back.
pub(super) struct Stream {
    draft: Draft,
    /// The blocks in the order of their beginnings, which is the order of the response.
    blocks: Vec<Block>,
    has_ended: bool,
}

struct Block {
    index: Option<u64>,
    is_open: bool,
    /// As it began.
    value: Value,
    /// Text, thinking, or arguments.
    text: String,
    signature: String,
    citations: Vec<Value>,
    /// Of a call.
    id: String,
}

impl Stream {
    pub(super) fn new(draft: Draft) -> Stream {
        Stream { draft, blocks: Vec::new(), has_ended: false }
    }

    fn begin(&mut self, index: Option<u64>, value: &Value) -> Result<(), ModelError> {
        if let Some(open) = self.find(index) {
            open.is_open = false;
        }
        if self.blocks.len() >= 4_096 || self.blocks.iter().filter(|block| block.is_open).count() >= MAX_OPEN
        {
            return Err(hostile("too many content blocks"));
        }
        let mut block = Block {
            index,
            is_open: true,
            value: value.clone(),
            text: String::new(),
            signature: text(&value["signature"]).to_owned(),
            citations: items(&value["citations"]).to_vec(),
            id: String::new(),
        };
        match text(&value["type"]) {
            "text" => {
                block.text = text(&value["text"]).to_owned();
                self.draft.say(&block.text);
            }
            "thinking" => {
                block.text = text(&value["thinking"]).to_owned();
                self.draft.think(&block.text);
            }
            "tool_use" => block.id = self.draft.begin_call(text(&value["id"]), text(&value["name"]))?,
            _ => {}
        }
        self.blocks.push(block);
        Ok(())
    }

    /// The open block of this index; without an index, the last one.
    fn find(&mut self, index: Option<u64>) -> Option<&mut Block> {
        let mut open = self.blocks.iter_mut().rev().filter(|block| block.is_open);
        open.find(|block| index.is_none() || block.index == index)
    }

    fn delta(&mut self, index: Option<u64>, delta: &Value) {
        let kind = text(&delta["type"]);
        let more = match kind {
            "text_delta" => text(&delta["text"]),
            "thinking_delta" => text(&delta["thinking"]),
            "input_json_delta" => text(&delta["partial_json"]),
            _ => "",
        };
        // Something for a block that never began, or has ended, is dropped.
        let Some(block) = self.find(index) else { return };
        block.text.push_str(more);
        match kind {
            "signature_delta" => block.signature.push_str(text(&delta["signature"])),
            "citations_delta" if block.citations.len() < 1_000 => {
                block.citations.push(delta["citation"].clone())
            }
            "text_delta" => self.draft.say(more),
            "thinking_delta" => self.draft.think(more),
            _ => {}
        }
    }

    fn usage(&mut self, usage: &Value) {
        let mut set = |key: &str, place: fn(&mut Draft) -> &mut u64| {
            if let Some(value) = usage.get(key).filter(|value| value.is_number()) {
                *place(&mut self.draft) = tokens(value);
            }
        };
        set("cache_read_input_tokens", |draft| &mut draft.usage.cached);
        set("cache_creation_input_tokens", |draft| &mut draft.usage.cache_write);
        set("output_tokens", |draft| &mut draft.usage.output);
        // Kept without the cached ones until the end.
        set("input_tokens", |draft| &mut draft.usage.input);
        if let Some(thinking) = usage["output_tokens_details"].get("thinking_tokens") {
            self.draft.usage.reasoning = tokens(thinking);
        }
    }

    fn stop(&mut self, delta: &Value) {
        if let Some(reason) = delta["stop_reason"].as_str() {
            self.draft.finish_raw = Some(reason.to_owned());
        }
        let details = &delta["stop_details"];
        if let Some(note) = details["explanation"].as_str().or(details["category"].as_str()) {
            self.draft.note = Some(note.to_owned());
        }
    }

    /// A response that came as one value.
    fn whole(&mut self, message: &Value) -> Result<(), ModelError> {
        for block in items(&message["content"]) {
            self.begin(None, block)?;
            if let (Some(last), "tool_use" | "server_tool_use") =
                (self.blocks.last_mut(), text(&block["type"]))
            {
                last.text = block["input"].to_string();
            }
            self.blocks.iter_mut().for_each(|block| block.is_open = false);
        }
        self.stop(message);
        self.usage(&message["usage"]);
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        self.has_ended = true;
        self.draft.is_done = true;
    }

    /// Makes a part of a block.
    fn part(draft: &mut Draft, block: Block, is_cut: bool) -> Result<(), ModelError> {
        let Block { value, text: content, signature, citations, id, .. } = block;
        match text(&value["type"]) {
            "text" => {
                for citation in &citations {
                    draft.source(
                        text(&citation["url"]),
                        text(&citation["title"]),
                        text(&citation["cited_text"]),
                    );
                }
                let opaque = (!citations.is_empty()).then(|| FORMAT.opaque(json!({"citations": citations})));
                draft.push(Part::Text { text: content, opaque })
            }
            "thinking" => {
                let opaque = (!signature.is_empty()).then(|| FORMAT.opaque(json!({"signature": signature})));
                draft.push(Part::Thinking { text: content, opaque })
            }
            "tool_use" => {
                let arguments = match content.is_empty()
                    && value["input"].as_object().is_some_and(|input| !input.is_empty())
                {
                    true => toolpost_core::model::Arguments::Json(value["input"].clone()),
                    false => arguments(&content, is_cut),
                };
                let name = text(&value["name"]).to_owned();
                draft.push(Part::ToolCall(ToolCall { id, name, arguments, opaque: None }))
            }
            kind => {
                let mut value = value.clone();
                if kind == "server_tool_use" {
                    if let Ok(input) = serde_json::from_str::<Value>(&content) {
                        value["input"] = input;
                    }
                    draft.query(text(&value["input"]["query"]));
                }
                for page in items(&value["content"]) {
                    draft.source(text(&page["url"]), text(&page["title"]), "");
                }
                draft.opaque(value)
            }
        }
    }
}

impl Decode for Stream {
    fn take(&mut self, value: &Value) -> Result<(), ModelError> {
        let index = value["index"].as_u64();
        match text(&value["type"]) {
            "message_start" => {
                self.draft.model = value["message"]["model"].as_str().map(str::to_owned);
                self.usage(&value["message"]["usage"]);
            }
            "content_block_start" => self.begin(index, &value["content_block"])?,
            "content_block_delta" => self.delta(index, &value["delta"]),
            "content_block_stop" => {
                if let Some(block) = self.find(index) {
                    block.is_open = false;
                }
            }
            "message_delta" => {
                self.stop(&value["delta"]);
                self.usage(&value["usage"]);
            }
            "message_stop" => self.end(),
            "message" => {
                self.draft.model = value["model"].as_str().map(str::to_owned);
                self.whole(value)?;
            }
            // `ping`, and whatever comes in later versions.
            _ => {}
        }
        Ok(())
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn finish(mut self: Box<Self>) -> Result<Response, ModelError> {
        if !self.has_ended {
            return Err(cut("no `message_stop` came"));
        }
        let finish = match self.draft.finish_raw.as_deref() {
            Some("end_turn" | "stop_sequence" | "tool_use") => Finish::Stop,
            Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
            Some("refusal") => Finish::Refusal,
            Some("pause_turn") => Finish::Paused,
            Some(_) | None => Finish::Other,
        };
        for block in std::mem::take(&mut self.blocks) {
            Stream::part(&mut self.draft, block, finish == Finish::Length)?;
        }
        let usage = &mut self.draft.usage;
        usage.input = usage.input.saturating_add(usage.cached).saturating_add(usage.cache_write);
        Ok(self.draft.finish(finish))
    }
}
