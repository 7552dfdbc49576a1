//! A tool's definition as a dialect offers it: its name, its arguments, where they count from.

use super::Dialect;
use crate::tool::Definition;
use serde_json::{Map, Value};
use std::borrow::Cow;
use toolpost_schema::{Alias, ArgumentAlias, HIDDEN};

/// Whether a schema offers this argument only to dialects that have a name for it.
pub(crate) fn is_hidden(input: &Value, argument: &str) -> bool {
    input.get("properties").and_then(|all| all.get(argument)?.get(HIDDEN)).is_some()
}

impl Dialect {
    /// The definition under this dialect's name and spellings; none if the dialect does not offer the tool. A tool
    /// without a row is offered under its canonical name and arguments.
    pub fn offer(&self, definition: &Definition) -> Option<Definition> {
        if self.not_offered.contains_key(&definition.spec.name) {
            return None;
        }
        let spelling = self.tools.get(&definition.spec.name);
        let alias = spelling.map(|spelling| spelling.alias.as_ref());
        let offer = Offer::new(self, alias, &definition.input);
        let mut offered = definition.clone();
        // Other spellings are understood and never offered.
        offered.spec.argument_aliases.clear();
        if let Some(alias) = alias {
            offered.spec.name.clone_from(&alias.name);
        }
        let own = spelling.and_then(|spelling| spelling.description.as_ref());
        offered.spec.description = match own {
            Some(description) => description.trim().to_owned(),
            None => offer.text(&definition.spec.description),
        };
        offered.input = offer.object(None, definition.input.clone());
        let further = spelling.into_iter().flat_map(|spelling| &spelling.required);
        let names = further.filter_map(|name| offer.name(name)).map(Value::from);
        if let Some(required) = offered.input.get_mut("required").and_then(Value::as_array_mut) {
            required.extend(names);
        }
        Some(offered)
    }

    /// The schema of arguments as a caller knows it who has called the tool by this alias.
    pub(crate) fn input_by(&self, alias: Option<&Alias>, input: &Value) -> Value {
        Offer::new(self, alias, input).object(None, input.clone())
    }

    /// The same with the arguments that are accepted and not offered.
    pub(crate) fn accepted_by(&self, alias: Option<&Alias>, input: &Value) -> Value {
        Offer { hidden: Vec::new(), ..Offer::new(self, alias, input) }.object(None, input.clone())
    }
}

struct Offer<'a> {
    dialect: &'a Dialect,
    alias: Option<&'a Alias>,
    /// The canonical arguments.
    known: Vec<&'a str>,
    /// Those of them that only some dialects have a name for.
    hidden: Vec<&'a str>,
}

impl<'a> Offer<'a> {
    fn new(dialect: &'a Dialect, alias: Option<&'a Alias>, input: &'a Value) -> Offer<'a> {
        let properties = input.get("properties").and_then(Value::as_object);
        let all = || properties.into_iter().flatten();
        let hidden = all().filter(|(_, property)| property.get(HIDDEN).is_some());
        Offer {
            dialect,
            alias,
            known: all().map(|(name, _)| name.as_str()).collect(),
            hidden: hidden.map(|(name, _)| name.as_str()).collect(),
        }
    }

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
                let argument = self.offered(list, &name);
                let text = self.own_text(list, &name);
                if let (None, Some(default)) = (list, self.alias.and_then(|alias| alias.default_of(&name))) {
                    property["default"] = default.clone();
                }
                (
                    argument.map_or_else(|| name.clone(), |argument| argument.from.clone()),
                    self.property(argument, text, property),
                )
            })
            .collect()
    }

    fn property(&self, argument: Option<&ArgumentAlias>, own: Option<&str>, property: Value) -> Value {
        let Value::Object(mut map) = property else { return property };
        map.remove(HIDDEN);
        let text = match (own, map.get("description")) {
            (Some(own), _) => own.to_owned(),
            (None, Some(Value::String(text))) => match argument {
                Some(argument) if argument.shift != 0 => counting(&self.text(text), argument.shift),
                _ => self.text(text),
            },
            _ => String::new(),
        };
        match text.is_empty() {
            true => map.shift_remove("description"),
            false => map.insert("description".to_owned(), text.into()),
        };
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
            .map(|name| match name.as_str().and_then(|name| self.offered(list, name)) {
                Some(argument) => argument.from.as_str().into(),
                None => name,
            })
            .collect()
    }

    fn asks_for_absent(&self, list: Option<&str>, branch: &Value) -> bool {
        let required = branch.get("required").and_then(Value::as_array).into_iter().flatten();
        required.filter_map(Value::as_str).any(|name| self.is_absent(list, name))
    }

    fn offered(&self, list: Option<&str>, name: &str) -> Option<&ArgumentAlias> {
        self.alias.and_then(|alias| alias.offered(list, name))
    }

    /// What the dialect says of an argument in place of its description.
    fn own_text(&self, list: Option<&str>, name: &str) -> Option<&str> {
        let path = path(list, name);
        let mut texts = self.alias?.texts.iter();
        texts.find(|(argument, _)| *argument == path).map(|(_, text)| text.as_str())
    }

    /// Whether an argument is not offered: it does not exist there, or is filled in.
    fn is_absent(&self, list: Option<&str>, name: &str) -> bool {
        if list.is_none() && self.hidden.contains(&name) && self.offered(list, name).is_none() {
            return true;
        }
        let Some(alias) = self.alias else { return false };
        alias.absent.contains(&path(list, name)) || alias.fills(list, name)
    }

    /// A text that names arguments and tools in backticks, with the names that are offered. A sentence about one that is
    /// not offered is left out.
    fn text(&self, text: &str) -> String {
        let mut sentences = Vec::new();
        for sentence in text.split_inclusive(". ") {
            let parts: Option<Vec<Cow<'_, str>>> = sentence
                .split('`')
                .enumerate()
                .map(|(index, part)| match index % 2 {
                    0 => Some(Cow::Borrowed(part)),
                    _ => self.name(part).map(|name| format!("`{name}`").into()),
                })
                .collect();
            // Without a partner a backtick is only a letter.
            match sentence.matches('`').count() % 2 {
                0 => sentences.extend(parts.map(|parts| parts.concat())),
                _ => sentences.push(sentence.to_owned()),
            }
        }
        sentences.concat().trim_end().to_owned()
    }

    /// The offered name for what stands between backticks: an argument, a tool, or anything else, which stays. Nothing
    /// where it is an argument or a tool that is not offered.
    fn name<'t>(&'t self, word: &'t str) -> Option<&'t str> {
        match self.known.contains(&word) {
            true if self.is_absent(None, word) => None,
            true => Some(self.offered(None, word).map_or(word, |argument| argument.from.as_str())),
            false => self.dialect.shown_name(word),
        }
    }
}

fn path(list: Option<&str>, name: &str) -> String {
    list.map_or_else(|| name.to_owned(), |list| format!("{list}[].{name}"))
}

/// The text with the place from which it counts; said at its end if it does not say it.
fn counting(text: &str, shift: i64) -> String {
    let there = format!("counting from {}", 1 - shift);
    match text.contains("counting from 1") {
        true => text.replace("counting from 1", &there),
        false => format!("{} ({there})", text.trim_end_matches('.')),
    }
}
