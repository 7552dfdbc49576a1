//! The rules of Gemini's `parameters`, the subset of OpenAPI 3.0.

use serde_json::{Map, Value};

const KNOWN: [&str; 22] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "minimum",
    "maximum",
];

/// Checks `parameters`, whose root is an object with at least one property.
pub(super) fn check(parameters: &Value, broken: &mut Vec<String>) {
    if parameters["type"] != "object" {
        broken.push("the root is not an object".into());
    }
    if parameters["properties"].as_object().is_none_or(Map::is_empty) {
        broken.push("the root has no properties".into());
    }
    schema(parameters, broken);
}

fn schema(value: &Value, broken: &mut Vec<String>) {
    let Value::Object(map) = value else {
        broken.push(format!("{value} is not a schema"));
        return;
    };
    for key in map.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
        broken.push(format!("unknown key `{key}`"));
    }
    match (map.get("anyOf"), map.get("type")) {
        (Some(Value::Array(branches)), _) => {
            if map.len() > 1 || branches.len() < 2 {
                broken.push("`anyOf` does not stand alone or has one branch only".into());
            }
            branches.iter().for_each(|branch| schema(branch, broken));
        }
        (Some(_), _) => broken.push("`anyOf` is not a list".into()),
        (None, Some(Value::String(kind))) => typed(map, kind, broken),
        (None, _) => broken.push("a schema has no type".into()),
    }
}

fn typed(map: &Map<String, Value>, kind: &str, broken: &mut Vec<String>) {
    if !["string", "number", "integer", "boolean", "array", "object"].contains(&kind) {
        broken.push(format!("the type `{kind}` does not exist"));
    }
    for (key, value) in map {
        let is_right = match key.as_str() {
            "title" | "description" => value.is_string(),
            "nullable" => value.is_boolean(),
            "format" => matches!(
                (kind, value.as_str()),
                ("integer", Some("int32" | "int64"))
                    | ("number", Some("float" | "double"))
                    | ("string", Some("enum" | "date-time"))
            ),
            "enum" => {
                let is_word = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
                kind == "string"
                    && value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_word))
            }
            "pattern" => kind == "string" && value.is_string(),
            "minLength" | "maxLength" => kind == "string" && value.as_i64() >= Some(0),
            "minItems" | "maxItems" => kind == "array" && value.as_i64() >= Some(0),
            "minProperties" | "maxProperties" => kind == "object" && value.as_i64() >= Some(0),
            "minimum" | "maximum" => matches!(kind, "integer" | "number") && value.is_number(),
            "items" => kind == "array",
            "properties" => kind == "object" && value.as_object().is_some_and(|map| !map.is_empty()),
            "required" | "propertyOrdering" => {
                let is_there = |name: &Value| {
                    name.as_str()
                        .is_some_and(|name| map.get("properties").is_some_and(|all| all.get(name).is_some()))
                };
                kind == "object"
                    && value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_there))
            }
            _ => true,
        };
        if !is_right {
            broken.push(format!("`{key}` is wrong in a schema of type {kind}"));
        }
    }
    if kind == "array" {
        match map.get("items") {
            Some(items) => schema(items, broken),
            None => broken.push("an array has no `items`".into()),
        }
    }
    if let Some(Value::Object(properties)) = map.get("properties") {
        properties.values().for_each(|property| schema(property, broken));
    }
}
