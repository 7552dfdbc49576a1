//! The rules of OpenAI's strict mode.

use serde_json::{Map, Value};

const KNOWN: [&str; 21] = [
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "enum",
    "const",
    "$ref",
    "$defs",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

/// Checks `parameters` of a function with `strict: true`.
pub(super) fn check(parameters: &Value, broken: &mut Vec<String>) {
    let mut counts = Counts { properties: 0, values: 0 };
    if parameters["type"] != "object" || parameters.get("anyOf").is_some() {
        broken.push("the root is not a plain object".into());
    }
    schema(parameters, 0, &mut counts, broken);
    if counts.properties > 5000 {
        broken.push("more than 5000 properties".into());
    }
    if counts.values > 1000 {
        broken.push("more than 1000 enum values".into());
    }
}

struct Counts {
    properties: usize,
    values: usize,
}

fn schema(value: &Value, level: usize, counts: &mut Counts, broken: &mut Vec<String>) {
    let Value::Object(map) = value else {
        broken.push(format!("{value} is not a schema with a type"));
        return;
    };
    for key in map.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
        broken.push(format!("`{key}` in strict mode"));
    }
    let kinds: Vec<&str> = match map.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if kinds.is_empty() && !map.contains_key("anyOf") && !map.contains_key("$ref") {
        broken.push("a schema has no type".into());
    }
    if map.contains_key("$ref") && map.len() > 1 {
        broken.push("`$ref` does not stand alone".into());
    }
    let is_nested = kinds.contains(&"object") || kinds.contains(&"array");
    let level = level + usize::from(is_nested);
    if level > 10 {
        broken.push("more than 10 levels".into());
    }
    if kinds.contains(&"object") {
        object(map, broken);
    }
    if kinds.contains(&"array") && !map.contains_key("items") {
        broken.push("an array has no `items`".into());
    }
    if let Some(Value::Array(values)) = map.get("enum") {
        // The null that makes an optional property nullable is ours, and is not counted.
        counts.values += values.iter().filter(|value| !value.is_null()).count();
        let fits = |value: &Value| kinds.iter().any(|kind| has_type(value, kind));
        if values.is_empty() || !values.iter().all(fits) {
            broken.push("a value of `enum` is not of the type".into());
        }
    }
    let named = map.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    counts.properties += named.clone().count();
    named.for_each(|inner| schema(inner, level, counts, broken));
    for inner in map.get("$defs").and_then(Value::as_object).into_iter().flat_map(Map::values) {
        schema(inner, 0, counts, broken);
    }
    for inner in map.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        schema(inner, level, counts, broken);
    }
    if let Some(items) = map.get("items") {
        schema(items, level, counts, broken);
    }
}

fn object(map: &Map<String, Value>, broken: &mut Vec<String>) {
    if map.get("additionalProperties") != Some(&Value::Bool(false)) {
        broken.push("an object is not closed".into());
    }
    let Some(Value::Object(properties)) = map.get("properties") else {
        broken.push("an object has no `properties`".into());
        return;
    };
    let required: Vec<&str> = map
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut expected: Vec<&str> = properties.keys().map(String::as_str).collect();
    let mut actual = required;
    expected.sort_unstable();
    actual.sort_unstable();
    if expected != actual {
        broken.push("`required` does not list exactly the properties".into());
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => false,
    }
}
