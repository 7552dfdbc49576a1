//! OpenAI: `chat/completions` and its stream, as OpenAI and the many compatible servers speak it.
//!
//! No two servers agree on the details. Calls are told apart by index, id and name, whichever a server sends; what was
//! thought comes in one of three fields and goes back in the same one; whether there are calls shows in the calls, and
//! not in `finish_reason`.

use super::conversation::{Turn, marked, object, turns};
use super::decoder::Decode;
use super::draft::{Draft, MAX_CALLS, arguments, cut, items, text, tokens};
use super::file::{File, data_url, file};
use super::format::{Encoded, Format, Reasoning, Target, declarations};
use super::responses::effort;
use serde_json::{Map, Value, json};
use toolpost_core::model::{
    Finish, ModelError, Part, Request, Response, Role, Thinking, ToolCall, ToolChoice,
};
use toolpost_core::outcome::Attachment;
use toolpost_declaration::Format as Declared;

const FORMAT: Format = Format::OpenaiChat;

/// The fields in which servers send what a model thought.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];

pub(super) fn encode(target: &Target, request: &Request) -> Result<Encoded, ModelError> {
    let quirks = &target.quirks;
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        let role = if quirks.developer { "developer" } else { "system" };
        messages.push(json!({"role": role, "content": request.system}));
    }
    for turn in turns(&request.messages) {
        match turn.role {
            Role::User => user(target, &turn, &mut messages),
            Role::Assistant => messages.push(assistant(&turn)),
        }
    }
    let mut body = Map::new();
    body.insert("model".into(), target.model.clone().into());
    body.insert("messages".into(), messages.into());
    let (tools, mut left_out) = declarations(&request.tools, Declared::OpenaiChat);
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => _ = body.insert("tool_choice".into(), "none".into()),
            ToolChoice::Required => _ = body.insert("tool_choice".into(), "required".into()),
            ToolChoice::Tool(name) => {
                let choice = json!({"type": "function", "function": {"name": name}});
                body.insert("tool_choice".into(), choice);
            }
        }
    }
    if let Some(tokens) = target.response_limit(request) {
        let key = if quirks.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body.insert(key.into(), tokens.into());
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    if !request.stop.is_empty() {
        body.insert("stop".into(), json!(request.stop));
    }
    if let Some((key, value)) = request.thinking.and_then(|thinking| reasoning(target, thinking)) {
        body.insert(key.into(), value);
    }
    if let Some(schema) = &request.schema {
        let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
        body.insert("response_format".into(), format);
    }
    if let (true, Some(key)) = (quirks.cache_key, &request.cache) {
        body.insert("prompt_cache_key".into(), key.clone().into());
    }
    if request.search {
        left_out.push(("web search".into(), "this format has no search of the provider".into()));
    }
    body.insert("stream".into(), true.into());
    if !quirks.no_stream_usage {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    Ok(Encoded { path: "/chat/completions".into(), headers: Vec::new(), body: body.into(), left_out })
}

fn reasoning(target: &Target, thinking: Thinking) -> Option<(&'static str, Value)> {
    let level = effort(&target.model, thinking);
    match target.quirks.reasoning? {
        Reasoning::Effort => Some(("reasoning_effort", level.into())),
        Reasoning::EffortObject if thinking == Thinking::Off => {
            Some(("reasoning", json!({"enabled": false})))
        }
        Reasoning::EffortObject => Some(("reasoning", json!({"effort": level}))),
        Reasoning::Switch => {
            let kind = if thinking == Thinking::Off { "disabled" } else { "enabled" };
            Some(("thinking", json!({"type": kind})))
        }
        Reasoning::None | Reasoning::Tokens | Reasoning::Adaptive => None,
    }
}

/// The results of calls are messages of their own, and hold text only: their files follow in a message of the user.
fn user(target: &Target, turn: &Turn<'_>, messages: &mut Vec<Value>) {
    let mut content = Vec::new();
    for (call, result) in &turn.results {
        messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": marked(result)}));
        for attachment in &result.attachments {
            content.push(
                json!({"type": "text", "text": format!("{}, from {}:", attachment.filename, call.name)}),
            );
            content.push(file_part(target, attachment));
        }
    }
    content.extend(turn.parts.iter().filter_map(|part| match part.as_ref() {
        Part::Text { text, .. } => Some(json!({"type": "text", "text": text})),
        Part::File(attachment) => Some(file_part(target, attachment)),
        _ => None,
    }));
    // Plain text is what every server understands.
    let is_text = content.iter().all(|part| part["type"] == "text");
    match is_text {
        _ if content.is_empty() => {}
        true => {
            let texts: Vec<&str> = content.iter().map(|part| text(&part["text"])).collect();
            messages.push(json!({"role": "user", "content": texts.join("\n\n")}));
        }
        false => messages.push(json!({"role": "user", "content": content})),
    }
}

fn file_part(target: &Target, attachment: &Attachment) -> Value {
    match file(target, attachment, target.quirks.files) {
        File::Image(data) => {
            json!({"type": "image_url", "image_url": {"url": data_url(&attachment.media_type, data)}})
        }
        File::Document(data) => json!({"type": "file", "file": {"filename": attachment.filename,
            "file_data": data_url(&attachment.media_type, data)}}),
        File::Text(text) => json!({"type": "text", "text": format!("{}:\n{text}", attachment.filename)}),
        File::Note(note) => json!({"type": "text", "text": note}),
    }
}

fn assistant(turn: &Turn<'_>) -> Value {
    let mut said = String::new();
    let mut calls = Vec::new();
    let mut thoughts = Map::new();
    for part in &turn.parts {
        match part.as_ref() {
            Part::Text { text, .. } => said.push_str(text),
            Part::Thinking { text, opaque } => {
                let own = FORMAT.own(opaque.as_ref());
                if let Some(field) = own.and_then(|own| own["field"].as_str()) {
                    thoughts.insert(field.to_owned(), text.clone().into());
                }
                if let Some(details) = own.and_then(|own| own.get("details")) {
                    thoughts.insert("reasoning_details".to_owned(), details.clone());
                }
            }
            Part::ToolCall(call) => calls.push(json!({"id": call.id, "type": "function",
                "function": {"name": call.name, "arguments": object(&call.arguments).to_string()}})),
            _ => {}
        }
    }
    let content = if said.is_empty() { Value::Null } else { said.into() };
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    message.insert("content".into(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
        // Some servers insist on the thoughts that led to a call; others refuse them elsewhere.
        message.extend(thoughts);
    } else if message["content"].is_null() {
        message.insert("content".into(), "".into());
    }
    message.into()
}

/// Why a response ended, by the words of the many servers. One that says something else must not be taken for complete.
fn ended_by(reason: &str) -> Finish {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "tool_calls" | "tool_use" | "function_call" | "eos" | "eos_token" | "end_turn"
        | "stop_sequence" | "complete" | "completed" => Finish::Stop,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
            Finish::Length
        }
        "content_filter" | "safety" | "sensitive" | "guardrail_intervened" => Finish::Blocked,
        "refusal" => Finish::Refusal,
        _ => Finish::Other,
    }
}

/// What comes back.
pub(super) struct Stream {
    draft: Draft,
    said: String,
    thought: String,
    /// The field in which the thoughts came.
    field: Option<&'static str>,
    details: Vec<Value>,
    refusal: String,
    calls: Vec<Call>,
}

#[derive(Default)]
struct Call {
    index: Option<u64>,
    /// The id as the server wrote it.
    given: String,
    id: String,
    name: String,
    arguments: String,
}

impl Call {
    fn is_complete(&self) -> bool {
        !self.arguments.trim().is_empty() && serde_json::from_str::<Value>(&self.arguments).is_ok()
    }
}

impl Stream {
    pub(super) fn new(draft: Draft) -> Stream {
        Stream {
            draft,
            said: String::new(),
            thought: String::new(),
            field: None,
            details: Vec::new(),
            refusal: String::new(),
            calls: Vec::new(),
        }
    }

    /// A delta, or the whole message of a response that was not streamed.
    fn message(&mut self, message: &Value) -> Result<(), ModelError> {
        if let Some(field) = THOUGHTS.into_iter().find(|field| message[*field].is_string())
            && *self.field.get_or_insert(field) == field
        {
            let more = text(&message[field]);
            self.thought.push_str(more);
            self.draft.think(more);
        }
        let room = 4_096_usize.saturating_sub(self.details.len());
        self.details.extend(items(&message["reasoning_details"]).iter().take(room).cloned());
        match &message["content"] {
            Value::String(more) => {
                self.said.push_str(more);
                self.draft.say(more);
            }
            // Some servers send a list of parts.
            parts => {
                for part in items(parts) {
                    let more = text(&part["text"]);
                    self.said.push_str(more);
                    self.draft.say(more);
                }
            }
        }
        self.refusal.push_str(text(&message["refusal"]));
        for note in items(&message["annotations"]) {
            let citation = &note["url_citation"];
            self.draft.source(text(&citation["url"]), text(&citation["title"]), text(&citation["content"]));
        }
        for call in items(&message["tool_calls"]) {
            self.call(call);
        }
        Ok(())
    }

    fn call(&mut self, delta: &Value) {
        let function = if delta["function"].is_object() { &delta["function"] } else { delta };
        let (index, given, name) = (delta["index"].as_u64(), text(&delta["id"]), text(&function["name"]));
        let more = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let place = match self.find(index, given, name, &more) {
            Some(place) => place,
            None => {
                let id = self.draft.begin_call(given, name);
                // Of the calls that are too many only the last one is kept, until it is known to have ended.
                if self.calls.len() > MAX_CALLS {
                    self.calls.pop();
                    self.draft.surplus_calls += 1;
                }
                self.calls.push(Call { index, given: given.to_owned(), id, ..Call::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[place];
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        call.arguments.push_str(&more);
    }

    /// The call that a delta continues; none if it begins one.
    fn find(&self, index: Option<u64>, given: &str, name: &str, more: &str) -> Option<usize> {
        let place = match index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index))?,
            None if !given.is_empty() => self.calls.iter().rposition(|call| call.given == given)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls[place];
        // A name begins a call, but some servers repeat it with every piece, and some number all calls alike.
        let has_other_id = !given.is_empty() && !call.given.is_empty() && given != call.given;
        let begins = !name.is_empty()
            && !call.name.is_empty()
            && (has_other_id
                || (!more.is_empty() && call.is_complete())
                || (index.is_none() && given.is_empty()));
        (!begins).then_some(place)
    }

    fn usage(&mut self, usage: &Value) {
        if !usage["prompt_tokens"].is_number() && !usage["completion_tokens"].is_number() {
            return;
        }
        let draft = &mut self.draft.usage;
        draft.input = tokens(&usage["prompt_tokens"]);
        draft.output = tokens(&usage["completion_tokens"]);
        let details = &usage["prompt_tokens_details"];
        let hits = [&details["cached_tokens"], &usage["prompt_cache_hit_tokens"], &usage["cached_tokens"]];
        draft.cached = hits.into_iter().map(tokens).max().unwrap_or(0).min(draft.input);
        draft.cache_write = tokens(&details["cache_write_tokens"]).min(draft.input - draft.cached);
        draft.reasoning = tokens(&usage["completion_tokens_details"]["reasoning_tokens"]).min(draft.output);
    }
}

impl Decode for Stream {
    fn take(&mut self, value: &Value) -> Result<(), ModelError> {
        if let Some(model) = value["model"].as_str().filter(|model| !model.is_empty()) {
            self.draft.model = Some(model.to_owned());
        }
        self.usage(&value["x_groq"]["usage"]);
        self.usage(&value["usage"]);
        let choice = &value["choices"][0];
        for message in [&choice["delta"], &choice["message"]] {
            self.message(message)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            self.draft.finish_raw = Some(reason.to_owned());
        }
        Ok(())
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn finish(mut self: Box<Self>) -> Result<Response, ModelError> {
        let finish = match &self.draft.finish_raw {
            None => return Err(cut("no `finish_reason` came")),
            Some(reason) => ended_by(reason),
        };
        let mut opaque = Map::new();
        if let Some(field) = self.field {
            opaque.insert("field".into(), field.into());
        }
        if !self.details.is_empty() {
            opaque.insert("details".into(), std::mem::take(&mut self.details).into());
        }
        if !self.thought.is_empty() || opaque.contains_key("details") {
            let opaque = Some(FORMAT.opaque(opaque.into()));
            self.draft.push(Part::Thinking { text: std::mem::take(&mut self.thought), opaque })?;
        }
        self.draft.push(Part::text(std::mem::take(&mut self.said)))?;
        for call in std::mem::take(&mut self.calls) {
            let Call { id, name, arguments: given, .. } = call;
            let arguments = arguments(&given, finish == Finish::Length);
            self.draft.push(Part::ToolCall(ToolCall { id, name, arguments, opaque: None }))?;
        }
        let is_refused = !self.refusal.is_empty();
        if is_refused {
            self.draft.note = Some(std::mem::take(&mut self.refusal));
        }
        Ok(self.draft.finish(if is_refused { Finish::Refusal } else { finish }))
    }
}
