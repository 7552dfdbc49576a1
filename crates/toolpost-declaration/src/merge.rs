//! Several object schemas as one: all of them at once (`allOf`), or any of them (`anyOf` at a root).

use super::keyword::{ANNOTATIONS, types};
use super::note::{Notes, Path};
use serde_json::{Map, Value};
use std::collections::HashSet;

const CONDITION: [&str; 3] = ["if", "then", "else"];

/// Adds the constraints of a second schema to the first, as `allOf` means it. Returns the keywords on which the two
/// cannot be said in one; there the first one stands.
pub(super) fn merge(target: &mut Map<String, Value>, other: &Map<String, Value>) -> Vec<String> {
    let mut conflicts = Vec::new();
    // The three of a condition belong together: those of the second must not complete those of the first.
    let has_condition = CONDITION.iter().any(|keyword| target.contains_key(*keyword));
    for (keyword, value) in other {
        if has_condition && CONDITION.contains(&keyword.as_str()) {
            if target.get(keyword) != Some(value) {
                conflicts.push(keyword.clone());
            }
            continue;
        }
        let Some(present) = target.get_mut(keyword) else {
            target.insert(keyword.clone(), value.clone());
            continue;
        };
        if present == value || ANNOTATIONS.contains(&keyword.as_str()) {
            continue;
        }
        if !join(keyword, present, value, &mut conflicts) {
            conflicts.push(keyword.clone());
        }
    }
    conflicts
}

/// Makes one object schema of alternatives: every property of any, required only what all require. Which properties
/// go together is lost.
pub(super) fn unite(
    base: &mut Map<String, Value>,
    branches: &[Map<String, Value>],
    path: Path<'_>,
    notes: &mut Notes,
) {
    let mut seen: Map<String, Value> = Map::new();
    for (name, schema) in branches.iter().filter_map(|branch| branch.get("properties")?.as_object()).flatten()
    {
        match seen.entry(name.clone()).or_insert_with(|| Value::Array(Vec::new())) {
            Value::Array(schemas) if !schemas.contains(schema) => schemas.push(schema.clone()),
            _ => {}
        }
    }
    let has_properties = !seen.is_empty();
    let own = base.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    for (name, schemas) in seen {
        let (Value::Object(own), Value::Array(schemas)) = (&mut *own, schemas) else { continue };
        // A property that the base describes is only narrowed by the branches.
        own.entry(name).or_insert_with(|| any_of(schemas));
    }
    if let Value::Array(required) = base.entry("required").or_insert_with(|| Value::Array(Vec::new())) {
        add_names(required, &required_by_all(branches));
    }
    let closes = |branch: &Map<String, Value>| {
        branch.get("additionalProperties") == Some(&Value::Bool(false))
            && !branch.contains_key("patternProperties")
    };
    let is_closed = branches.iter().all(closes);
    if has_properties && is_closed {
        base.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    let change = match has_properties {
        true => "the alternatives are one object with the properties of all",
        false => "the alternatives of required properties are dropped",
    };
    notes.add(path, change, "alternatives are not accepted at the top level");
}

/// Joins two values of one keyword; says whether it could.
fn join(keyword: &str, present: &mut Value, value: &Value, conflicts: &mut Vec<String>) -> bool {
    match (keyword, present, value) {
        ("properties" | "patternProperties", Value::Object(present), Value::Object(more)) => {
            for (name, schema) in more {
                match (present.get_mut(name), schema) {
                    (None, schema) => {
                        present.insert(name.clone(), schema.clone());
                    }
                    (Some(Value::Object(present)), Value::Object(schema)) => {
                        conflicts.extend(merge(present, schema));
                    }
                    (Some(present), Value::Bool(false)) => *present = Value::Bool(false),
                    (Some(present), schema) if *present == Value::Bool(true) => *present = schema.clone(),
                    (Some(_), _) => {}
                }
            }
            true
        }
        ("required", Value::Array(present), Value::Array(more)) => {
            add_names(present, more);
            true
        }
        ("enum", Value::Array(present), Value::Array(more)) => {
            let more: HashSet<String> = more.iter().map(Value::to_string).collect();
            let is_common = |value: &&Value| more.contains(&value.to_string());
            let common: Vec<Value> = present.iter().filter(is_common).cloned().collect();
            let has_common = !common.is_empty();
            if has_common {
                *present = common;
            }
            has_common
        }
        ("type", present, value) => {
            let common = common_types(present, value);
            match common.as_slice() {
                [] => return false,
                [kind] => *present = kind.as_str().into(),
                kinds => *present = kinds.into(),
            }
            true
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", present, value) => {
            if value.as_f64() > present.as_f64() {
                *present = value.clone();
            }
            true
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", present, value) => {
            if value.as_f64() < present.as_f64() {
                *present = value.clone();
            }
            true
        }
        ("items", Value::Object(present), Value::Object(more)) => {
            conflicts.extend(merge(present, more));
            true
        }
        // Closed wins: the properties of all parts are listed by now.
        ("additionalProperties", present, Value::Bool(false)) => {
            *present = Value::Bool(false);
            true
        }
        ("additionalProperties", Value::Bool(false), _) => true,
        ("additionalProperties", present, value) if *present == Value::Bool(true) => {
            *present = value.clone();
            true
        }
        ("uniqueItems", present, Value::Bool(true)) => {
            *present = Value::Bool(true);
            true
        }
        _ => false,
    }
}

fn common_types(left: &Value, right: &Value) -> Vec<String> {
    let list = |value: &Value| {
        let schema = Map::from_iter([("type".to_owned(), value.clone())]);
        types(&schema).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let (left, right) = (list(left), list(right));
    let admits = |kinds: &[String], kind: &str| {
        kinds.iter().any(|other| other == kind || (kind == "integer" && other == "number"))
    };
    let mut common: Vec<String> = left.iter().filter(|kind| admits(&right, kind)).cloned().collect();
    common.extend(right.iter().filter(|kind| admits(&left, kind)).cloned());
    let mut distinct = Vec::new();
    for kind in common {
        if !distinct.contains(&kind) {
            distinct.push(kind);
        }
    }
    distinct
}

/// One schema that accepts what any of these does; tags of alternatives become one enumeration.
fn any_of(mut schemas: Vec<Value>) -> Value {
    if schemas.len() == 1 {
        return schemas.swap_remove(0);
    }
    let tags: Option<Vec<&Value>> = schemas
        .iter()
        .map(|schema| match (schema.get("const"), schema.get("enum")) {
            (Some(tag), _) => Some(vec![tag]),
            (None, Some(Value::Array(tags))) => Some(tags.iter().collect()),
            _ => None,
        })
        .collect::<Option<Vec<_>>>()
        .map(|tags| tags.concat());
    if let Some(tags) = tags
        && tags.iter().all(|tag| tag.is_string())
    {
        let mut distinct: Vec<Value> = Vec::new();
        for tag in tags {
            if !distinct.contains(tag) {
                distinct.push(tag.clone());
            }
        }
        return serde_json::json!({"type": "string", "enum": distinct});
    }
    serde_json::json!({"anyOf": schemas})
}

fn add_names(names: &mut Vec<Value>, more: &[Value]) {
    let present: HashSet<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let is_new = |name: &&Value| name.as_str().is_some_and(|name| !present.contains(name));
    names.extend(more.iter().filter(is_new).cloned());
}

fn required_by_all(branches: &[Map<String, Value>]) -> Vec<Value> {
    let mut common: Option<HashSet<&str>> = None;
    for branch in branches {
        let names = branch.get("required").and_then(Value::as_array).into_iter().flatten();
        let names: HashSet<&str> = names.filter_map(Value::as_str).collect();
        common = Some(common.map_or_else(|| names.clone(), |common| &common & &names));
    }
    let mut common: Vec<&str> = common.into_iter().flatten().collect();
    common.sort_unstable();
    common.into_iter().map(Value::from).collect()
}
