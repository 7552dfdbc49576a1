//! Each provider's rules for a declaration, written down as the provider states them.
//!
//! This is the second opinion on the converters: it shares no code with them, knows nothing of how a declaration came
//! about, and only says which rules it breaks.

mod gemini;
mod json_schema;
mod strict;

use super::Format;
use serde_json::Value;

/// Checks one declaration against the rules of its format; each broken rule is one sentence.
pub fn conforms(format: Format, value: &Value) -> Result<(), Vec<String>> {
    let mut broken = Vec::new();
    if depth_exceeds(value, 400) {
        return Err(vec!["the declaration is nested deeper than 400 levels".into()]);
    }
    if has_marker(value) {
        broken.push("an internal marker is in the declaration".into());
    }
    match format {
        Format::Mcp => mcp(value, &mut broken),
        Format::OpenaiChat => {
            only_keys(value, &["type", "function"], &mut broken);
            equals(value, "type", "function", &mut broken);
            let function = &value["function"];
            only_keys(function, &["name", "description", "parameters", "strict"], &mut broken);
            openai(function, &mut broken);
        }
        Format::OpenaiResponses | Format::OpenaiStrict => {
            only_keys(value, &["type", "name", "description", "parameters", "strict"], &mut broken);
            equals(value, "type", "function", &mut broken);
            match &value["strict"] {
                Value::Bool(true) => strict::check(&value["parameters"], &mut broken),
                Value::Bool(false) => {}
                _ => broken.push("`strict` is not said".into()),
            }
            openai(value, &mut broken);
        }
        Format::Anthropic => {
            only_keys(value, &["name", "description", "input_schema"], &mut broken);
            name(value, 64, "_-", &mut broken);
            plain_root(&value["input_schema"], &["oneOf", "anyOf", "allOf", "$ref"], &mut broken);
            json_schema::check(&value["input_schema"], &mut broken);
            for property in
                value["input_schema"]["properties"].as_object().into_iter().flat_map(|map| map.keys())
            {
                if !fits(property, 64, "_.-") {
                    broken.push(format!("the parameter's name `{property}` is not allowed"));
                }
            }
        }
        Format::Gemini => {
            only_keys(value, &["name", "description", "parameters"], &mut broken);
            gemini_name(value, &mut broken);
            if let Some(parameters) = value.get("parameters") {
                gemini::check(parameters, &mut broken);
            }
        }
        Format::GeminiJsonSchema => {
            only_keys(value, &["name", "description", "parametersJsonSchema"], &mut broken);
            gemini_name(value, &mut broken);
            plain_root(&value["parametersJsonSchema"], &["$schema"], &mut broken);
            json_schema::check(&value["parametersJsonSchema"], &mut broken);
        }
        Format::Langchain => {
            only_keys(value, &["type", "function"], &mut broken);
            let function = &value["function"];
            only_keys(function, &["name", "description", "parameters"], &mut broken);
            name(function, 64, "_-", &mut broken);
            described(function, &mut broken);
            let schema = &function["parameters"];
            plain_root(schema, &["oneOf", "anyOf", "allOf", "$ref", "$schema"], &mut broken);
            if !schema["properties"].is_object() {
                broken.push("`parameters` has no `properties`, which LangChain reads".into());
            }
            json_schema::check(schema, &mut broken);
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

fn mcp(value: &Value, broken: &mut Vec<String>) {
    only_keys(value, &["name", "title", "description", "inputSchema", "outputSchema", "annotations"], broken);
    name(value, 128, "_.-", broken);
    plain_root(&value["inputSchema"], &[], broken);
    json_schema::check(&value["inputSchema"], broken);
    if let Some(output) = value.get("outputSchema") {
        if !output.is_object() {
            broken.push("`outputSchema` is not an object".into());
        }
        json_schema::check(output, broken);
    }
    for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
        if !value["annotations"][hint].is_boolean() {
            broken.push(format!("`{hint}` is not said"));
        }
    }
}

fn openai(function: &Value, broken: &mut Vec<String>) {
    name(function, 64, "_-", broken);
    let parameters = &function["parameters"];
    plain_root(parameters, &["oneOf", "anyOf", "allOf", "enum", "not", "$ref", "$schema"], broken);
    if !parameters["properties"].is_object() {
        broken.push("the object at the root has no `properties`".into());
    }
    json_schema::check(parameters, broken);
    json_schema::arrays_have_items(parameters, broken);
}

/// The root is an object schema without some keywords.
fn plain_root(schema: &Value, forbidden: &[&str], broken: &mut Vec<String>) {
    equals(schema, "type", "object", broken);
    for keyword in forbidden.iter().filter(|keyword| schema.get(**keyword).is_some()) {
        broken.push(format!("`{keyword}` at the root"));
    }
}

fn equals(value: &Value, key: &str, expected: &str, broken: &mut Vec<String>) {
    if value[key] != expected {
        broken.push(format!("`{key}` is not `{expected}`"));
    }
}

fn only_keys(value: &Value, known: &[&str], broken: &mut Vec<String>) {
    let Some(map) = value.as_object() else {
        broken.push("the declaration is not an object".into());
        return;
    };
    for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
        broken.push(format!("unknown key `{key}`"));
    }
}

fn name(value: &Value, longest: usize, punctuation: &str, broken: &mut Vec<String>) {
    if !value["name"].as_str().is_some_and(|name| fits(name, longest, punctuation)) {
        broken.push(format!("the name {} is not allowed", value["name"]));
    }
}

fn gemini_name(value: &Value, broken: &mut Vec<String>) {
    name(value, 64, "_.:-", broken);
    described(value, broken);
    if value["name"]
        .as_str()
        .is_some_and(|name| !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
    {
        broken.push("the name does not start with a letter or `_`".into());
    }
}

fn described(value: &Value, broken: &mut Vec<String>) {
    if value["description"].as_str().is_none_or(str::is_empty) {
        broken.push("there is no description".into());
    }
}

fn fits(name: &str, longest: usize, punctuation: &str) -> bool {
    !name.is_empty()
        && name.len() <= longest
        && name.chars().all(|c| c.is_ascii_alphanumeric() || punctuation.contains(c))
}

fn has_marker(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(has_marker),
        Value::Object(map) => {
            map.iter().any(|(key, value)| key.starts_with("x-toolpost-") || has_marker(value))
        }
        _ => false,
    }
}

fn depth_exceeds(value: &Value, most: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > most {
            return true;
        }
        match value {
            Value::Array(list) => open.extend(list.iter().map(|value| (value, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    false
}
