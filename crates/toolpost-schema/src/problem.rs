//! What is wrong with one argument, in words a model can act on.

use crate::alias::Alias;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use toolpost_text::nearest;

/// A value can be wrong in as many places as it has parts; a reader acts on the first few.
pub(super) const MOST: usize = 32;

/// One thing that is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// Where: `filePath`, `todos[2].status`; empty for the arguments as a whole.
    pub path: String,
    /// What would have been right.
    pub expected: String,
    /// What was there, shortened; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The nearest thing that would have been right, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "arguments" } else { &self.path };
        write!(f, "`{place}`: expected {}", self.expected)?;
        if let Some(found) = &self.found {
            write!(f, ", got {found}")?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        Ok(())
    }
}

/// One validator error as the problems it stands for: an object with three unknown keys has three. `offered` is the
/// schema as the caller was told it, with the names of the alias that the call was made by.
pub(super) fn explain(error: &ValidationError<'_>, offered: &Value, called: Option<&Alias>) -> Vec<Problem> {
    let place = error.instance_path().as_str();
    let path = spelled_path(called, &dotted(place));
    let pointer = pointer(&path);
    let schema = offered;
    let property = object_schema(schema, &pointer);
    let said = |key: &str| property.and_then(|property| property.get(key)).filter(|_| !path.is_empty());
    let argument = called.and_then(|alias| alias.offered(None, place.trim_start_matches('/')));
    let instance = match argument {
        Some(argument) => argument.theirs(error.instance().as_ref().clone()),
        None => error.instance().as_ref().clone(),
    };
    let found = Some(shown(&instance));
    let one = |expected: String| {
        vec![Problem { path: path.clone(), expected, found: found.clone(), nearest: None }]
    };
    match error.kind() {
        ValidationErrorKind::Type { kind } => one(match kind {
            _ if said("type").is_some_and(Value::is_string) => {
                a_type(said("type").and_then(Value::as_str).unwrap_or_default())
            }
            TypeKind::Single(kind) => a_type(&kind.to_string()),
            TypeKind::Multiple(kinds) => {
                kinds.iter().map(|kind| a_type(&kind.to_string())).collect::<Vec<_>>().join(" or ")
            }
        }),
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let path = spelled_path(called, &joined(&dotted(place), name));
            let name = path.rsplit('.').next().unwrap_or(name);
            let expected = describe(object_schema(schema, &pointer), name);
            vec![Problem { path: path.clone(), expected, found: Some("nothing".to_owned()), nearest: None }]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let known: Vec<&str> = object_schema(schema, &pointer)
                .and_then(|schema| schema.get("properties"))
                .and_then(Value::as_object)
                .map(|properties| properties.keys().map(String::as_str).collect())
                .unwrap_or_default();
            unexpected.iter().take(MOST).map(|name| unknown(&path, name, &known)).collect()
        }
        ValidationErrorKind::Enum { .. } if said("enum").is_none() && said("type").is_some() => {
            one(a_type(said("type").and_then(Value::as_str).unwrap_or_default()))
        }
        ValidationErrorKind::Enum { options } => {
            let options = said("enum").unwrap_or(options);
            let words: Vec<&str> = options
                .as_array()
                .map(|all| all.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            let nearest = instance
                .as_str()
                .and_then(|given| nearest(given, words.iter().copied(), 1).into_iter().next());
            vec![Problem { path, expected: format!("one of {options}"), found, nearest }]
        }
        ValidationErrorKind::Minimum { limit } => {
            one(format!("at least {}", said("minimum").unwrap_or(limit)))
        }
        ValidationErrorKind::Maximum { limit } => {
            one(format!("at most {}", said("maximum").unwrap_or(limit)))
        }
        ValidationErrorKind::ExclusiveMinimum { limit } => one(format!("more than {limit}")),
        ValidationErrorKind::ExclusiveMaximum { limit } => one(format!("less than {limit}")),
        ValidationErrorKind::MinLength { limit } => one(format!("at least {limit} characters")),
        ValidationErrorKind::MaxLength { limit } => one(format!("at most {limit} characters")),
        ValidationErrorKind::MinItems { limit } => one(format!("at least {limit} items")),
        ValidationErrorKind::MaxItems { limit } => one(format!("at most {limit} items")),
        ValidationErrorKind::Pattern { pattern } => one(format!("text that matches `{pattern}`")),
        ValidationErrorKind::Format { format } => one(format!("a {format}")),
        ValidationErrorKind::Constant { expected_value } => one(expected_value.to_string()),
        ValidationErrorKind::AnyOf { .. }
        | ValidationErrorKind::OneOfNotValid { .. }
        | ValidationErrorKind::OneOfMultipleValid { .. } => one("one of the forms in the schema".to_owned()),
        _ => one(error.masked().to_string()),
    }
}

fn unknown(path: &str, name: &str, known: &[&str]) -> Problem {
    let listed = match known {
        [] => "no arguments".to_owned(),
        _ => format!("only {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    Problem {
        path: joined(path, name),
        expected: listed,
        found: Some("an unknown argument".to_owned()),
        nearest: nearest(name, known.iter().copied(), 1).into_iter().next(),
    }
}

/// The part of the schema that governs the object at a JSON pointer, where plain `properties` and `items` lead there.
fn object_schema<'a>(schema: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('/').filter(|part| !part.is_empty()).try_fold(schema, |schema, part| {
        if part.bytes().all(|byte| byte.is_ascii_digit()) && schema.get("items").is_some() {
            schema.get("items")
        } else {
            schema.get("properties")?.get(part.replace("~1", "/").replace("~0", "~"))
        }
    })
}

fn describe(schema: Option<&Value>, name: &str) -> String {
    let property = schema.and_then(|schema| schema.get("properties")).and_then(|all| all.get(name));
    let kind = property.and_then(|property| property.get("type")).and_then(Value::as_str).map(a_type);
    let about = property.and_then(|property| property.get("description")).and_then(Value::as_str);
    match (kind, about) {
        (Some(kind), Some(about)) => format!("{kind} ({})", about.trim_end_matches('.')),
        (Some(kind), None) => kind,
        _ => "a value".to_owned(),
    }
}

fn a_type(name: &str) -> String {
    match name.trim_matches('"') {
        "null" => "null".to_owned(),
        name @ ("array" | "integer" | "object") => format!("an {name}"),
        name => format!("a {name}"),
    }
}

/// `/todos/2/status` as `todos[2].status`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').filter(|part| !part.is_empty()) {
        let part = part.replace("~1", "/").replace("~0", "~");
        path = if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("{path}[{part}]")
        } else {
            joined(&path, &part)
        };
    }
    path
}

/// A path of canonical names in the names of the alias that a call was made by.
pub(super) fn spelled_path(called: Option<&Alias>, path: &str) -> String {
    let Some(alias) = called else { return path.to_owned() };
    let (first, rest) = path.split_at(path.find(['[', '.']).unwrap_or(path.len()));
    let top = alias.spelling(None, first).unwrap_or(first);
    match rest.split_once("].") {
        Some((index, field)) if index.starts_with('[') => {
            let (name, deeper) = field.split_at(field.find(['[', '.']).unwrap_or(field.len()));
            let name = alias.spelling(Some(first), name).unwrap_or(name);
            format!("{top}{index}].{name}{deeper}")
        }
        _ => format!("{top}{rest}"),
    }
}

/// `todos[2].status` as `/todos/2/status`.
fn pointer(path: &str) -> String {
    let parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}

pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A value, short enough for a message.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(map) => format!("an object of {}", map.len()),
        Value::String(text) if text.chars().count() > 60 => {
            format!("\"{}…\"", text.chars().take(60).collect::<String>())
        }
        other => other.to_string(),
    }
}
