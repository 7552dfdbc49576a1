//! Ollama: `api/chat` and its stream of JSON lines.
//!
//! Beside the compatible format this one can say how large the window must be: without that, Ollama drops the beginning
//! of a long conversation without a word.

use super::conversation::{Turn, marked, object, turns};
use super::decoder::Decode;
use super::draft::{Draft, arguments, cut, items, text, tokens};
use super::file::{File, file};
use super::format::{Encoded, Target, declarations};
use serde_json::{Map, Value, json};
use toolpost_core::model::{
    Arguments, Finish, ModelError, Part, Request, Response, Role, Thinking, ToolChoice,
};
use toolpost_core::outcome::Attachment;
use toolpost_declaration::Format as Declared;

pub(super) fn encode(target: &Target, request: &Request) -> Result<Encoded, ModelError> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for turn in turns(&request.messages) {
        match turn.role {
            Role::User => user(target, &turn, &mut messages),
            Role::Assistant => messages.push(assistant(&turn)),
        }
    }
    let (tools, mut left_out) = declarations(&request.tools, Declared::OpenaiChat);
    let mut body = Map::new();
    body.insert("model".into(), target.model.clone().into());
    body.insert("messages".into(), messages.into());
    if !tools.is_empty() && request.tool_choice != ToolChoice::None {
        body.insert("tools".into(), tools.into());
    }
    let mut options = Map::new();
    let pairs = [("num_ctx", target.context_tokens), ("num_predict", target.response_limit(request))];
    options.extend(pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))));
    if let Some(temperature) = request.temperature {
        options.insert("temperature".into(), temperature.into());
    }
    if !request.stop.is_empty() {
        options.insert("stop".into(), json!(request.stop));
    }
    if !options.is_empty() {
        body.insert("options".into(), options.into());
    }
    // Asked for thinking, a model that cannot think is an error.
    if let Some(thinking) = request.thinking {
        body.insert("think".into(), (thinking != Thinking::Off).into());
    }
    if let Some(schema) = &request.schema {
        body.insert("format".into(), schema.clone());
    }
    if request.search {
        left_out.push(("web search".into(), "this format has no search of the provider".into()));
    }
    body.insert("stream".into(), true.into());
    Ok(Encoded { path: "/chat".into(), headers: Vec::new(), body: body.into(), left_out })
}

fn user(target: &Target, turn: &Turn<'_>, messages: &mut Vec<Value>) {
    for (call, result) in &turn.results {
        let message = json!({"role": "tool", "tool_name": call.name, "content": marked(result)});
        messages.push(with_files(target, message, result.attachments.iter()));
    }
    let texts: Vec<&str> = turn
        .parts
        .iter()
        .filter_map(|part| match part.as_ref() {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let files = turn.parts.iter().filter_map(|part| match part.as_ref() {
        Part::File(attachment) => Some(attachment),
        _ => None,
    });
    if !turn.parts.is_empty() {
        messages.push(with_files(target, json!({"role": "user", "content": texts.join("\n\n")}), files));
    }
}

fn with_files<'a>(target: &Target, mut message: Value, files: impl Iterator<Item = &'a Attachment>) -> Value {
    let mut images = Vec::new();
    let mut content = text(&message["content"]).to_owned();
    for attachment in files {
        match file(target, attachment, false) {
            File::Image(data) => images.push(data.to_owned()),
            File::Text(more) => content.push_str(&format!("\n{}:\n{more}", attachment.filename)),
            File::Note(note) => content.push_str(&format!("\n{note}")),
            File::Document(_) => {}
        }
    }
    message["content"] = content.into();
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}

fn assistant(turn: &Turn<'_>) -> Value {
    let (mut said, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
    for part in &turn.parts {
        match part.as_ref() {
            Part::Text { text, .. } => said.push_str(text),
            Part::Thinking { text, .. } => thought.push_str(text),
            Part::ToolCall(call) => {
                calls.push(json!({"function": {"name": call.name, "arguments": object(&call.arguments)}}));
            }
            _ => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": said});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
        if !thought.is_empty() {
            message["thinking"] = thought.into();
        }
    }
    message
}

/// What comes back.
pub(super) struct Stream {
    draft: Draft,
    has_ended: bool,
}

impl Stream {
    pub(super) fn new(draft: Draft) -> Stream {
        Stream { draft, has_ended: false }
    }
}

impl Decode for Stream {
    fn take(&mut self, value: &Value) -> Result<(), ModelError> {
        if let Some(model) = value["model"].as_str() {
            self.draft.model = Some(model.to_owned());
        }
        let message = &value["message"];
        self.draft.thinking(text(&message["thinking"]), None)?;
        self.draft.text(text(&message["content"]), None)?;
        for call in items(&message["tool_calls"]) {
            let function = &call["function"];
            let arguments = match &function["arguments"] {
                Value::String(given) => arguments(given, false),
                Value::Null => Arguments::Json(json!({})),
                other => Arguments::Json(other.clone()),
            };
            self.draft.call(text(&call["id"]), text(&function["name"]), arguments, None)?;
        }
        if value["done"] == true {
            self.has_ended = true;
            self.draft.finish_raw = value["done_reason"].as_str().map(str::to_owned);
            self.draft.usage.input = tokens(&value["prompt_eval_count"]);
            self.draft.usage.output = tokens(&value["eval_count"]);
            self.draft.is_done = true;
        }
        Ok(())
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn finish(self: Box<Self>) -> Result<Response, ModelError> {
        if !self.has_ended {
            return Err(cut("no line with `done` came"));
        }
        let finish = match self.draft.finish_raw.as_deref() {
            Some("stop") | None => Finish::Stop,
            Some("length") => Finish::Length,
            Some(_) => Finish::Other,
        };
        Ok(self.draft.finish(finish))
    }
}
