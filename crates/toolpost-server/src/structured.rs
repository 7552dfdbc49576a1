//! Data for programs, as `--structured` sends it: the data of a tool with the whole text as `output`, and the output
//! schema that describes both. Pure.
//!
//! Hosts for models never see this: many of them show the model structured content instead of the text.

use serde_json::{Map, Value, json};

/// The field that holds the text.
const TEXT: &str = "output";

/// The field that holds the data where the two cannot share an object.
const DATA: &str = "data";

/// Keywords of a schema's root that still hold when the object gets one more field.
const COMPATIBLE: [&str; 13] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
    "default",
    "examples",
    "$schema",
    "$comment",
    "$anchor",
    "$defs",
    "definitions",
];

/// Where the text stands. It follows from the output schema of the tool alone, so that the list and the results agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// In the data itself, as one more field.
    Inside,
    /// Beside the data, which is the field `data`: the data is no object, has a field `output` of its own, or its schema
    /// does not allow another field.
    Beside,
    /// The tool has no output schema: in the data where that is possible, else beside it.
    Free,
}

impl Shape {
    /// The shape for a tool with this output schema.
    pub(crate) fn of(schema: Option<&Value>) -> Shape {
        let Some(schema) = schema else { return Shape::Free };
        let Some(root) = schema.as_object() else { return Shape::Beside };
        let is_open = match root.get("additionalProperties") {
            None | Some(Value::Bool(_)) => true,
            Some(schema) => schema.as_object().is_some_and(Map::is_empty),
        };
        let declares = root.get("properties").is_some_and(|fields| fields.get(TEXT).is_some());
        let requires = root
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.iter().any(|name| name == TEXT));
        let is_compatible =
            root.keys().all(|key| COMPATIBLE.contains(&key.as_str()) || key.starts_with("x-toolpost-"));
        match root.get("type").is_some_and(|kind| kind == "object")
            && is_open
            && is_compatible
            && !declares
            && !requires
        {
            true => Shape::Inside,
            false => Shape::Beside,
        }
    }

    /// The output schema of what is sent, made from the one that is declared.
    pub(crate) fn schema(self, declared: Option<Value>) -> Value {
        let text = json!({"type": "string", "description": "The text for a model."});
        match (self, declared) {
            (Shape::Inside, Some(Value::Object(mut root))) => {
                field(&mut root, "properties", json!({}), |properties| properties[TEXT] = text);
                field(&mut root, "required", json!([]), |required| {
                    if let Some(names) = required.as_array_mut() {
                        names.push(TEXT.into());
                    }
                });
                Value::Object(root)
            }
            (Shape::Beside, Some(mut declared)) => {
                if declared.get("$id").is_none() {
                    moved(&mut declared);
                }
                json!({
                    "type": "object",
                    "properties": {TEXT: text, DATA: declared},
                    "required": [TEXT, DATA],
                })
            }
            _ => json!({"type": "object", "properties": {TEXT: text}, "required": [TEXT]}),
        }
    }

    /// What is sent. Nothing of the data is lost.
    pub(crate) fn content(self, data: Value, text: &str) -> Value {
        match (self, data) {
            (Shape::Inside, Value::Object(mut fields)) => {
                // A field that the schema allows without naming it.
                if fields.contains_key(TEXT) {
                    let whole = fields.clone();
                    fields.entry(DATA).or_insert(Value::Object(whole));
                }
                fields.insert(TEXT.to_owned(), text.into());
                Value::Object(fields)
            }
            (Shape::Free, Value::Object(mut fields)) if !fields.contains_key(TEXT) => {
                fields.insert(TEXT.to_owned(), text.into());
                Value::Object(fields)
            }
            (Shape::Free, Value::Null) => json!({TEXT: text}),
            (_, data) => json!({TEXT: text, DATA: data}),
        }
    }
}

fn field(root: &mut Map<String, Value>, name: &str, usual: Value, change: impl FnOnce(&mut Value)) {
    change(root.entry(name).or_insert(usual));
}

/// Makes the references of a schema lead to the same places when it is the schema of the field `data`.
fn moved(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else { return };
    for (keyword, value) in keywords {
        match (keyword.as_str(), &mut *value) {
            ("$ref", Value::String(target)) => {
                if let Some(path) = target.strip_prefix('#')
                    && (path.is_empty() || path.starts_with('/'))
                {
                    *target = format!("#/properties/{DATA}{path}");
                }
            }
            // Values, not schemas.
            ("const" | "enum" | "default" | "example" | "examples", _) => {}
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => named.values_mut().for_each(moved),
            (_, Value::Array(list)) => list.iter_mut().for_each(moved),
            _ => moved(value),
        }
    }
}

#[cfg(test)]
mod tests;
