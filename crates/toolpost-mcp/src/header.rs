//! The HTTP headers of MCP, and how values that are not plain text are written in them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

/// The session of a client with a handshake.
pub const SESSION: &str = "mcp-session-id";
/// The revision of a request.
pub const VERSION: &str = "mcp-protocol-version";
/// The method of a modern request, repeated from its body.
pub const METHOD: &str = "mcp-method";
/// The tool, prompt, resource or task of a modern request, repeated from its body.
pub const NAME: &str = "mcp-name";
/// The last event that a client has seen of a stream that ended too early.
pub const LAST_EVENT: &str = "last-event-id";

/// A text as a header's value: as it is, or as `=?base64?…?=`.
pub fn encoded(text: &str) -> String {
    let is_plain =
        text.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte)) && text.trim() == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    match is_plain && !looks_encoded {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

/// The text that a header's value stands for.
pub fn decoded(value: &str) -> Cow<'_, str> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Cow::Borrowed(value);
    };
    match STANDARD.decode(inner).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(encoded(text), expected);
        assert_eq!(decoded(expected), text);
    }

    #[test]
    fn values_are_encoded_and_decoded() {
        check("plain name", "plain name");
        check("", "");
        check(" x", "=?base64?IHg=?=");
        check("äx", "=?base64?w6R4?=");
        check("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
        assert_eq!(decoded("=?base64?*?="), "=?base64?*?=");
    }
}
