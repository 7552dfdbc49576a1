//! A response while it comes in: what the decoders of all formats share.

use super::format::Format;
use super::surrogates::Surrogates;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use toolpost_core::model::{
    Arguments, Delta, Finish, ModelError, ModelErrorKind, Part, Response, SearchSource, ToolCall, Usage,
};

/// Maximum number of parts of a response, calls included.
const MAX_PARTS: usize = 4_096;
/// Maximum number of calls of a response that are kept; the others are counted.
pub(super) const MAX_CALLS: usize = 128;
/// Maximum number of search results and queries that are kept.
const MAX_SOURCES: usize = 256;

/// The words of providers for an end with a call.
const CALL_ENDS: [&str; 4] = ["tool_calls", "tool_use", "function_call", "FUNCTION_CALL"];
/// What is wrong with such an end without a call. A server that cannot parse a call sends this.
const LOST_CALL: &str = "it announces a call of a tool and has none";

/// A response in the making, and what of it has not been handed out yet.
pub(super) struct Draft {
    format: Format,
    /// Which turn of the conversation this is; makes invented ids unique among turns.
    turn: usize,
    ids: HashSet<String>,
    /// The ids that calls came with, by those that they got instead because another call had them.
    renamed: HashMap<String, String>,
    /// Calls that have begun.
    calls: usize,
    /// Calls among the parts.
    kept_calls: usize,
    /// Calls that are not among the parts because there were too many.
    pub(super) surplus_calls: u64,
    pub(super) parts: Vec<Part>,
    pub(super) deltas: Vec<Delta>,
    pub(super) finish_raw: Option<String>,
    pub(super) note: Option<String>,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    queries: Vec<String>,
    sources: Vec<SearchSource>,
    /// The response has ended; what comes after is not looked at.
    pub(super) is_done: bool,
}

impl Draft {
    pub(super) fn new(format: Format, turn: usize) -> Draft {
        Draft {
            format,
            turn,
            ids: HashSet::new(),
            renamed: HashMap::new(),
            calls: 0,
            kept_calls: 0,
            surplus_calls: 0,
            parts: Vec::new(),
            deltas: Vec::new(),
            finish_raw: None,
            note: None,
            usage: Usage::default(),
            model: None,
            queries: Vec::new(),
            sources: Vec::new(),
            is_done: false,
        }
    }

    pub(super) fn push(&mut self, part: Part) -> Result<(), ModelError> {
        if matches!(part, Part::ToolCall(_)) {
            if self.kept_calls >= MAX_CALLS {
                self.surplus_calls += 1;
                return Ok(());
            }
            self.kept_calls += 1;
        }
        if self.parts.len() >= MAX_PARTS {
            return Err(hostile(format!("a response of more than {MAX_PARTS} parts")));
        }
        self.parts.push(part);
        Ok(())
    }

    /// More text, with what must be sent back with it. Text with something opaque stays a part of its own.
    pub(super) fn text(&mut self, more: &str, opaque: Option<Value>) -> Result<(), ModelError> {
        self.say(more);
        match (self.parts.last_mut(), &opaque) {
            (Some(Part::Text { text, opaque: None }), None) => text.push_str(more),
            (_, None) if more.is_empty() => {}
            _ => {
                let opaque = opaque.map(|value| self.format.opaque(value));
                self.push(Part::Text { text: more.to_owned(), opaque })?;
            }
        }
        Ok(())
    }

    /// More of what the model thinks.
    pub(super) fn thinking(&mut self, more: &str, opaque: Option<Value>) -> Result<(), ModelError> {
        self.think(more);
        match (self.parts.last_mut(), &opaque) {
            (Some(Part::Thinking { text, opaque: None }), None) => text.push_str(more),
            (_, None) if more.is_empty() => {}
            _ => {
                let opaque = opaque.map(|value| self.format.opaque(value));
                self.push(Part::Thinking { text: more.to_owned(), opaque })?;
            }
        }
        Ok(())
    }

    pub(super) fn opaque(&mut self, value: Value) -> Result<(), ModelError> {
        let opaque = self.format.opaque(value);
        self.push(Part::Opaque(opaque))
    }

    /// Hands out text that is kept elsewhere.
    pub(super) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.deltas.push(Delta::Text(text.to_owned()));
        }
    }

    /// Hands out thinking that is kept elsewhere.
    pub(super) fn think(&mut self, text: &str) {
        if !text.is_empty() {
            self.deltas.push(Delta::Thinking(text.to_owned()));
        }
    }

    /// Hands out that a call has begun, and gives the id that it has from now on: its own, or another one if it has none
    /// or has one that was used before.
    pub(super) fn begin_call(&mut self, id: &str, name: &str) -> String {
        self.calls += 1;
        let mut unique = id.to_owned();
        let mut number = self.calls;
        while unique.is_empty() || !self.ids.insert(unique.clone()) {
            unique = format!("call_{}_{number}", self.turn);
            number += 1;
        }
        if !id.is_empty() && unique != id {
            self.renamed.insert(unique.clone(), id.to_owned());
        }
        if self.calls <= MAX_CALLS {
            self.deltas.push(Delta::ToolCall { id: unique.clone(), name: name.to_owned() });
        }
        unique
    }

    /// A whole call.
    pub(super) fn call(
        &mut self,
        id: &str,
        name: &str,
        arguments: Arguments,
        opaque: Option<Value>,
    ) -> Result<(), ModelError> {
        let id = self.begin_call(id, name);
        let opaque = opaque.map(|value| self.format.opaque(value));
        self.push(Part::ToolCall(ToolCall { id, name: name.to_owned(), arguments, opaque }))
    }

    pub(super) fn query(&mut self, query: &str) {
        let is_new = !self.queries.iter().any(|known| known == query);
        if is_new && !query.is_empty() && self.queries.len() < MAX_SOURCES {
            self.queries.push(query.to_owned());
        }
    }

    /// A page that was found. Known by its address; a later mention may add what it says.
    pub(super) fn source(&mut self, url: &str, title: &str, snippet: &str) {
        if url.is_empty() {
            return;
        }
        if let Some(known) = self.sources.iter_mut().find(|known| known.url == url) {
            if known.snippet.is_empty() {
                snippet.clone_into(&mut known.snippet);
            }
        } else if self.sources.len() < MAX_SOURCES {
            let (title, url, snippet) = (title.to_owned(), url.to_owned(), snippet.to_owned());
            self.sources.push(SearchSource { title, url, snippet });
        }
    }

    /// Forgets the searches so far, because the provider now lists all of them.
    pub(super) fn clear_search(&mut self) {
        self.queries.clear();
        self.sources.clear();
    }

    /// Whether one more call would not be kept.
    pub(super) fn is_full_of_calls(&self) -> bool {
        self.calls >= MAX_CALLS
    }

    pub(super) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::ToolCall(_)))
    }

    /// The response, complete.
    pub(super) fn finish(mut self, finish: Finish) -> Response {
        self.parts.retain(|part| match part {
            Part::Text { text, opaque } | Part::Thinking { text, opaque } => {
                !text.is_empty() || opaque.is_some()
            }
            _ => true,
        });
        self.drop_repeated_calls();
        let announces_call = self.finish_raw.as_deref().is_some_and(|raw| CALL_ENDS.contains(&raw));
        let finish = match finish {
            Finish::Stop | Finish::ToolCalls if self.has_calls() => Finish::ToolCalls,
            Finish::Stop if announces_call => {
                self.note.get_or_insert_with(|| LOST_CALL.to_owned());
                Finish::Other
            }
            Finish::ToolCalls => Finish::Stop,
            other => other,
        };
        Response {
            parts: self.parts,
            finish,
            finish_raw: self.finish_raw,
            note: self.note,
            usage: self.usage,
            queries: self.queries,
            sources: self.sources,
            model: self.model,
            surplus_calls: self.surplus_calls,
        }
    }
}

impl Draft {
    /// Drops calls that were delivered twice: with the id, the name and the arguments of one before. Calls that share
    /// nothing but their id are different ones, of a server that counts badly.
    fn drop_repeated_calls(&mut self) {
        let calls: Vec<ToolCall> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::ToolCall(call) => Some(call.clone()),
                _ => None,
            })
            .collect();
        let is_repeated = |call: &ToolCall| {
            let original = self.renamed.get(&call.id);
            let is_same = |known: &ToolCall| {
                Some(&known.id) == original && known.name == call.name && known.arguments == call.arguments
            };
            original.is_some() && calls.iter().any(is_same)
        };
        self.parts.retain(|part| !matches!(part, Part::ToolCall(call) if is_repeated(call)));
    }
}

/// Arguments that came as text. No text at all means no arguments, unless the response was cut off.
pub(super) fn arguments(text: &str, is_cut: bool) -> Arguments {
    if text.trim().is_empty() && !is_cut {
        return Arguments::Json(Value::Object(serde_json::Map::new()));
    }
    match Surrogates::default().parse(text.as_bytes()) {
        Ok(value) => Arguments::Json(value),
        Err(_) => Arguments::Unparsable(text.to_owned()),
    }
}

/// A number of tokens; none counts as zero.
pub(super) fn tokens(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_f64().map(|number| number.max(0.0) as u64)).unwrap_or(0)
}

/// A text; none counts as empty.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The items of a list; none counts as an empty list.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The stream breaks a limit.
pub(super) fn hostile(what: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, format!("the provider sent {}", what.into()))
}

/// The stream ended too early.
pub(super) fn cut(what: &str) -> ModelError {
    let message = format!("the response ended before it was complete: {what}");
    ModelError { retryable: true, ..ModelError::new(ModelErrorKind::Network, message) }
}
