//! The stream of Anthropic: blocks by their index, and what they amount to.

use super::super::decoder::Decode;
use super::super::draft::{Draft, arguments, cut, hostile, items, text, tokens};
use super::FORMAT;
use serde_json::{Value, json};
use toolpost_core::model::{Arguments, Finish, ModelError, Part, Response, ToolCall};

/// Maximum number of blocks of a response.
const MAX_BLOCKS: usize = 4_096;
/// Maximum number of blocks that are open at once.
const MAX_OPEN: usize = 256;

/// What comes back.
pub(crate) struct Stream {
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
    pub(crate) fn new(draft: Draft) -> Stream {
        Stream { draft, blocks: Vec::new(), has_ended: false }
    }

    /// Begins a block. Says whether it is kept: a call that is one too many is not.
    fn begin(&mut self, index: Option<u64>, value: &Value) -> Result<bool, ModelError> {
        if let Some(open) = self.find(index) {
            open.is_open = false;
        }
        if value["type"] == "tool_use" && self.draft.is_full_of_calls() {
            self.draft.surplus_calls += 1;
            return Ok(false);
        }
        if self.blocks.len() >= MAX_BLOCKS
            || self.blocks.iter().filter(|block| block.is_open).count() >= MAX_OPEN
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
            "tool_use" => block.id = self.draft.begin_call(text(&value["id"]), text(&value["name"])),
            _ => {}
        }
        self.blocks.push(block);
        Ok(true)
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
            if !self.begin(None, block)? {
                continue;
            }
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
                    true => Arguments::Json(value["input"].clone()),
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
            "content_block_start" => _ = self.begin(index, &value["content_block"])?,
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
