//! The bytes of a file as text and back, in the encoding that it has.

use crate::filesystem::text::Text;
use toolpost_core::ToolError;

/// A file's text, and how it is written.
pub(super) enum Content {
    /// UTF-8; a byte order mark is a character of the text, because a diff may show it, and take it away.
    Utf8(String),
    /// Whatever else a text can be in.
    Other(Text),
}

impl Content {
    /// The text of a file; refused where it is none, or could not be written back.
    pub(super) fn decode(name: &str, bytes: &[u8]) -> Result<Content, ToolError> {
        match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(Content::Utf8(text.to_owned())),
            _ => Text::decode(bytes, name).map(Content::Other),
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Content::Utf8(text) => text,
            Content::Other(text) => &text.text,
        }
    }

    /// Another text, written as this one is; refused where the encoding has no such character.
    pub(super) fn encode(&self, name: &str, text: String) -> Result<Vec<u8>, ToolError> {
        match self {
            Content::Utf8(_) => Ok(text.into_bytes()),
            Content::Other(old) => old.encode(&text, name),
        }
    }
}
