//! What is wrong with one argument, in words a model can act on.

use crate::alias::Alias;
use crate::failure::{Failure, Kind, a_type, one_of};
use crate::program::Check;
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

/// One failure as a problem. `offered` is the schema as the caller was told it, with the names of the alias that the
/// call was made by.
pub(super) fn explain(failure: &Failure<'_, '_>, offered: &Value, called: Option<&Alias>) -> Problem {
    let place = failure.place.as_str();
    let path = spelled_path(called, &dotted(place));
    let governing = object_schema(offered, &pointer(&path));
    let said = |key: &str| governing.and_then(|schema| schema.get(key)).filter(|_| !path.is_empty());
    match &failure.kind {
        Kind::Missing(name) => missing(place, name, governing, called, describe),
        Kind::MissingBeside(name, given) => missing(place, name, governing, called, |property, name| {
            format!("{}, because `{given}` is given", describe(property, name))
        }),
        Kind::Unknown(name, listed) => {
            let properties = governing.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
            let known: Vec<&str> = match properties {
                Some(properties) => properties.keys().map(String::as_str).collect(),
                None => listed.iter().flat_map(|listed| listed.names()).collect(),
            };
            unknown(&path, name, &known)
        }
        Kind::Name { name, .. } => {
            let (path, expected) = (joined(&path, name), failure.kind.expected());
            Problem { path, expected, found: Some(shown(&Value::from(name.as_str()))), nearest: None }
        }
        Kind::Check(check) => {
            let argument = called.and_then(|alias| alias.offered(None, place.trim_start_matches('/')));
            let theirs = argument.map(|argument| argument.theirs(failure.value.clone()));
            let instance = theirs.as_ref().unwrap_or(failure.value);
            let (expected, nearest) = wanted(check, &said, instance);
            let expected = expected.unwrap_or_else(|| failure.kind.expected());
            Problem { path, expected, found: Some(shown(instance)), nearest }
        }
        kind => Problem { path, expected: kind.expected(), found: Some(shown(failure.value)), nearest: None },
    }
}

/// What a check wants in the words of the offered schema, where that says something else, and the nearest right value.
fn wanted<'a>(
    check: &Check,
    said: &impl Fn(&str) -> Option<&'a Value>,
    instance: &Value,
) -> (Option<String>, Option<String>) {
    let said_type = || said("type").and_then(Value::as_str).map(a_type);
    match check {
        Check::Type(_) => (said_type(), None),
        Check::Minimum(_) => (said("minimum").map(|limit| format!("at least {limit}")), None),
        Check::Maximum(_) => (said("maximum").map(|limit| format!("at most {limit}")), None),
        Check::Enum(_) if said("enum").is_none() && said("type").is_some() => {
            (Some(said_type().unwrap_or_default()), None)
        }
        Check::Enum(choice) => {
            let options = said("enum").unwrap_or(&choice.options);
            let words = options.as_array().into_iter().flatten().filter_map(Value::as_str);
            let nearest = instance.as_str().and_then(|given| nearest(given, words, 1).into_iter().next());
            (Some(one_of(options)), nearest)
        }
        _ => (None, None),
    }
}

/// A path that is needed and empty.
pub(super) fn empty_path(name: &str, called: Option<&Alias>) -> Problem {
    let found = Some(shown(&Value::from("")));
    Problem { path: spelled_path(called, name), expected: "a path".to_owned(), found, nearest: None }
}

fn missing(
    place: &str,
    name: &str,
    governing: Option<&Value>,
    called: Option<&Alias>,
    expected: impl Fn(Option<&Value>, &str) -> String,
) -> Problem {
    let path = spelled_path(called, &joined(&dotted(place), name));
    let name = path.rsplit('.').next().unwrap_or(name);
    let expected = expected(governing, name);
    Problem { path, expected, found: Some("nothing".to_owned()), nearest: None }
}

fn unknown(path: &str, name: &str, known: &[&str]) -> Problem {
    // An argument that was given by another name too has kept this one.
    if known.contains(&name) {
        let found = Some("it twice, by two of its names".to_owned());
        return Problem { path: joined(path, name), expected: "it once".to_owned(), found, nearest: None };
    }
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
