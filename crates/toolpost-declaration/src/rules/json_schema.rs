//! The rules of JSON Schema 2020-12 itself: keywords with values that they can have, and references that lead somewhere.

use crate::keyword;
use serde_json::Value;
use toolpost_core::schema::check_shape;

/// Checks a schema that is meant to be plain JSON Schema.
pub(super) fn check(schema: &Value, broken: &mut Vec<String>) {
    if schema.get("$schema").is_some() {
        broken.push("`$schema` is given".into());
        return;
    }
    if let Err(error) = check_shape(schema) {
        broken.push(format!("not JSON Schema {error}"));
    }
    references(schema, schema, false, broken);
}

/// OpenAI refuses an array schema without `items`.
pub(super) fn arrays_have_items(value: &Value, broken: &mut Vec<String>) {
    arrays(value, false, broken);
}

/// Whether the value of a keyword is a schema or a list of them.
fn holds_schemas(key: &str) -> bool {
    keyword::ONE.contains(&key) || keyword::LIST.contains(&key)
}

fn references(value: &Value, root: &Value, by_name: bool, broken: &mut Vec<String>) {
    if let Value::Array(list) = value {
        list.iter().for_each(|value| references(value, root, false, broken));
    }
    let Value::Object(map) = value else { return };
    if let (false, Some(Value::String(reference))) = (by_name, map.get("$ref")) {
        let pointer = reference.strip_prefix('#').map(|pointer| pointer.replace("%25", "%"));
        if pointer.is_none_or(|pointer| root.pointer(&pointer).is_none() && !pointer.contains('%')) {
            broken.push(format!("`$ref` to `{reference}` is not in the schema"));
        }
    }
    for (key, value) in map {
        if by_name || holds_schemas(key) {
            references(value, root, false, broken);
        } else if keyword::NAMED.contains(&key.as_str()) {
            references(value, root, true, broken);
        }
    }
}

fn arrays(value: &Value, by_name: bool, broken: &mut Vec<String>) {
    if let Value::Array(list) = value {
        list.iter().for_each(|value| arrays(value, false, broken));
    }
    let Value::Object(map) = value else { return };
    let is_array = match map.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    };
    if !by_name && is_array && !map.contains_key("items") {
        broken.push("an array has no `items`".into());
    }
    for (key, value) in map {
        if by_name || holds_schemas(key) {
            arrays(value, false, broken);
        } else if keyword::NAMED.contains(&key.as_str()) {
            arrays(value, true, broken);
        }
    }
}
