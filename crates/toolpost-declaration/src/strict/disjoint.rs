//! Whether alternatives exclude each other, so that "exactly one" means the same as "any".

use crate::keyword::{implied_type, types};
use crate::reference::resolve;
use serde_json::{Map, Value};

/// More alternatives than this are not compared pair by pair.
const MAX_COMPARED: usize = 64;

/// Whether no value can match two of the branches, as far as types and tags tell.
pub(super) fn are_disjoint(branches: &[Value], root: &Value) -> bool {
    let branches: Option<Vec<&Map<String, Value>>> =
        branches.iter().map(|branch| target(branch, root)).collect();
    let Some(branches) = branches.filter(|branches| branches.len() <= MAX_COMPARED) else { return false };
    branches
        .iter()
        .enumerate()
        .all(|(index, left)| branches[index + 1..].iter().all(|right| exclude(left, right)))
}

fn target<'a>(branch: &'a Value, root: &'a Value) -> Option<&'a Map<String, Value>> {
    let map = branch.as_object()?;
    match map.get("$ref").and_then(Value::as_str) {
        Some(reference) => resolve(root, reference).ok()?.as_object(),
        None => Some(map),
    }
}

fn exclude(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    let (left_kinds, right_kinds) = (kinds(left), kinds(right));
    let overlap = |left: &str, right: &str| {
        left == right || matches!((left, right), ("integer", "number") | ("number", "integer"))
    };
    let has_kinds = !left_kinds.is_empty() && !right_kinds.is_empty();
    if has_kinds && !left_kinds.iter().any(|left| right_kinds.iter().any(|right| overlap(left, right))) {
        return true;
    }
    if let (Some(left), Some(right)) = (values(left), values(right)) {
        return !left.iter().any(|value| right.contains(value));
    }
    // Two objects exclude each other by a tag that both require.
    let properties = |schema: &Map<String, Value>, name: &str| {
        let is_required = schema.get("required")?.as_array()?.iter().any(|required| required == name);
        let property = schema.get("properties")?.get(name)?.as_object()?;
        is_required.then(|| values(property).map(|values| values.into_iter().cloned().collect::<Vec<_>>()))?
    };
    let names = left.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    names.into_iter().any(|name| match (properties(left, name), properties(right, name)) {
        (Some(left), Some(right)) => !left.iter().any(|value| right.contains(value)),
        _ => false,
    })
}

fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    let kinds = types(schema);
    // A type that only follows from other keywords does not exclude the other types, save by an enumeration.
    match (kinds.is_empty(), values(schema)) {
        (true, Some(values)) if !values.contains(&&Value::Null) => implied_type(schema).into_iter().collect(),
        _ => kinds,
    }
}

fn values(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}
