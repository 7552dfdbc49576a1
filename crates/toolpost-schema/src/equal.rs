//! Equality of values as JSON Schema means it: numbers by value, objects without order, and no truth value is a number.

use crate::number;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Up to this length, items are compared each with each.
const FEW: usize = 12;

/// Whether two values are equal. No deeper than the shallower of both.
pub(crate) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => number::compare(one, other) == Ordering::Equal,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => equal_objects(one, other),
        _ => one == other,
    }
}

fn equal_objects(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    one.len() == other.len()
        && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
}

/// Whether no two items are equal. Takes time in proportion to the size of the list.
pub(crate) fn all_differ(items: &[Value]) -> bool {
    if items.len() <= FEW {
        return items
            .iter()
            .enumerate()
            .all(|(at, item)| !items[..at].iter().any(|other| equal(item, other)));
    }
    let state = RandomState::new();
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(items.len());
    for item in items {
        let same = seen.entry(hash(item, &state)).or_default();
        if same.iter().any(|other| equal(item, other)) {
            return false;
        }
        same.push(item);
    }
    true
}

/// Equal values have equal hashes; the order of an object's keys does not matter.
fn hash(value: &Value, state: &RandomState) -> u64 {
    match value {
        Value::Null => state.hash_one(0u8),
        Value::Bool(truth) => state.hash_one((1u8, truth)),
        Value::Number(number) => state.hash_one((2u8, number::key(number))),
        Value::String(text) => state.hash_one((3u8, text)),
        Value::Array(items) => {
            items.iter().fold(state.hash_one(4u8), |sum, item| state.hash_one((sum, hash(item, state))))
        }
        Value::Object(map) => map.iter().fold(state.hash_one(5u8), |sum, (key, value)| {
            sum.wrapping_add(state.hash_one((key, hash(value, state))))
        }),
    }
}
