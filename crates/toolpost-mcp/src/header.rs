//! The HTTP headers of MCP, and how values that are not plain text are written in them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
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

/// The arguments that a tool's schema wants as headers: `x-mcp-header: "Region"` is sent as `Mcp-Param-Region`.
pub fn mirrored(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    collect(schema, arguments, &mut headers, 0);
    headers
}

fn collect(schema: &Value, value: &Value, headers: &mut Vec<(String, String)>, depth: usize) {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, property) in properties {
        let Some(value) = value.get(name) else { continue };
        if let Some(header) =
            property.get("x-mcp-header").and_then(Value::as_str).filter(|name| is_token(name))
        {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => continue,
            };
            headers.push((format!("mcp-param-{}", header.to_ascii_lowercase()), encoded(&text)));
        } else if value.is_object() && depth < 8 {
            collect(property, value, headers, depth + 1);
        }
    }
}

/// Whether this can be the name of a header.
pub fn is_token(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=100).contains(&name.len()) && name.bytes().all(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    #[test]
    fn what_a_schema_wants_is_mirrored() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "bad": {"type": "string", "x-mcp-header": "no such\nheader"},
            "deep": {"type": "object", "properties": {"flag": {"x-mcp-header": "Flag"}}},
            "absent": {"x-mcp-header": "Absent"},
        }});
        let arguments =
            json!({"region": "süd", "count": 3, "bad": "x", "deep": {"flag": true}, "absent": null});
        let expected = [
            ("mcp-param-region", "=?base64?c8O8ZA==?="),
            ("mcp-param-count", "3"),
            ("mcp-param-flag", "true"),
        ];
        let found = mirrored(&schema, &arguments);
        assert_eq!(found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect::<Vec<_>>(), expected);
    }
}
