//! A manifest as a tree of values.

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

/// The values of a manifest; nothing of one that cannot be read.
pub(super) fn read(text: &str) -> Value {
    DeTable::parse(text).map_or(Value::Null, |table| object(table.get_ref(), 0))
}

fn object(table: &DeTable<'_>, depth: u32) -> Value {
    let pairs =
        table.iter().map(|(key, value)| (key.get_ref().to_string(), plain(value.get_ref(), depth + 1)));
    Value::Object(pairs.collect::<Map<String, Value>>())
}

fn plain(value: &DeValue<'_>, depth: u32) -> Value {
    match value {
        _ if depth > 20 => Value::Null,
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Array(list) => list.iter().map(|one| plain(one.get_ref(), depth + 1)).collect(),
        DeValue::Table(table) => object(table, depth),
        _ => Value::Null,
    }
}
