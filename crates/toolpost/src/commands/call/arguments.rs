//! The arguments of a call as they are typed: JSON, standard input, or the main argument as plain text and key=value pairs.

use crate::Runtime;
use serde_json::{Map, Value};
use std::io::Read;
use toolpost_core::schema::MAX_DEPTH;
use toolpost_core::{Code, ToolError};
use toolpost_mcp::json;

/// More than any tool takes, and little enough to refuse at once.
const MAX_BYTES: u64 = 16 << 20;

/// The arguments as a JSON value.
pub(crate) fn parse(runtime: &Runtime, tool: &str, words: &[String]) -> Result<Value, ToolError> {
    match words {
        [] => Ok(Value::Object(Map::new())),
        [only] if only == "-" => from_stdin(),
        [only] if only.trim_start().starts_with(['{', '[', '"']) => from_json(only.as_bytes()),
        [first, rest @ ..] if is_object(first) => {
            let with_pairs =
                from_pairs(runtime, tool, rest.iter().map(|word| pair(word)).collect::<Result<_, _>>()?);
            joined(from_json(first.as_bytes())?, with_pairs)
        }
        words => {
            if let Some(refusal) = mistaken(runtime, tool, &words[0]) {
                return Err(refusal);
            }
            let main = main(runtime, tool, &words[0]);
            let rest = if main.is_some() { &words[1..] } else { words };
            let pairs = main.as_ref().map(|name| Ok((name.as_str(), words[0].as_str()))).into_iter();
            let pairs = pairs.chain(rest.iter().map(|word| pair(word))).collect::<Result<Vec<_>, _>>();
            // Of a tool that is not there nobody can say how its arguments are written.
            let pairs = pairs.map_err(|refusal| unknown(runtime, tool).unwrap_or(refusal))?;
            Ok(from_pairs(runtime, tool, pairs))
        }
    }
}

/// Whether a word is meant as a JSON object: `{` alone begins many a text, such as a command.
fn is_object(word: &str) -> bool {
    let word = word.trim();
    word.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok()
}

/// An object with further pairs; none is given twice.
fn joined(object: Value, pairs: Value) -> Result<Value, ToolError> {
    let (Value::Object(mut object), Value::Object(pairs)) = (object, pairs) else {
        return Err(refused("the arguments are not a JSON object".to_owned()));
    };
    for (key, value) in pairs {
        if object.contains_key(&key) {
            return Err(refused(format!(
                "`{key}` is given twice, in the JSON object and as a pair; leave one out"
            )));
        }
        object.insert(key, value);
    }
    Ok(Value::Object(object))
}

fn from_stdin() -> Result<Value, ToolError> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(format!("the arguments could not be read from standard input: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refused(format!("the arguments are larger than {} MiB", MAX_BYTES >> 20)));
    }
    from_json(&bytes)
}

fn from_json(bytes: &[u8]) -> Result<Value, ToolError> {
    let read = json::read(bytes).map_err(|error| {
        let text = error.to_string();
        match text.starts_with("recursion limit exceeded") {
            true => {
                refused(format!("the arguments are nested deeper than {MAX_DEPTH} levels; send them flat"))
            }
            false => refused(format!("the arguments are not valid JSON: {text}")),
        }
    })?;
    match read.repeated {
        Some(key) => Err(refused(format!("`{key}` is given twice in one object; leave one of the two out"))),
        None => Ok(read.value),
    }
}

/// The main argument of a tool, where the first word is its value: the first that the tool requires or, where it requires
/// none, the first text that it takes.
fn main(runtime: &Runtime, tool: &str, word: &str) -> Option<String> {
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if word.is_empty() || word.split_once('=').is_some_and(|(key, _)| key.is_empty() || is_name(key)) {
        return None;
    }
    let found = runtime.context.tools().snapshot().find(tool, runtime.context.dialect()).ok()?;
    let prepared = found.entry.prepared().ok()?;
    let input = &prepared.definition.input;
    let is_text = |name: &str| {
        let kind = &input["properties"][name]["type"];
        kind == "string" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "string"))
    };
    let required = input["required"].as_array().into_iter().flatten().find_map(Value::as_str);
    let name = match required {
        Some(name) => Some(name).filter(|name| is_text(name)),
        None => {
            let properties = input["properties"].as_object().into_iter().flatten();
            properties.map(|(name, _)| name.as_str()).find(|name| is_text(name))
        }
    }?;
    // In the words of the name by which the tool was called.
    Some(found.alias.as_ref().and_then(|alias| alias.spelling(None, name)).unwrap_or(name).to_owned())
}

/// Why a first word such as `x=1; echo $x`, which is written like a pair, can be none of this tool.
fn mistaken(runtime: &Runtime, tool: &str, word: &str) -> Option<ToolError> {
    let (key, value) = word.split_once('=')?;
    let found = runtime.context.tools().snapshot().find(tool, runtime.context.dialect()).ok()?;
    let prepared = found.entry.prepared().ok()?;
    let canonical = found.alias.as_ref().map_or(key, |alias| alias.canonical_argument(key));
    let is_known = prepared.definition.input["properties"].get(canonical).is_some()
        || found.entry.spec().argument_aliases.iter().any(|(alias, _)| alias == key);
    if is_known || !value.contains(char::is_whitespace) || main(runtime, tool, word).is_some() {
        return None;
    }
    let name = main(runtime, tool, "x")?;
    Some(refused(format!(
        "`{key}=` names an argument, and there is no argument `{key}`; write {name}='…' around all of it"
    )))
}

fn pair(word: &str) -> Result<(&str, &str), ToolError> {
    word.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
        let shown: String = word.chars().take(60).collect();
        refused(format!(
            "`{shown}` is not an argument; write a JSON object ('{{\"key\": \"value\"}}'), the main argument and key=value \
             pairs, or `-` to read JSON from standard input"
        ))
    })
}

fn unknown(runtime: &Runtime, tool: &str) -> Option<ToolError> {
    let error = runtime.context.tools().snapshot().find(tool, runtime.context.dialect()).err()?;
    (error.code() == Code::ToolNotFound).then_some(error)
}

fn refused(message: String) -> ToolError {
    ToolError::new(Code::ValidationError, message)
}

/// Everything typed is text; the schema says which of it is meant as something else. A key given twice is a list.
fn from_pairs(runtime: &Runtime, tool: &str, pairs: Vec<(&str, &str)>) -> Value {
    let snapshot = runtime.context.tools().snapshot();
    let found = snapshot.find(tool, runtime.context.dialect()).ok();
    let prepared = found.as_ref().and_then(|found| found.entry.prepared().ok());
    let schema = prepared.map(|prepared| &prepared.definition.input);
    let alias = found.as_ref().and_then(|found| found.alias.as_deref());
    let mut map: Map<String, Value> = Map::new();
    for (key, text) in pairs {
        let property = schema.and_then(|schema| {
            let name = alias.map_or(key, |alias| alias.canonical_argument(key));
            schema.get("properties")?.get(name)
        });
        let value = meant(property, text);
        match map.get_mut(key) {
            None => {
                map.insert(key.to_owned(), value);
            }
            Some(Value::Array(items)) => items.extend(match value {
                Value::Array(more) => more,
                one => vec![one],
            }),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Value::Object(map)
}

fn meant(property: Option<&Value>, text: &str) -> Value {
    let wanted =
        property.and_then(|property| property.get("type")).and_then(Value::as_str).unwrap_or("string");
    let parsed = || serde_json::from_str::<Value>(text).ok();
    let as_text = || Value::String(text.to_owned());
    match wanted {
        "integer" | "number" => parsed().filter(Value::is_number).unwrap_or_else(as_text),
        "boolean" => parsed().filter(Value::is_boolean).unwrap_or_else(as_text),
        "array" => parsed().filter(Value::is_array).unwrap_or_else(|| {
            let item = property.and_then(|property| property.get("items"));
            Value::Array(vec![meant(item, text)])
        }),
        "object" => parsed().filter(Value::is_object).unwrap_or_else(as_text),
        _ => as_text(),
    }
}
