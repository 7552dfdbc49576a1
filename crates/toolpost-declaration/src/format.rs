//! The formats in which tools are declared.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use toolpost_core::Context;

/// Who is to read a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `tools/list` of the Model Context Protocol.
    Mcp,
    /// OpenAI Chat Completions, not strict.
    OpenaiChat,
    /// OpenAI Responses, not strict.
    OpenaiResponses,
    /// OpenAI Responses, strict wherever the schema fits.
    OpenaiStrict,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `parameters`: the OpenAPI 3.0 subset, which every endpoint knows.
    Gemini,
    /// Gemini `parametersJsonSchema`, which newer endpoints know.
    GeminiJsonSchema,
    /// The arguments of LangChain's `StructuredTool`.
    Langchain,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 8] = [
        Format::Mcp,
        Format::OpenaiChat,
        Format::OpenaiResponses,
        Format::OpenaiStrict,
        Format::Anthropic,
        Format::Gemini,
        Format::GeminiJsonSchema,
        Format::Langchain,
    ];

    /// The word used on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Mcp => "mcp",
            Format::OpenaiChat => "openai-chat",
            Format::OpenaiResponses => "openai-responses",
            Format::OpenaiStrict => "openai-strict",
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::GeminiJsonSchema => "gemini-json-schema",
            Format::Langchain => "langchain",
        }
    }

    /// The provider whose models read it; none where any may.
    pub fn provider(self) -> Option<&'static str> {
        match self {
            Format::OpenaiChat | Format::OpenaiResponses | Format::OpenaiStrict => Some("openai"),
            Format::Anthropic => Some("anthropic"),
            Format::Gemini | Format::GeminiJsonSchema => Some("gemini"),
            Format::Mcp | Format::Langchain => None,
        }
    }

    /// A session whose tools are declared in this format: it has those of the provider that reads the format.
    pub fn session(self, ctx: &Context) -> Context {
        match self.provider() {
            Some(provider) => ctx.rebuild().provider(Some(provider)).build(),
            None => ctx.clone(),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        Format::ALL.into_iter().find(|format| format.as_str() == text).ok_or_else(|| {
            let known: Vec<_> = Format::ALL.into_iter().map(Format::as_str).collect();
            format!("no format `{text}`; there are {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn each_word_reads_back() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert_eq!(serde_json::to_value(format).unwrap(), format.as_str());
        }
        assert!("yaml".parse::<Format>().unwrap_err().contains("gemini-json-schema"));
    }
}
