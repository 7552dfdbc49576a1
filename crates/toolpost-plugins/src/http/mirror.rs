//! Headers that a tool wants for its arguments, and what can be wrong with them.

use crate::complaint::harmless;
use serde_json::Value;
use toolpost_mcp::header::is_token;

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
            "it requires the header `{}`, which is not a valid header name",
            harmless(&header.to_string())
        ));
    };
    if place == Place::Elsewhere {
        return Err(format!("it requires the header `{name}` for something that is not an argument"));
    }
    if !matches!(property["type"].as_str(), Some("string" | "integer" | "boolean")) {
        return Err(format!(
            "it requires the header `{name}` for an argument that is not a string, integer or boolean"
        ));
    }
    if names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Err(format!("it wants two headers `{name}`"));
    }
    names.push(name.to_owned());
    Ok(())
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
            (json!({"type": "string", "x-mcp-header": ""}), Some("not a valid header name")),
            (json!({"type": "string", "x-mcp-header": "a:b"}), Some("not a valid header name")),
            (json!({"type": "string", "x-mcp-header": 7}), Some("not a valid header name")),
            (json!({"type": "number", "x-mcp-header": "A"}), Some("not a string")),
            (json!({"type": "string", "x-mcp-header": "b"}), Some("two headers")),
            (
                json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}),
                Some("not an argument"),
            ),
            (
                json!({"anyOf": [{"properties": {"d": {"type": "string", "x-mcp-header": "D"}}}]}),
                Some("not an argument"),
            ),
        ] {
            match (problem(&with(property.clone())), expected) {
                (None, None) => {}
                (Some(why), Some(expected)) => assert!(why.contains(expected), "{why}"),
                (found, expected) => panic!("{property}: {found:?}, not {expected:?}"),
            }
        }
    }
}
