//! Headers that repeat what stands in the body, so that whoever passes a request on need not read it.

use base64::Engine;
use serde_json::Value;

/// The arguments that a tool's schema wants as headers: `x-mcp-header: "Region"` is sent as `Mcp-Param-Region`.
pub(crate) fn mirrored(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
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

fn is_token(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=100).contains(&name.len()) && name.bytes().all(is_fine)
}

/// A text as a header's value: as it is, or in base64 between marks.
pub(crate) fn encoded(text: &str) -> String {
    let is_plain =
        text.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte)) && text.trim() == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    match is_plain && !looks_encoded {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        assert_eq!(encoded("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
        assert_eq!(
            (encoded("plain name"), encoded(" x")),
            ("plain name".to_owned(), "=?base64?IHg=?=".to_owned())
        );
    }
}
