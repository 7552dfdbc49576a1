//! The declarations for OpenAI: Chat Completions, Responses, and Responses with strict schemas.

use super::Source;
use super::keyword::{LIST, NAMED, ONE, types};
use super::note::{Notes, Path, Refusal};
use super::root::flatten;
use super::strict;
use serde_json::{Map, Value, json};

/// The form of Chat Completions, nested under `function`.
pub(super) fn chat(source: &Source<'_>, input: &Value, notes: &mut Notes) -> Result<Value, Refusal> {
    let mut function = named(source);
    function.insert("parameters".into(), Value::Object(loose(flatten(input, notes)?, notes)));
    Ok(json!({"type": "function", "function": function}))
}

/// The form of Responses. `strict` is said, because that API assumes it otherwise.
pub(super) fn responses(source: &Source<'_>, input: &Value, notes: &mut Notes) -> Result<Value, Refusal> {
    let parameters = loose(flatten(input, notes)?, notes);
    Ok(with_parameters(source, parameters, false))
}

/// The form of Responses with a strict schema, or `strict: false` and a note where the schema does not fit.
pub(super) fn strict(source: &Source<'_>, input: &Value, notes: &mut Notes) -> Result<Value, Refusal> {
    let schema = flatten(input, notes)?;
    let mut about_strict = Notes::default();
    match strict::strict(&schema, &mut about_strict) {
        Ok(parameters) => {
            notes.append(about_strict);
            Ok(with_parameters(source, parameters, true))
        }
        Err(refusal) => {
            notes.add(Path::ROOT, "declared with `strict: false`", refusal.to_string());
            Ok(with_parameters(source, loose(schema, notes), false))
        }
    }
}

fn named(source: &Source<'_>) -> Map<String, Value> {
    let mut function = Map::new();
    function.insert("name".into(), source.name.into());
    if !source.description.is_empty() {
        function.insert("description".into(), source.description.into());
    }
    function
}

fn with_parameters(source: &Source<'_>, parameters: Map<String, Value>, is_strict: bool) -> Value {
    let mut tool = Map::from_iter([("type".to_owned(), Value::from("function"))]);
    tool.extend(named(source));
    tool.insert("parameters".into(), Value::Object(parameters));
    tool.insert("strict".into(), is_strict.into());
    Value::Object(tool)
}

/// What OpenAI asks of a schema that is not strict.
fn loose(mut schema: Map<String, Value>, notes: &mut Notes) -> Map<String, Value> {
    for keyword in ["enum", "const", "not"] {
        if schema.shift_remove(keyword).is_some() {
            notes.dropped(Path::ROOT, keyword, "OpenAI does not accept it at the top level");
        }
    }
    add_items(&mut schema, Path::ROOT, notes);
    schema
}

/// An array without `items` is refused.
fn add_items(schema: &mut Map<String, Value>, path: Path<'_>, notes: &mut Notes) {
    if types(schema).contains(&"array") && !schema.contains_key("items") {
        notes.add(path, "`items` allows any value", "OpenAI wants `items` in every array");
        schema.insert("items".into(), Value::Object(Map::new()));
    }
    for (keyword, value) in schema {
        let here = path.then(keyword);
        match value {
            Value::Object(inner) if ONE.contains(&keyword.as_str()) => add_items(inner, here, notes),
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => {
                for (name, inner) in named {
                    if let Value::Object(inner) = inner {
                        add_items(inner, here.then(name), notes);
                    }
                }
            }
            Value::Array(list) if LIST.contains(&keyword.as_str()) => {
                for (index, inner) in list.iter_mut().enumerate() {
                    if let Value::Object(inner) = inner {
                        add_items(inner, here.then(&index.to_string()), notes);
                    }
                }
            }
            _ => {}
        }
    }
}
