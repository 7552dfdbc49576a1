//! Headers that repeat what stands in the body, so that whoever passes a request on need not read it.

use crate::complaint::harmless;
use serde_json::Value;
use toolpost_mcp::header::encoded;

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

/// What is wrong with the headers that a schema wants. A tool that wants what cannot be sent must not be called.
pub(crate) fn problem(schema: &Value) -> Option<String> {
    let mut names = Vec::new();
    look(schema, Place::Reached, &mut names).err()
}

/// Whether a part of a schema is reached by the names of arguments alone.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Reached,
    Elsewhere,
}

fn look(schema: &Value, place: Place, names: &mut Vec<String>) -> Result<(), String> {
    let parts = match schema {
        Value::Object(parts) => parts,
        Value::Array(items) => return items.iter().try_for_each(|item| look(item, Place::Elsewhere, names)),
        _ => return Ok(()),
    };
    for (key, part) in parts {
        match (key.as_str(), part) {
            ("properties", Value::Object(properties)) => {
                for property in properties.values() {
                    header(property, place, names)?;
                    look(property, place, names)?;
                }
            }
            _ => {
                header(part, Place::Elsewhere, names)?;
                look(part, Place::Elsewhere, names)?;
            }
        }
    }
    Ok(())
}

fn header(property: &Value, place: Place, names: &mut Vec<String>) -> Result<(), String> {
    let Some(header) = property.get("x-mcp-header") else { return Ok(()) };
    let Some(name) = header.as_str().filter(|name| is_token(name)) else {
        return Err(format!(
            "it wants a header `{}`, which is no name of one",
            harmless(&header.to_string())
        ));
    };
    if place == Place::Elsewhere {
        return Err(format!("it wants a header `{name}` for what is no argument"));
    }
    if !matches!(property["type"].as_str(), Some("string" | "integer" | "boolean")) {
        return Err(format!("it wants a header `{name}` of what is no text, whole number or yes and no"));
    }
    if names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Err(format!("it wants two headers `{name}`"));
    }
    names.push(name.to_owned());
    Ok(())
}

fn is_token(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=100).contains(&name.len()) && name.bytes().all(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn headers_that_cannot_be_sent_are_told() {
        let with = |property: Value| json!({"properties": {"a": property, "b": {"type": "string", "x-mcp-header": "B"}}});
        for (property, expected) in [
            (json!({"type": "string", "x-mcp-header": "A"}), None),
            (json!({"type": "object", "properties": {"c": {"type": "integer", "x-mcp-header": "C"}}}), None),
            (json!({"type": "string", "x-mcp-header": ""}), Some("no name")),
            (json!({"type": "string", "x-mcp-header": "a:b"}), Some("no name")),
            (json!({"type": "string", "x-mcp-header": 7}), Some("no name")),
            (json!({"type": "number", "x-mcp-header": "A"}), Some("no text")),
            (json!({"type": "string", "x-mcp-header": "b"}), Some("two headers")),
            (json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}), Some("no argument")),
            (
                json!({"anyOf": [{"properties": {"d": {"type": "string", "x-mcp-header": "D"}}}]}),
                Some("no argument"),
            ),
        ] {
            match (problem(&with(property.clone())), expected) {
                (None, None) => {}
                (Some(why), Some(expected)) => assert!(why.contains(expected), "{why}"),
                (found, expected) => panic!("{property}: {found:?}, not {expected:?}"),
            }
        }
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
