//! OpenAI: `responses` and its stream.
//!
//! A response is a list of items. They are taken as they end, because some backends send an empty list at the very end.
//! Nothing is stored with the provider: what it thought goes back encrypted, in its place before the call that it led to.

use super::conversation::{Turn, marked, object, turns};
use super::decoder::Decode;
use super::draft::{Draft, MAX_CALLS, arguments, cut, hostile, items, text, tokens};
use super::failure;
use super::file::{File, data_url, file};
use super::format::{Encoded, Format, Reasoning, Target, declarations};
use serde_json::{Map, Value, json};
use toolpost_core::model::{
    Arguments, Finish, ModelError, Part, Request, Response, Role, Thinking, ToolCall, ToolChoice, ToolResult,
};
use toolpost_core::outcome::Attachment;
use toolpost_declaration::Format as Declared;

const FORMAT: Format = Format::OpenaiResponses;

/// Maximum number of items of a response that are kept.
const MAX_ITEMS: usize = 4_096;

pub(super) fn encode(target: &Target, request: &Request) -> Result<Encoded, ModelError> {
    let input: Vec<Value> =
        turns(&request.messages).iter().flat_map(|turn| input_items(target, turn)).collect();
    let mut body = Map::new();
    body.insert("model".into(), target.model.clone().into());
    if !request.system.is_empty() {
        body.insert("instructions".into(), request.system.clone().into());
    }
    body.insert("input".into(), input.into());
    let (mut tools, left_out) = declarations(&request.tools, Declared::OpenaiResponses);
    if request.search {
        tools.push(json!({"type": "web_search"}));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => _ = body.insert("tool_choice".into(), "none".into()),
            ToolChoice::Required => _ = body.insert("tool_choice".into(), "required".into()),
            ToolChoice::Tool(name) => {
                body.insert("tool_choice".into(), json!({"type": "function", "name": name}));
            }
        }
    }
    if let Some(tokens) = request.max_output_tokens {
        body.insert("max_output_tokens".into(), tokens.into());
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    if reasons(target) {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        if let Some(thinking) = request.thinking {
            let effort = effort(&target.model, thinking);
            body.insert("reasoning".into(), json!({"effort": effort, "summary": "auto"}));
        }
    }
    if let Some(schema) = &request.schema {
        let format = json!({"type": "json_schema", "name": "answer", "schema": schema, "strict": false});
        body.insert("text".into(), json!({"format": format}));
    }
    if let Some(key) = &request.cache {
        body.insert("prompt_cache_key".into(), key.clone().into());
    }
    body.insert("store".into(), false.into());
    body.insert("stream".into(), true.into());
    Ok(Encoded { path: "/responses".into(), headers: Vec::new(), body: body.into(), left_out })
}

/// Whether the model thinks. Those that do not refuse to be asked for what they thought.
fn reasons(target: &Target) -> bool {
    let name = target.model.rsplit('/').next().unwrap_or_default();
    let by_name = !["gpt-3", "gpt-4", "chatgpt-4"].iter().any(|begin| name.starts_with(begin));
    target.quirks.reasoning.map_or(by_name, |reasoning| reasoning != Reasoning::None)
}

/// The level of thinking; the lowest has another name with each generation.
pub(super) fn effort(model: &str, thinking: Thinking) -> &'static str {
    let name = model.rsplit('/').next().unwrap_or_default();
    match thinking {
        Thinking::Off if name.starts_with("gpt-5.") => "none",
        Thinking::Off if name.starts_with("gpt-5") => "minimal",
        Thinking::Off | Thinking::Low => "low",
        Thinking::Medium => "medium",
        Thinking::High => "high",
        Thinking::Tokens(0..=2_048) => "low",
        Thinking::Tokens(2_049..=8_192) => "medium",
        Thinking::Tokens(_) => "high",
    }
}

fn input_items(target: &Target, turn: &Turn<'_>) -> Vec<Value> {
    let mut list: Vec<Value> =
        turn.results.iter().map(|(call, result)| call_output(target, call, result)).collect();
    let mut content = Vec::new();
    let (role, kind) = match turn.role {
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    let close = |content: &mut Vec<Value>, list: &mut Vec<Value>| {
        if !content.is_empty() {
            list.push(json!({"type": "message", "role": role, "content": std::mem::take(content)}));
        }
    };
    for part in &turn.parts {
        match part.as_ref() {
            Part::Text { text, .. } => content.push(json!({"type": kind, "text": text})),
            Part::File(attachment) => content.push(file_item(target, attachment)),
            Part::Thinking { opaque, .. } => {
                if let Some(item) = FORMAT.own(opaque.as_ref()) {
                    close(&mut content, &mut list);
                    list.push(item.clone());
                }
            }
            Part::ToolCall(call) => {
                close(&mut content, &mut list);
                list.push(json!({"type": "function_call", "call_id": call.id, "name": call.name,
                    "arguments": object(&call.arguments).to_string()}));
            }
            // Searches of the provider are not needed again: what they found is in the text.
            Part::ToolResult(_) | Part::Opaque(_) => {}
        }
    }
    close(&mut content, &mut list);
    list
}

fn call_output(target: &Target, call: &ToolCall, result: &ToolResult) -> Value {
    let output = match result.attachments.is_empty() {
        true => Value::String(marked(result)),
        false => {
            let mut content = vec![json!({"type": "input_text", "text": marked(result)})];
            content.extend(result.attachments.iter().map(|attachment| file_item(target, attachment)));
            content.into()
        }
    };
    json!({"type": "function_call_output", "call_id": call.id, "output": output})
}

fn file_item(target: &Target, attachment: &Attachment) -> Value {
    match file(target, attachment, true) {
        File::Image(data) => {
            json!({"type": "input_image", "image_url": data_url(&attachment.media_type, data)})
        }
        File::Document(data) => json!({"type": "input_file", "filename": attachment.filename,
            "file_data": data_url(&attachment.media_type, data)}),
        File::Text(text) => {
            json!({"type": "input_text", "text": format!("{}:\n{text}", attachment.filename)})
        }
        File::Note(note) => json!({"type": "input_text", "text": note}),
    }
}

/// What comes back.
pub(super) struct Stream {
    draft: Draft,
    /// Items that have ended.
    items: Vec<Value>,
    /// Calls that are not among them because there were too many.
    left_out: u64,
    /// Ids of calls that were announced: that of the item, and that of the call.
    calls: Vec<(String, String)>,
    /// Text that was streamed, for servers that never end an item.
    streamed: String,
    /// The response object at the end.
    last: Option<Value>,
}

impl Stream {
    pub(super) fn new(draft: Draft) -> Stream {
        Stream {
            draft,
            items: Vec::new(),
            left_out: 0,
            calls: Vec::new(),
            streamed: String::new(),
            last: None,
        }
    }

    /// The id of a call, which is announced if it was not.
    fn call_id(&mut self, item: &Value) -> String {
        let key = [&item["id"], &item["call_id"]].into_iter().find_map(|id| id.as_str()).unwrap_or_default();
        if let Some((_, id)) = self.calls.iter().find(|(known, _)| known == key && !key.is_empty()) {
            return id.clone();
        }
        let given = item["call_id"].as_str().unwrap_or(key);
        let id = self.draft.begin_call(given, text(&item["name"]));
        if self.calls.len() < MAX_CALLS {
            self.calls.push((key.to_owned(), id.clone()));
        }
        id
    }

    fn end(&mut self, response: &Value) {
        self.draft.finish_raw = response["status"].as_str().map(str::to_owned);
        self.draft.model = response["model"].as_str().map(str::to_owned);
        let usage = &response["usage"];
        let draft = &mut self.draft.usage;
        draft.input = tokens(&usage["input_tokens"]);
        draft.cached = tokens(&usage["input_tokens_details"]["cached_tokens"]);
        draft.cache_write = tokens(&usage["input_tokens_details"]["cache_write_tokens"]);
        draft.output = tokens(&usage["output_tokens"]);
        draft.reasoning = tokens(&usage["output_tokens_details"]["reasoning_tokens"]);
        self.last = Some(response.clone());
        self.draft.is_done = true;
    }

    fn part(&mut self, item: &Value, is_cut: bool) -> Result<(), ModelError> {
        match text(&item["type"]) {
            "message" => self.message(item),
            "function_call" => {
                let id = self.call_id(item);
                let given = match &item["arguments"] {
                    Value::String(text) => text.clone(),
                    Value::Null => String::new(),
                    other => other.to_string(),
                };
                let arguments = match item["status"] == "incomplete" {
                    true => Arguments::Unparsable(given),
                    false => arguments(&given, is_cut),
                };
                let name = text(&item["name"]).to_owned();
                self.draft.push(Part::ToolCall(ToolCall { id, name, arguments, opaque: None }))
            }
            "reasoning" => {
                let texts = items(&item["summary"]).iter().chain(items(&item["content"]));
                let thought: Vec<&str> = texts.map(|part| text(&part["text"])).collect();
                let opaque = item["encrypted_content"].as_str().map(|encrypted| {
                    let summary = items(&item["summary"]);
                    FORMAT.opaque(
                        json!({"type": "reasoning", "summary": summary, "encrypted_content": encrypted}),
                    )
                });
                self.draft.push(Part::Thinking { text: thought.join("\n\n"), opaque })
            }
            "web_search_call" => {
                let action = &item["action"];
                match items(&action["queries"]) {
                    [] => self.draft.query(text(&action["query"])),
                    queries => queries.iter().for_each(|query| self.draft.query(text(query))),
                }
                self.draft.opaque(item.clone())
            }
            _ => self.draft.opaque(item.clone()),
        }
    }

    fn message(&mut self, item: &Value) -> Result<(), ModelError> {
        for part in items(&item["content"]) {
            for note in items(&part["annotations"]).iter().filter(|note| note["type"] == "url_citation") {
                self.draft.source(text(&note["url"]), text(&note["title"]), "");
            }
            match part["refusal"].as_str() {
                Some(refusal) => self.draft.note = Some(refusal.to_owned()),
                None => {
                    let said = text(&part["text"]).to_owned();
                    self.draft.push(Part::Text { text: said, opaque: None })?;
                }
            }
        }
        Ok(())
    }
}

impl Decode for Stream {
    fn take(&mut self, value: &Value) -> Result<(), ModelError> {
        let delta = text(&value["delta"]);
        match text(&value["type"]) {
            "response.output_text.delta" => {
                self.streamed.push_str(delta);
                self.draft.say(delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.draft.think(delta)
            }
            "response.output_item.added" if value["item"]["type"] == "function_call" => {
                self.call_id(&value["item"]);
            }
            "response.output_item.done" if self.items.len() >= MAX_ITEMS => {
                if value["item"]["type"] != "function_call" {
                    return Err(hostile("too many output items"));
                }
                self.left_out += 1;
            }
            "response.output_item.done" => self.items.push(value["item"].clone()),
            "response.failed" => return Err(failure::in_stream(&value["response"])),
            "response.completed" | "response.incomplete" | "response.done" => self.end(&value["response"]),
            "" if value["object"] == "response" => match text(&value["status"]) {
                "failed" => return Err(failure::in_stream(value)),
                _ => {
                    for item in items(&value["output"]) {
                        match item["type"] == "function_call" {
                            true => _ = self.call_id(item),
                            false => items(&item["content"])
                                .iter()
                                .filter(|_| item["type"] == "message")
                                .for_each(|part| self.draft.say(text(&part["text"]))),
                        }
                    }
                    self.end(value);
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn finish(mut self: Box<Self>) -> Result<Response, ModelError> {
        let Some(last) = self.last.take() else {
            return Err(cut("no `response.completed` came"));
        };
        let reason = last["incomplete_details"]["reason"].as_str();
        let is_incomplete = self.draft.finish_raw.as_deref() == Some("incomplete");
        let done = std::mem::take(&mut self.items);
        let listed = items(&last["output"]);
        let list = match listed.len() > done.len() {
            true => listed.to_vec(),
            false => {
                self.draft.surplus_calls += self.left_out;
                done
            }
        };
        if list.is_empty() && !self.streamed.is_empty() {
            let text = std::mem::take(&mut self.streamed);
            self.draft.push(Part::Text { text, opaque: None })?;
        }
        for item in &list {
            self.part(item, is_incomplete)?;
        }
        if is_incomplete && self.draft.note.is_none() {
            self.draft.note = reason.map(str::to_owned);
        }
        let is_refused =
            list.iter().flat_map(|item| items(&item["content"])).any(|part| part["type"] == "refusal");
        let finish = match (is_incomplete, reason) {
            (true, Some("content_filter")) => Finish::Blocked,
            (true, Some("max_output_tokens") | None) => Finish::Length,
            (true, Some(_)) => Finish::Other,
            (false, _) if is_refused => Finish::Refusal,
            (false, _) => Finish::Stop,
        };
        Ok(self.draft.finish(finish))
    }
}
