//! Another name for a tool, with its own spelling of the arguments.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;

/// Another name under which a tool can be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The other name.
    pub name: String,
    /// The canonical name of the tool.
    pub tool: String,
    /// How its arguments differ.
    #[serde(default)]
    pub arguments: Vec<ArgumentAlias>,
}

/// How one argument of an alias becomes one of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentAlias {
    /// Its name under the alias.
    pub from: String,
    /// Its canonical name.
    pub to: String,
    /// Added to its number: 1 where the alias counts from 0.
    #[serde(default)]
    pub shift: i64,
}

impl Alias {
    /// Another name, same arguments.
    pub fn new(name: impl Into<String>, tool: impl Into<String>) -> Alias {
        Alias { name: name.into(), tool: tool.into(), arguments: Vec::new() }
    }

    /// An argument that is spelled differently.
    #[must_use]
    pub fn argument(self, from: &str, to: &str) -> Alias {
        self.shifted(from, to, 0)
    }

    /// An argument that is spelled differently (or not) and counts from somewhere else.
    #[must_use]
    pub fn shifted(mut self, from: &str, to: &str, shift: i64) -> Alias {
        self.arguments.push(ArgumentAlias { from: from.to_owned(), to: to.to_owned(), shift });
        self
    }

    /// The arguments as the tool knows them. What the alias does not mention stays; a canonical name that is given
    /// too wins, and the other one is left for the validator to complain about.
    pub fn apply(&self, arguments: Value) -> Value {
        let Value::Object(map) = arguments else { return arguments };
        let mut taken: HashSet<String> = map.keys().cloned().collect();
        map.into_iter()
            .map(|(key, value)| match self.arguments.iter().find(|argument| argument.from == key) {
                Some(argument) if argument.to == key || taken.insert(argument.to.clone()) => {
                    (argument.to.clone(), shifted(value, argument.shift))
                }
                _ => (key, value),
            })
            .collect()
    }
}

fn shifted(value: Value, shift: i64) -> Value {
    let number = match &value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match number.and_then(|number: i64| number.checked_add(shift)) {
        Some(number) if shift != 0 => number.into(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_renamed_and_shifted() {
        let alias = Alias::new("read_file", "read")
            .argument("path", "filePath")
            .argument("file", "filePath")
            .shifted("offset", "offset", 1);
        for (given, expected) in [
            (json!({"path": "a", "offset": 0}), json!({"filePath": "a", "offset": 1})),
            (json!({"path": "a", "offset": "4", "x": 1}), json!({"filePath": "a", "offset": 5, "x": 1})),
            (json!({"path": "a", "filePath": "b"}), json!({"path": "a", "filePath": "b"})),
            (json!({"offset": i64::MAX}), json!({"offset": i64::MAX})),
            (json!({"path": "a", "file": "b"}), json!({"filePath": "a", "file": "b"})),
            (json!([1]), json!([1])),
        ] {
            assert_eq!(alias.apply(given), expected);
        }
    }
}
