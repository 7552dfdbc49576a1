//! Arguments whose empty value says nothing: an empty string or list counts as left out where the schema has the mark, and an
//! empty string where the argument is never a string.
//!
//! Some hosts send every argument of a tool. Only the schema says where that means nothing; any other argument keeps its empty
//! value, and so does one that is required.

use crate::problem::{joined, spelled_path};
use crate::repair::Repair;
use crate::{Alias, MAX_DEPTH};
use serde_json::{Map, Value};

/// The keyword by which a schema marks an optional argument whose empty string or list says nothing. Its value is
/// `"absent"`, or `{"beside": "NAME"}` where that holds only if the argument NAME is given.
pub const EMPTY_MARK: &str = "x-toolpost-empty";

/// The arguments of an object whose empty value says nothing.
#[derive(Debug, Default)]
pub(crate) struct Empties {
    marked: Vec<Marked>,
    /// Objects, or lists of objects, in which there are more.
    within: Vec<(String, Empties)>,
}

#[derive(Debug)]
struct Marked {
    name: String,
    /// Whether only an empty string says nothing, as the argument is of another type.
    is_other_type: bool,
    /// Another argument that must be given.
    beside: Option<String>,
}

impl Empties {
    /// Those of a schema; an error says what is wrong with a mark.
    pub(crate) fn of(schema: &Value) -> Result<Empties, String> {
        Empties::below(schema, MAX_DEPTH)
    }

    fn below(schema: &Value, levels: usize) -> Result<Empties, String> {
        let mut empties = Empties::default();
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return Ok(empties);
        };
        let required: Vec<&Value> = match schema.get("required").and_then(Value::as_array) {
            Some(names) => names.iter().collect(),
            None => Vec::new(),
        };
        for (name, property) in properties {
            let is_required = required.iter().any(|one| *one == name);
            let (name_of, is_other_type) = (name.clone(), is_never_text(property));
            match property.get(EMPTY_MARK) {
                _ if is_required => {}
                Some(mark) => {
                    let beside = beside(mark, properties).map_err(|wrong| format!("`{name}`: {wrong}"))?;
                    empties.marked.push(Marked { name: name_of, is_other_type: false, beside });
                }
                None if is_other_type => {
                    empties.marked.push(Marked { name: name_of, is_other_type, beside: None });
                }
                None => {}
            }
            if levels > 0 {
                let inner = Empties::below(property.get("items").unwrap_or(property), levels - 1)?;
                if !inner.is_nothing() {
                    empties.within.push((name.clone(), inner));
                }
            }
        }
        Ok(empties)
    }

    fn is_nothing(&self) -> bool {
        self.marked.is_empty() && self.within.is_empty()
    }

    /// Leaves out what says nothing, and reports it by the names of `called`.
    pub(crate) fn leave_out(&self, arguments: &mut Value, called: Option<&Alias>) -> Vec<Repair> {
        let mut repairs = Vec::new();
        if let (false, Value::Object(map)) = (self.is_nothing(), arguments) {
            self.leave_out_of(map, "", called, &mut repairs);
        }
        repairs
    }

    fn leave_out_of(
        &self,
        map: &mut Map<String, Value>,
        path: &str,
        called: Option<&Alias>,
        repairs: &mut Vec<Repair>,
    ) {
        // Those that stand for themselves first: an empty argument is not given beside another.
        for is_alone in [true, false] {
            for marked in self.marked.iter().filter(|marked| marked.beside.is_none() == is_alone) {
                let is_given = |name: &String| map.get(name).is_some_and(|value| !says_nothing(value));
                let is_empty = |value: &Value| match marked.is_other_type {
                    true => value == "",
                    false => is_empty(value),
                };
                if !map.get(&marked.name).is_some_and(is_empty) || !marked.beside.iter().all(is_given) {
                    continue;
                }
                if let Some(empty) = map.shift_remove(&marked.name) {
                    let path = spelled_path(called, &joined(path, &marked.name));
                    repairs.push(Repair::not_given(path, &empty));
                }
            }
        }
        for (name, within) in &self.within {
            let place = joined(path, name);
            match map.get_mut(name) {
                Some(Value::Object(inner)) => within.leave_out_of(inner, &place, called, repairs),
                Some(Value::Array(items)) => {
                    for (index, item) in items.iter_mut().enumerate() {
                        if let Value::Object(inner) = item {
                            within.leave_out_of(inner, &format!("{place}[{index}]"), called, repairs);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether no value of an argument is a string.
fn is_never_text(property: &Value) -> bool {
    let is_other = |name: &Value| {
        matches!(name.as_str(), Some("integer" | "number" | "boolean" | "array" | "object" | "null"))
    };
    match property.get("type") {
        Some(Value::Array(names)) => !names.is_empty() && names.iter().all(is_other),
        Some(name) => is_other(name),
        None => false,
    }
}

/// The argument that must be given, by a mark.
fn beside(mark: &Value, properties: &Map<String, Value>) -> Result<Option<String>, String> {
    let name = match mark {
        Value::String(word) if word == "absent" => return Ok(None),
        Value::Object(fields) if fields.len() == 1 => fields.get("beside").and_then(Value::as_str),
        _ => None,
    };
    match name {
        Some(name) if properties.contains_key(name) => Ok(Some(name.to_owned())),
        _ => Err(format!("`{EMPTY_MARK}` is \"absent\" or {{\"beside\": \"ARGUMENT\"}}, not {mark}")),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn says_nothing(value: &Value) -> bool {
    value.is_null() || is_empty(value)
}
