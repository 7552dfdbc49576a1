//! The keywords of JSON Schema 2020-12: what their values are, and which type of value they speak of.

use serde_json::{Map, Value};

/// The internal markers of toolpost, which no provider ever sees.
pub(super) const MARKER: &str = "x-toolpost-";

/// The types of JSON Schema.
pub(super) const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// Keywords whose value is one schema.
pub(super) const ONE: &[&str] = &[
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
/// Keywords whose value is a list of schemas.
pub(super) const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value maps names to schemas.
pub(super) const NAMED: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords that tell and do not constrain.
pub(super) const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$id",
    "$anchor",
    "$defs",
    "definitions",
];

/// Whether a keyword says something about values of a type; enumerations are handled apart.
pub(super) fn speaks_of(keyword: &str, kind: &str) -> bool {
    match keyword {
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType" | "contentSchema" => {
            kind == "string"
        }
        "format" => matches!(kind, "string" | "number" | "integer"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            matches!(kind, "number" | "integer")
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" => kind == "array",
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "minProperties"
        | "maxProperties"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties"
        | "propertyOrdering" => kind == "object",
        _ => false,
    }
}

/// Whether a value has a type of JSON Schema.
pub(super) fn is_of(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) if number.is_f64() && number.as_f64().is_none_or(|n| n.fract() != 0.0) => {
            kind == "number"
        }
        Value::Number(_) => matches!(kind, "number" | "integer"),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

/// The types that a schema names; none if it names none.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The type that a schema without one must mean, from its other keywords.
pub(super) fn implied_type(schema: &Map<String, Value>) -> Option<&'static str> {
    let listed: Vec<&Value> = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => vec![value],
        (None, Some(Value::Array(values))) => values.iter().filter(|value| !value.is_null()).collect(),
        _ => Vec::new(),
    };
    if !listed.is_empty() {
        return ["string", "integer", "number", "boolean", "object", "array"]
            .into_iter()
            .find(|kind| listed.iter().all(|value| is_of(value, kind)));
    }
    ["object", "array", "string", "number"]
        .into_iter()
        .find(|kind| schema.keys().any(|keyword| keyword != "format" && speaks_of(keyword, kind)))
}

/// The types that a schema without any must mean, from its other keywords or from the values that it lists.
pub(super) fn implied_types(schema: &Map<String, Value>) -> Vec<&'static str> {
    if let Some(kind) = implied_type(schema) {
        return vec![kind];
    }
    let values = schema.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_listed = |kind: &&str| values.iter().any(|value| is_of(value, kind));
    ["string", "number", "boolean", "object", "array", "null"].into_iter().filter(is_listed).collect()
}

/// Whether `null` is among the values that a schema lists.
pub(super) fn lists_null(schema: &Map<String, Value>) -> bool {
    let is_listed = |values: &Vec<Value>| values.contains(&Value::Null);
    schema.get("enum").and_then(Value::as_array).is_some_and(is_listed)
        || schema.get("const") == Some(&Value::Null)
}

/// The part of a schema that speaks of one type; none if its enumeration has no value of that type.
pub(super) fn part_for(schema: &Map<String, Value>, kind: &str) -> Option<Map<String, Value>> {
    let mut part = Map::new();
    part.insert("type".into(), kind.into());
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("const", value) if !is_of(value, kind) => return None,
            ("const", value) => {
                part.insert("const".into(), value.clone());
            }
            ("enum", Value::Array(values)) => {
                let values: Vec<Value> = values.iter().filter(|value| is_of(value, kind)).cloned().collect();
                if values.is_empty() {
                    return None;
                }
                part.insert("enum".into(), values.into());
            }
            (keyword, value) if speaks_of(keyword, kind) => {
                part.insert(keyword.to_owned(), value.clone());
            }
            _ => {}
        }
    }
    Some(part)
}

/// Calls a function for each schema directly inside this one.
pub(super) fn each_inner<'a>(schema: &'a Map<String, Value>, mut visit: impl FnMut(&'a Value)) {
    for (keyword, value) in schema {
        match value {
            Value::Array(list) if LIST.contains(&keyword.as_str()) => list.iter().for_each(&mut visit),
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => named.values().for_each(&mut visit),
            value if ONE.contains(&keyword.as_str()) => visit(value),
            _ => {}
        }
    }
}

/// Adds a sentence to what the model reads of a schema.
pub(super) fn describe(schema: &mut Map<String, Value>, sentence: &str) {
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => format!("{} {sentence}", text.trim_end()),
        _ => sentence.to_owned(),
    };
    schema.insert("description".into(), text.into());
}

/// A value as short JSON for a sentence; none if it is too long to be worth its tokens.
pub(super) fn in_short(value: &Value) -> Option<String> {
    let text = value.to_string();
    (text.len() <= 200).then_some(text)
}
