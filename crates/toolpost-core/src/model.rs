//! A language model: what it is asked, what it streams, and what it answered.
//!
//! Provider-neutral words only. How a provider writes them on its wire, and how requests are sent, retried and paid for,
//! is the business of the crate that implements [`Model`].

use crate::error::{Code, ToolError};
use crate::outcome::Attachment;
use crate::tool::Definition;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A language model. Implemented for providers and for scripts; called by the kernel and by tools that need a model.
///
/// The stream ends with [`Delta::Done`] or with an error, and with nothing after it. A caller acts on `Done` only: what
/// was streamed before is for people who watch, and a [`Delta::Retry`] takes it back. Dropping the stream, like
/// cancelling, ends the request.
pub trait Model: Send + Sync {
    /// What is known of the model without asking it.
    fn profile(&self) -> &Profile;

    /// Asks the model.
    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>>;
}

/// What is known of a model without asking it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Profile {
    /// The vendor's name, by which the user chose it: `anthropic`, `ollama`, `script`.
    pub vendor: String,
    /// The model's name, as the vendor knows it.
    pub model: String,
    /// The family of wire format, which is also the provider that tools may be meant for: `gemini`, `anthropic`, `openai`.
    pub provider: String,
    /// The dialect in which tools are offered, if it has one.
    pub dialect: Option<String>,
    /// Maximum number of tokens of a request and its response together.
    pub context_tokens: Option<u64>,
    /// Maximum number of tokens of a response.
    pub output_tokens: Option<u64>,
    /// What it costs; none where that is not known.
    pub price: Option<Price>,
    /// Whether it accepts images.
    pub images: bool,
    /// Whether its provider can search the web for it.
    pub search: bool,
    /// Whether it reads the data of results, beside their text. A script does.
    pub reads_data: bool,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Of the request.
    pub input: f64,
    /// Of the request, where the provider had it in its cache; `input` where it is not known.
    pub cached: Option<f64>,
    /// Of the request, where the provider put it into its cache; `input` where it is not known.
    pub cache_write: Option<f64>,
    /// Of the response, thinking included.
    pub output: f64,
    /// Other prices, for a request of more than so many tokens.
    pub above: Option<Box<(u64, Price)>>,
}

impl Price {
    /// What so many tokens cost, in US dollars.
    pub fn of(&self, usage: &Usage) -> f64 {
        if let Some((_, price)) = self.above.as_deref().filter(|(tokens, _)| usage.input > *tokens) {
            return price.of(usage);
        }
        let plain = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_write);
        let sum = plain as f64 * self.input
            + usage.cached as f64 * self.cached.unwrap_or(self.input)
            + usage.cache_write as f64 * self.cache_write.unwrap_or(self.input)
            + usage.output as f64 * self.output;
        sum / 1e6
    }
}

/// What a model is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Instructions that come before all messages.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools on offer. The model's provider gets them in its own form.
    pub tools: Arc<[Definition]>,
    /// Whether a tool must or must not be called.
    pub tool_choice: ToolChoice,
    /// Maximum number of tokens of the response.
    pub max_output_tokens: Option<u64>,
    /// How much chance there is in the response, from 0.
    pub temperature: Option<f64>,
    /// Texts that end the response.
    pub stop: Vec<String>,
    /// How long the model thinks; none leaves it to the provider.
    pub thinking: Option<Thinking>,
    /// Let the provider search the web.
    pub search: bool,
    /// JSON schema of the response, where the response is to be data.
    pub schema: Option<Value>,
    /// A name that requests with the same beginning share, so that the provider can keep that beginning in a cache.
    pub cache: Option<String>,
}

/// Whether a tool must or must not be called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool, though the declarations are sent.
    None,
    /// Any tool, but at least one.
    Required,
    /// This tool.
    Tool(String),
}

/// How long a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Thinking {
    /// Not at all, or as little as the model can.
    Off,
    /// A little.
    Low,
    /// Somewhat.
    Medium,
    /// Much.
    High,
    /// At most so many tokens.
    Tokens(u64),
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who said it. The results of tools are the user's.
    pub role: Role,
    /// What was said, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A text of the user.
    pub fn user(text: impl Into<String>) -> Message {
        Message { role: Role::User, parts: vec![Part::text(text)] }
    }
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The person, or the program, that asks.
    User,
    /// The model.
    Assistant,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What the provider wants back with it.
        opaque: Option<Opaque>,
    },
    /// What the model thought, as far as the provider shows it.
    Thinking {
        /// The text; it may be empty.
        text: String,
        /// What the provider wants back with it.
        opaque: Option<Opaque>,
    },
    /// An image or another file.
    File(Attachment),
    /// A call that the model asks for.
    ToolCall(ToolCall),
    /// What came of a call.
    ToolResult(ToolResult),
    /// Something that only its provider understands: hidden thinking, a search that it made.
    Opaque(Opaque),
}

impl Part {
    /// A text and nothing with it.
    pub fn text(text: impl Into<String>) -> Part {
        Part::Text { text: text.into(), opaque: None }
    }
}

/// What a provider wants back unchanged. It is sent back in the wire format that it came in, and left out in others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    /// The wire format.
    pub format: String,
    /// What was sent.
    pub value: Value,
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id, unique within the response.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
    /// What the provider wants back with it.
    pub opaque: Option<Opaque>,
}

/// The arguments of a call, as far as they can be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Arguments {
    /// JSON, in most cases an object.
    Json(Value),
    /// Text that is not JSON: cut off by a token limit, or wrong. Such a call is answered, and never run.
    Unparsable(String),
}

/// What came of a call, as the model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The text.
    pub text: String,
    /// Images and other files.
    pub attachments: Vec<Attachment>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Why it failed, where a tool or the policy said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// What the call returned for programs, where [`Profile::reads_data`]. No provider is sent it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// Something that a model streams.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More of the text.
    Text(String),
    /// More of what it thinks.
    Thinking(String),
    /// A call has begun; its arguments follow with `Done`.
    ToolCall {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// The request failed and is made again. Everything streamed before is void.
    Retry {
        /// The attempt that failed, from 1.
        attempt: u32,
        /// How long until the next one, in milliseconds.
        delay_ms: u64,
        /// Why.
        error: ModelError,
    },
    /// The whole response.
    Done(Box<Response>),
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// What was said, in order. As a message of the assistant it belongs into the next request.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub finish: Finish,
    /// The same in the provider's words.
    pub finish_raw: Option<String>,
    /// What the provider adds to that: the text of a refusal, why the request was blocked.
    pub note: Option<String>,
    /// Tokens.
    pub usage: Usage,
    /// What the provider searched for.
    pub queries: Vec<String>,
    /// What it found and used.
    pub sources: Vec<SearchSource>,
    /// The model that answered, where the provider says so.
    pub model: Option<String>,
    /// Calls that it asked for and that are not among the parts, because there were too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub surplus_calls: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Response {
    /// Its text, without what was thought.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls that it asks for. Where it ended by [`Finish::Malformed`], none of them is to be run.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// Why a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Finish {
    /// It is complete.
    Stop,
    /// It waits for the results of calls.
    ToolCalls,
    /// It reached a limit of tokens. Calls whose arguments can be read are complete.
    Length,
    /// The model refused.
    Refusal,
    /// The provider withheld the response or refused the request.
    Blocked,
    /// The provider paused its own work: the same conversation with this response goes on.
    Paused,
    /// The model wrote a call that the provider could not read, or one of a tool that was not offered.
    Malformed,
    /// Something else; the response says what.
    Other,
}

/// Tokens of a request and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Of the request, cached ones included.
    pub input: u64,
    /// Of these, read from the provider's cache.
    pub cached: u64,
    /// Of these, written to the provider's cache.
    pub cache_write: u64,
    /// Of the response, thinking included.
    pub output: u64,
    /// Of these, for thinking.
    pub reasoning: u64,
    /// Whether they are estimated, at least in part, because the provider did not count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Usage {
    /// Whether nothing was used.
    pub fn is_nothing(&self) -> bool {
        *self == Usage::default()
    }

    /// Both together.
    pub fn plus(&self, other: &Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            estimated: self.estimated || other.estimated,
        }
    }
}

/// A page that a search of the provider found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSource {
    /// Its title; with some providers its domain.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What the response says by it, or what it says itself; it may be empty.
    pub snippet: String,
}

/// Why a model gave no response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelError {
    /// What happened.
    pub kind: ModelErrorKind,
    /// What failed, with which value, and what to try next. Free of credentials.
    pub message: String,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// The provider's own name for it.
    pub code: Option<String>,
    /// When the provider wants to be asked again, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// Of a script: the code of the call by which it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_call: Option<Code>,
}

/// What callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// No key, or one that the provider does not accept.
    Authentication,
    /// The provider refuses the request.
    Invalid,
    /// There is no such model.
    NotFound,
    /// The conversation is longer than the model's window.
    TooLong,
    /// Too many requests or tokens, or no credit.
    RateLimited,
    /// The provider failed or is overloaded.
    Server,
    /// The provider cannot be reached, or the stream was cut.
    Network,
    /// Nothing came in time.
    TimedOut,
    /// What came cannot be understood, or is larger than allowed.
    Protocol,
    /// The caller cancelled.
    Cancelled,
}

impl ModelError {
    /// An error that is not worth another try.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        let message = message.into();
        ModelError {
            kind,
            message,
            status: None,
            code: None,
            retry_after_ms: None,
            retryable: false,
            of_call: None,
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

impl From<ModelError> for ToolError {
    fn from(error: ModelError) -> ToolError {
        let code = match error.kind {
            ModelErrorKind::Cancelled => Code::Cancelled,
            ModelErrorKind::TimedOut => Code::Timeout,
            _ => Code::ModelError,
        };
        let failed = ToolError::new(code, error.message);
        match (error.retryable, error.retry_after_ms) {
            (false, _) => failed,
            (true, None) => failed.retryable(),
            (true, Some(pause)) => failed.retryable_after(Duration::from_millis(pause)),
        }
    }
}
