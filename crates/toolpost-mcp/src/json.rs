//! JSON in which no key is given twice: which of the two counts is not for a reader to guess.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// A value, and the first key that an object in it has twice. Of such a key the last value is kept.
///
/// ```
/// use toolpost_mcp::json;
///
/// let read = json::read(br#"{"a": {"b": 1, "b": 2}}"#)?;
/// assert_eq!(read.repeated.as_deref(), Some("b"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct Read {
    /// The value.
    pub value: Value,
    /// The first key that is given twice in one object, if there is one.
    pub repeated: Option<String>,
}

/// Reads one JSON text.
pub fn read(bytes: &[u8]) -> Result<Read, serde_json::Error> {
    let mut repeated = None;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Seed(&mut repeated).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Read { value, repeated })
}

struct Seed<'a>(&'a mut Option<String>);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Seed(self.0))? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if self.0.is_none() && is_in(&map, &key) {
                *self.0 = Some(key.clone());
            }
            let value = entries.next_value_seed(Seed(self.0))?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// Whether a map has a key. In a small one it is looked for, which costs less than to compute its hash.
fn is_in(map: &Map<String, Value>, key: &str) -> bool {
    const SMALL: usize = 8;
    match map.len() <= SMALL {
        true => map.keys().any(|known| known == key),
        false => map.contains_key(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it reads is what `serde_json` reads, errors included.
    #[test]
    fn only_repeated_keys_are_more_than_a_value() {
        for text in [
            "null",
            "true",
            "-7",
            "18446744073709551615",
            "1.5e3",
            "1e400",
            r#""a\u00e9\n""#,
            r#"[1, [2, {}], "x"]"#,
            r#"{"b": 1, "a": {"b": [null]}}"#,
            "",
            "{",
            "[1,]",
            "{} x",
            r#"{"a": 1, "a": 2}"#,
        ] {
            let expected = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
            let found = read(text.as_bytes()).map(|read| read.value).map_err(|error| error.to_string());
            assert_eq!(found, expected, "{text}");
        }
        assert!(read("[".repeat(1_000).as_bytes()).is_err());
    }

    #[test]
    fn a_key_twice_in_one_object_is_found() {
        let repeated = |text: &str| read(text.as_bytes()).unwrap().repeated;
        assert_eq!(repeated(r#"{"a": 1, "b": {"a": 1}, "c": [{"a": 1}, {"a": 1}]}"#), None);
        assert_eq!(repeated(r#"{"a": 1, "a": 1}"#).as_deref(), Some("a"));
        assert_eq!(repeated(r#"[{"x": {"b": 1, "\u0062": 2}}]"#).as_deref(), Some("b"));
    }
}
