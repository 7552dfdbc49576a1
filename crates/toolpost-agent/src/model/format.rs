//! The wire formats, and what a request is in one of them.

use super::{anthropic, chat, gemini, names, ollama, responses};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolpost_core::model::{ModelError, Opaque, Request};
use toolpost_core::tool::Definition;
use toolpost_declaration::{Format as Declared, Source, export};

/// How requests and responses are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `generateContent` of Gemini.
    Gemini,
    /// `messages` of Anthropic.
    Anthropic,
    /// `responses` of OpenAI.
    OpenaiResponses,
    /// `chat/completions` of OpenAI, and of the many servers that speak it too.
    OpenaiChat,
    /// `api/chat` of Ollama.
    Ollama,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] =
        [Format::Gemini, Format::Anthropic, Format::OpenaiResponses, Format::OpenaiChat, Format::Ollama];

    /// Its name, as the catalog and the event log write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Gemini => "gemini",
            Format::Anthropic => "anthropic",
            Format::OpenaiResponses => "openai-responses",
            Format::OpenaiChat => "openai-chat",
            Format::Ollama => "ollama",
        }
    }

    /// The provider that tools may be meant for.
    pub fn provider(self) -> &'static str {
        match self {
            Format::Gemini => "gemini",
            Format::Anthropic => "anthropic",
            Format::OpenaiResponses | Format::OpenaiChat | Format::Ollama => "openai",
        }
    }

    /// The header that carries the key, and what stands before the key in it.
    pub fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Format::Gemini => ("x-goog-api-key", ""),
            Format::Anthropic => ("x-api-key", ""),
            Format::OpenaiResponses | Format::OpenaiChat | Format::Ollama => ("authorization", "Bearer "),
        }
    }

    /// What is to be sent back in this format.
    pub(super) fn opaque(self, value: Value) -> Opaque {
        Opaque { format: self.as_str().to_owned(), value }
    }

    /// What was received in this format and is sent back in it; nothing of another format.
    pub(super) fn own(self, opaque: Option<&Opaque>) -> Option<&Value> {
        opaque.filter(|opaque| opaque.format == self.as_str()).map(|opaque| &opaque.value)
    }
}

/// The model that a request is written for.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The wire format.
    pub format: Format,
    /// The model's name, as the vendor knows it.
    pub model: String,
    /// Maximum number of tokens of a response, where it is known.
    pub output_tokens: Option<u64>,
    /// Maximum number of tokens of request and response, where it is known.
    pub context_tokens: Option<u64>,
    /// Whether the model accepts images.
    pub images: bool,
    /// In what the vendor differs from its format.
    pub quirks: Quirks,
}

impl Target {
    /// A model of which nothing but its name is known.
    pub fn new(format: Format, model: impl Into<String>) -> Target {
        let quirks = Quirks::default();
        Target {
            format,
            model: model.into(),
            output_tokens: None,
            context_tokens: None,
            images: true,
            quirks,
        }
    }

    /// The limit of a response that a server has to be sent, because it may have none of its own: that of the request, else
    /// that of the model. The latter only where the kernel leaves room for it, because some servers refuse a request that could
    /// become longer than their window.
    pub(super) fn response_limit(&self, request: &Request) -> Option<u64> {
        let leaves_room = |output: &u64| self.context_tokens.is_some_and(|window| *output <= window / 4);
        request.max_output_tokens.or_else(|| self.output_tokens.filter(leaves_room))
    }
}

/// In what a vendor differs from the format that it speaks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Quirks {
    /// The limit of the response is called `max_completion_tokens`.
    pub completion_tokens: bool,
    /// Instructions come from a `developer` instead of a `system`.
    pub developer: bool,
    /// Tokens are not reported at the end of a stream, and a request for them is refused.
    pub no_stream_usage: bool,
    /// The vendor takes a key under which it caches the beginning of a conversation.
    pub cache_key: bool,
    /// Files other than images are accepted.
    pub files: bool,
    /// Schemas are written in the subset of OpenAPI that older models need.
    pub plain_schema: bool,
    /// How thinking is asked for; what the format and the model's name suggest, if the row says nothing.
    pub reasoning: Option<Reasoning>,
}

/// How thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reasoning {
    /// It cannot be asked for.
    None,
    /// By a level: low, medium, high.
    Effort,
    /// By a level, in an object of its own.
    EffortObject,
    /// By a switch.
    Switch,
    /// By a number of tokens.
    Tokens,
    /// By a level, and the model decides when.
    Adaptive,
}

/// A request in its wire format.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// Where it goes, from the vendor's base URL.
    pub path: String,
    /// Headers, apart from the one with the key.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body.
    pub body: Value,
    /// What could not be sent, each with the reason: tools that the provider would refuse, a search that it cannot make.
    pub left_out: Vec<(String, String)>,
}

/// Writes a request in the wire format of its target.
pub fn encode(target: &Target, request: &Request) -> Result<Encoded, ModelError> {
    let request = &names::legal(request);
    match target.format {
        Format::Gemini => gemini::encode(target, request),
        Format::Anthropic => anthropic::encode(target, request),
        Format::OpenaiResponses => responses::encode(target, request),
        Format::OpenaiChat => chat::encode(target, request),
        Format::Ollama => ollama::encode(target, request),
    }
}

/// The declarations of tools in a provider's form, and those that it would refuse.
pub(super) fn declarations(tools: &[Definition], format: Declared) -> (Vec<Value>, Vec<(String, String)>) {
    let (list, refused) = export(tools.iter().map(Source::of), format);
    let list = match list {
        Value::Array(list) => list,
        _ => Vec::new(),
    };
    (list, refused.into_iter().map(|(name, refusal)| (name, refusal.to_string())).collect())
}
