//! The values that each keyword takes, apart from schemas.

use crate::keyword::MARKER;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The value as the keyword takes it, without internal markers; none if it is of another kind. An unknown keyword
/// takes anything.
pub(super) fn checked(keyword: &str, value: &Value) -> Option<Value> {
    match keyword {
        "title" | "description" | "format" | "pattern" | "$comment" | "contentEncoding"
        | "contentMediaType" => value.is_string().then(|| value.clone()),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            value.is_number().then(|| value.clone())
        }
        "multipleOf" => value.as_f64().filter(|number| *number > 0.0).map(|_| value.clone()),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => count(value).map(Value::from),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean().then(|| value.clone()),
        "required" | "propertyOrdering" => names(value),
        "dependentRequired" => {
            let map = value.as_object()?.iter().filter(|(name, _)| !name.starts_with(MARKER));
            map.map(|(name, list)| Some((name.clone(), names(list)?)))
                .collect::<Option<Map<_, _>>>()
                .map(Value::Object)
        }
        "enum" => value
            .as_array()
            .map(|values| distinct(values))
            .filter(|values| !values.is_empty())
            .map(Value::Array),
        "examples" => value.is_array().then(|| without_markers(value)),
        _ => Some(without_markers(value)),
    }
}

/// Makes a schema accept `null` as well.
pub(super) fn allow_null(schema: &mut Map<String, Value>) {
    let null = || Map::from_iter([("type".to_owned(), Value::from("null"))]);
    if let Some(constant) = schema.shift_remove("const") {
        schema.insert("enum".into(), vec![constant].into());
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if let Some(reference) = schema.shift_remove("$ref") {
        let target = Map::from_iter([("$ref".to_owned(), reference)]);
        schema.insert("anyOf".into(), vec![target, null()].into());
        return;
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = schema.get_mut(keyword) {
            branches.push(Value::Object(null()));
        }
    }
    match schema.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => kinds.push("null".into()),
        Some(kind @ Value::String(_)) if kind != "null" => *kind = vec![kind.take(), "null".into()].into(),
        _ => {}
    }
}

/// A count, which some generators write as `3.0`.
fn count(value: &Value) -> Option<u64> {
    let whole = |number: f64| number >= 0.0 && number.fract() == 0.0 && number < 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and small"
    )]
    value.as_u64().or_else(|| value.as_f64().filter(|number| whole(*number)).map(|number| number as u64))
}

fn names(value: &Value) -> Option<Value> {
    let list = value.as_array()?;
    let mut seen = HashSet::new();
    let names: Vec<&str> = list.iter().map(Value::as_str).collect::<Option<_>>()?;
    let names = names.into_iter().filter(|name| !name.starts_with(MARKER) && seen.insert(*name));
    Some(names.map(Value::from).collect())
}

fn distinct(values: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    values.iter().map(without_markers).filter(|value| seen.insert(value.to_string())).collect()
}

/// The depth was measured before, so that recursion is bounded.
fn without_markers(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(without_markers).collect(),
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !key.starts_with(MARKER));
            Value::Object(kept.map(|(key, value)| (key.clone(), without_markers(value))).collect())
        }
        value => value.clone(),
    }
}
