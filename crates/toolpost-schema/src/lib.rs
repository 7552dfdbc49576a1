//! The schema of a tool: made from a type, compiled once, used to check arguments, to repair them and to say what is wrong
//! with them. Pure, and the only crate that knows the validator. Reached as `toolpost_core::schema`.

mod alias;
mod applicator;
mod assertion;
mod check;
mod circle;
mod compile;
mod draft;
mod empty;
mod equal;
mod evaluated;
mod failure;
mod format;
mod forms;
mod keyword;
mod number;
mod paths;
mod pattern;
mod problem;
mod program;
mod reference;
mod repair;
mod shape;
mod uri;

pub use alias::{Alias, ArgumentAlias, ArgumentPath, Caller};
pub use empty::EMPTY_MARK;
pub use problem::Problem;
pub use repair::{HIDDEN, Repair, Spellings, repair};

use empty::Empties;
use paths::Places;
use program::Program;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use std::fmt;

/// Arguments nested deeper than this are refused.
pub const MAX_DEPTH: usize = 128;

/// The keyword by which a schema marks an argument that is a path of the workspace.
pub const PATH_MARK: &str = "x-toolpost-path";

/// A value that is no schema: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSchema(String);

impl fmt::Display for NoSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoSchema {}

/// Whether a value has the shape of a schema of draft 2020-12; an error says where and why not. References are not
/// followed.
pub fn check_shape(value: &Value) -> Result<(), NoSchema> {
    compile::is_schema(value, draft::Draft::Draft2020).map_err(NoSchema)
}

/// A JSON Schema, compiled.
pub struct Schema {
    value: Value,
    program: Program,
    /// Which arguments are paths of the workspace.
    places: Places,
    /// Which arguments say nothing where they are empty.
    empties: Empties,
    /// Which arguments are needed and paths, so that an empty one names nothing.
    needed_paths: Vec<String>,
}

impl Schema {
    /// Compiles a schema of draft 2020-12, or of the draft that its `$schema` names. References to other documents are refused, and patterns run in linear time.
    pub fn compile(value: Value) -> Result<Schema, NoSchema> {
        let program = compile::compile(&value).map_err(|wrong| {
            let at = wrong.place(&value);
            let place = if at.is_empty() { String::new() } else { format!(" at `{at}`") };
            NoSchema(format!("the schema itself is not valid{place}: {}", wrong.message))
        })?;
        let places = Places::of(&value);
        let empties = Empties::of(&value).map_err(NoSchema)?;
        let needed_paths = paths::needed(&value);
        Ok(Schema { value, program, places, empties, needed_paths })
    }

    /// The schema as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Whether the value fits.
    pub fn accepts(&self, value: &Value) -> bool {
        self.empty_paths(value).next().is_none() && check::accepts(&self.program, value)
    }

    /// Everything that is wrong with the value; empty if it fits.
    pub fn problems(&self, value: &Value) -> Vec<Problem> {
        self.problems_in(value, &self.value, None)
    }

    /// The same in the words of a caller who knows the schema in another form, by the names of an alias.
    pub fn problems_in(&self, value: &Value, offered: &Value, called: Option<&Alias>) -> Vec<Problem> {
        let failures = check::failures(&self.program, value);
        let empty = self.empty_paths(value).map(|name| problem::empty_path(name, called));
        failures.iter().map(|failure| problem::explain(failure, offered, called)).chain(empty).collect()
    }

    /// The arguments that are needed, are paths, and are empty.
    fn empty_paths<'a>(&'a self, value: &'a Value) -> impl Iterator<Item = &'a str> {
        let names = self.needed_paths.iter().map(String::as_str);
        names.filter(|name| value.get(name).and_then(Value::as_str) == Some(""))
    }

    /// Leaves out the empty arguments of which the schema says, by [`EMPTY_MARK`], that they mean nothing. What was left out
    /// is reported by the names of an alias.
    pub fn leave_out_empty(&self, arguments: &mut Value, called: Option<&Alias>) -> Vec<Repair> {
        self.empties.leave_out(arguments, called)
    }

    /// The values of all arguments that are paths of the workspace; of one that is left out, its default.
    pub fn paths<'a>(&'a self, arguments: &'a Value) -> Vec<&'a str> {
        self.places.among(&self.value, arguments)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.value).finish()
    }
}

/// The schema of an argument type, as models get it: no titles, no number formats, no `null` for what may be left out.
pub fn arguments_of<T: JsonSchema>() -> Value {
    let mut value = settings().for_deserialize().into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut value);
    if let Value::Object(root) = &mut value {
        root.remove("description");
        if !root.contains_key("type") {
            root.insert("type".to_owned(), "object".into());
        }
        if !root.contains_key("properties") {
            root.insert("properties".to_owned(), Value::Object(Map::new()));
        }
    }
    value
}

/// The same, with every object closed that does not say which other keys it takes: an argument that is misspelled must
/// be refused, and not ignored.
pub fn closed_arguments_of<T: JsonSchema>() -> Value {
    let mut value = arguments_of::<T>();
    close(&mut value, Keys::All);
    value
}

/// Which keys of an object a part of a schema names.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    All,
    /// The others stand beside it.
    Some,
}

/// Closes the objects of a schema that was made from a type.
fn close(schema: &mut Value, keys: Keys) {
    let Value::Object(map) = schema else { return };
    let has_properties = map.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    let has_forms = map.contains_key("anyOf") || map.contains_key("oneOf");
    // The forms of an enum are objects of their own, unless fields of a struct stand beside them.
    let keys_of_forms = match has_properties || map.contains_key("allOf") {
        true => Keys::Some,
        false => keys,
    };
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(forms)) = map.get_mut(key) {
            forms.iter_mut().for_each(|form| close(form, keys_of_forms));
        }
    }
    if let Some(Value::Array(parts)) = map.get_mut("allOf") {
        parts.iter_mut().for_each(|part| close(part, Keys::Some));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key) {
            close(inner, Keys::All);
        }
    }
    for key in ["properties", "patternProperties", "$defs"] {
        if let Some(Value::Object(inner)) = map.get_mut(key) {
            inner.values_mut().for_each(|inner| close(inner, Keys::All));
        }
    }
    if let Some(Value::Array(items)) = map.get_mut("prefixItems") {
        items.iter_mut().for_each(|item| close(item, Keys::All));
    }
    let says_itself =
        ["additionalProperties", "unevaluatedProperties", "$ref"].iter().any(|key| map.contains_key(*key));
    let is_enum = has_forms && keys_of_forms == Keys::All;
    if keys == Keys::Some || says_itself || is_enum || !map.contains_key("properties") {
        return;
    }
    let key = if keys_of_forms == Keys::Some && (has_forms || map.contains_key("allOf")) {
        "unevaluatedProperties"
    } else {
        "additionalProperties"
    };
    map.insert(key.to_owned(), Value::Bool(false));
}

/// The schema of a `data` type; none for `()`.
pub fn data_of<T: JsonSchema>() -> Option<Value> {
    let mut value = settings().for_serialize().into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut value);
    (value.get("type") != Some(&Value::from("null"))).then_some(value)
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

/// Removes what costs tokens and tells a model nothing.
fn tidy(value: &mut Value) {
    let Value::Object(map) = value else { return };
    map.remove("title");
    if let Some(Value::String(format)) = map.get("format")
        && (format.starts_with("uint")
            || format.starts_with("int")
            || format == "float"
            || format == "double")
    {
        map.remove("format");
    }
    for (key, child) in map.iter_mut() {
        match child {
            Value::Object(children)
                if matches!(key.as_str(), "properties" | "$defs" | "patternProperties") =>
            {
                children.values_mut().for_each(tidy);
            }
            Value::Object(_) => tidy(child),
            Value::Array(items) => items.iter_mut().for_each(tidy),
            _ => {}
        }
    }
    let required: Vec<Value> = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            if !required.iter().any(|item| item == name) {
                without_null(property);
            }
        }
    }
}

/// An argument that may be left out need not be `null` as well.
fn without_null(property: &mut Value) {
    let Value::Object(map) = property else { return };
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|item| item != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|item| !item.is_null());
    }
    if let Some(Value::Array(branches)) = map.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type") != Some(&Value::from("null")));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            map.remove("anyOf");
            for (key, value) in only {
                map.entry(key).or_insert(value);
            }
        }
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
}

/// Whether a value is nested deeper than [`MAX_DEPTH`].
pub fn is_too_deep(value: &Value) -> bool {
    is_deeper(value, MAX_DEPTH)
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(map) => levels == 0 || map.values().any(|item| is_deeper(item, levels - 1)),
        _ => false,
    }
}

/// Whether an object anywhere in a value has a key.
fn has_key(value: &Value, key: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| has_key(item, key)),
        Value::Object(map) => map.contains_key(key) || map.values().any(|item| has_key(item, key)),
        _ => false,
    }
}

/// Whether a value holds a number like `5.0`, which a schema takes for an integer and a type does not.
pub fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|float| float.fract() == 0.0),
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(map) => map.values().any(has_whole_float),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
