//! A tool's definition as a dialect offers it: its name, its arguments, where they count from.

use super::Dialect;
use crate::alias::{Alias, ArgumentAlias};
use crate::tool::Definition;
use serde_json::{Map, Value};

impl Dialect {
    /// The definition under this dialect's name and spellings; none if the dialect does not offer the tool. A tool
    /// without a row is offered under its canonical name and arguments.
    pub fn offer(&self, definition: &Definition) -> Option<Definition> {
        if self.not_offered.contains_key(&definition.spec.name) {
            return None;
        }
        let mut offered = definition.clone();
        // Other spellings are understood and never offered.
        offered.spec.argument_aliases.clear();
        let Some(spelling) = self.tools.get(&definition.spec.name) else { return Some(offered) };
        let offer = Offer { alias: &spelling.alias, absent: &spelling.absent };
        offered.spec.name.clone_from(&spelling.alias.name);
        offered.spec.description = offer.text(&definition.spec.description);
        offered.input = offer.object(None, definition.input.clone());
        Some(offered)
    }
}

struct Offer<'a> {
    alias: &'a Alias,
    absent: &'a [String],
}

impl Offer<'_> {
    /// The schema of the arguments, or of the items of a list.
    fn object(&self, list: Option<&str>, schema: Value) -> Value {
        let Value::Object(map) = schema else { return schema };
        let changed = map.into_iter().map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => Value::Object(self.properties(list, properties)),
                ("required", Value::Array(names)) => self.required(list, names).into(),
                // A branch that asks for what is not there cannot be met.
                ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => branches
                    .into_iter()
                    .filter(|branch| !self.asks_for_absent(list, branch))
                    .map(|branch| self.object(list, branch))
                    .collect(),
                ("description", Value::String(text)) => self.text(&text).into(),
                (_, value) => value,
            };
            (key, value)
        });
        changed.collect()
    }

    fn properties(&self, list: Option<&str>, properties: Map<String, Value>) -> Map<String, Value> {
        let there = properties.into_iter().filter(|(name, _)| !self.is_absent(list, name));
        there
            .map(|(name, mut property)| {
                if list.is_none()
                    && let Some(items) = property.get_mut("items")
                {
                    *items = self.object(Some(&name), items.take());
                }
                let argument = self.alias.offered(list, &name);
                (
                    argument.map_or_else(|| name.clone(), |argument| argument.from.clone()),
                    self.property(argument, property),
                )
            })
            .collect()
    }

    fn property(&self, argument: Option<&ArgumentAlias>, property: Value) -> Value {
        let Value::Object(mut map) = property else { return property };
        if let Some(Value::String(text)) = map.get("description") {
            let text = self.text(text);
            let text = match argument {
                Some(argument) if argument.shift != 0 => counting(&text, argument.shift),
                _ => text,
            };
            map.insert("description".to_owned(), text.into());
        }
        let Some(argument) = argument else { return Value::Object(map) };
        for key in ["default", "minimum", "maximum"] {
            if let Some(value) = map.get_mut(key) {
                *value = argument.theirs(value.take());
            }
        }
        // Numbers that may not be negative here may not be so there.
        if argument.shift > 0
            && let Some(least) = map.get_mut("minimum")
            && least.as_i64().is_some_and(|least| least < 0)
        {
            *least = 0.into();
        }
        if argument.values.iter().any(|(theirs, _)| theirs.is_boolean()) {
            map.remove("enum");
            map.insert("type".to_owned(), "boolean".into());
        } else if let Some(Value::Array(values)) = map.get_mut("enum") {
            values.iter_mut().for_each(|value| *value = argument.theirs(value.take()));
        }
        Value::Object(map)
    }

    fn required(&self, list: Option<&str>, names: Vec<Value>) -> Vec<Value> {
        let names =
            names.into_iter().filter(|name| !name.as_str().is_some_and(|name| self.is_absent(list, name)));
        names
            .map(|name| match name.as_str().and_then(|name| self.alias.offered(list, name)) {
                Some(argument) => argument.from.as_str().into(),
                None => name,
            })
            .collect()
    }

    fn asks_for_absent(&self, list: Option<&str>, branch: &Value) -> bool {
        let required = branch.get("required").and_then(Value::as_array).into_iter().flatten();
        required.filter_map(Value::as_str).any(|name| self.is_absent(list, name))
    }

    /// Whether an argument is not offered: it does not exist there, or is filled in.
    fn is_absent(&self, list: Option<&str>, name: &str) -> bool {
        let path = list.map_or_else(|| name.to_owned(), |list| format!("{list}[].{name}"));
        let mut given = self.alias.filled.iter().map(|(path, _)| path).chain(&self.alias.numbered);
        self.absent.contains(&path) || given.any(|path| path.list.as_deref() == list && path.name == name)
    }

    /// A text that names arguments in backticks, with the names that are offered.
    fn text(&self, text: &str) -> String {
        let mut changed = text.to_owned();
        for argument in &self.alias.arguments {
            let is_offered = self
                .alias
                .offered(argument.to.list.as_deref(), &argument.to.name)
                .is_some_and(|offered| std::ptr::eq(offered, argument));
            if is_offered && argument.from != argument.to.name {
                changed =
                    changed.replace(&format!("`{}`", argument.to.name), &format!("`{}`", argument.from));
            }
        }
        changed
    }
}

/// The text with the place from which it counts; said at its end if it does not say it.
fn counting(text: &str, shift: i64) -> String {
    let there = format!("counting from {}", 1 - shift);
    match text.contains("counting from 1") {
        true => text.replace("counting from 1", &there),
        false => format!("{} ({there})", text.trim_end_matches('.')),
    }
}
