//! The rules of JSON Schema 2020-12 itself: keywords with values that they can have, and references that lead somewhere.

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

/// Keywords whose value is an object of schemas by name.
const BY_NAME: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords whose value is a schema or a list of them.
const SCHEMAS: [&str; 15] = [
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

fn references(value: &Value, root: &Value, by_name: bool, broken: &mut Vec<String>) {
    if let Value::Array(list) = value {
        list.iter().for_each(|value| references(value, root, false, broken));
    }
    let Value::Object(map) = value else { return };
    if let (false, Some(Value::String(reference))) = (by_name, map.get("$ref")) {
        let pointer = reference.strip_prefix('#').map(|pointer| pointer.replace("%25", "%"));
        if pointer.is_none_or(|pointer| root.pointer(&pointer).is_none() && !pointer.contains('%')) {
            broken.push(format!("`$ref` to `{reference}` leads nowhere"));
        }
    }
    for (key, value) in map {
        if by_name || SCHEMAS.contains(&key.as_str()) {
            references(value, root, false, broken);
        } else if BY_NAME.contains(&key.as_str()) {
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
        if by_name || SCHEMAS.contains(&key.as_str()) {
            arrays(value, false, broken);
        } else if BY_NAME.contains(&key.as_str()) {
            arrays(value, true, broken);
        }
    }
}
