//! Mends arguments that are plainly meant: lossless, directed by the schema, and always told.
//!
//! Only arguments that do not fit are looked at, so valid ones never change here. An integer becomes a string only as it was
//! written, nothing is guessed, and what cannot be mended is left for the validator to explain.

use crate::alias::Alias;
use crate::problem::{joined, shown, spelled_path};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use std::collections::HashSet;
use std::fmt;

const LEFT_OUT: &str = "left out, the tool has no such argument";
const UNDERSTOOD: &str = "understood, though it is not offered";
const NOT_GIVEN: &str = "left out";

/// How the arguments of a call are spelled, for what is reported.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spellings<'a> {
    /// By the alias that the call used.
    pub called: Option<&'a Alias>,
    /// By the alias under which the tool is offered to the caller.
    pub offered: Option<&'a Alias>,
}

/// One change made to the arguments before they were checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repair {
    /// Where: `limit`, `edits[0].oldString`.
    pub path: String,
    /// What was there.
    pub from: String,
    /// What was put in its place.
    pub to: String,
}

impl Repair {
    /// An argument that was left out, because the tool has none of this name.
    pub fn left_out(path: String, name: &str) -> Repair {
        Repair { path, from: format!("`{name}`"), to: LEFT_OUT.to_owned() }
    }

    /// A value that says nothing, and counts as one that was not given.
    pub(crate) fn not_given(path: String, value: &Value) -> Repair {
        Repair { path, from: shown(value), to: NOT_GIVEN.to_owned() }
    }

    /// The change as a model reads it.
    pub fn sentence(&self) -> String {
        let Repair { path, from, to } = self;
        match () {
            () if path == "tool" => format!("{from} is called {to} here"),
            () if to == LEFT_OUT => format!("`{path}` was ignored: unknown argument"),
            () if to == UNDERSTOOD => format!("`{path}` was understood, though it is not offered here"),
            () if to == NOT_GIVEN => format!("`{path}`: {from} was read as not given"),
            // Another spelling of an argument's name.
            () if from.starts_with('`') && to.starts_with('`') => format!("`{path}` was read as {to}"),
            () => format!("`{path}`: {from} was read as {to}"),
        }
    }

    /// The same with every text changed.
    pub fn map_text(self, change: &dyn Fn(&str) -> String) -> Repair {
        Repair { path: change(&self.path), from: change(&self.from), to: change(&self.to) }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {} → {}", self.path, self.from, self.to)
    }
}

/// Mends `value` after the schema. `aliases` are other spellings of top-level keys; what is reported uses the names that the
/// caller has used and those that it is offered.
pub fn repair(
    schema: &Value,
    aliases: &[(String, String)],
    spellings: Spellings<'_>,
    value: Value,
) -> (Value, Vec<Repair>) {
    let mut mender = Mender { spellings, repairs: Vec::new() };
    let value = mender.mend(schema, aliases, value, "");
    (value, mender.repairs)
}

struct Mender<'a> {
    spellings: Spellings<'a>,
    repairs: Vec<Repair>,
}

impl Mender<'_> {
    fn mend(&mut self, schema: &Value, aliases: &[(String, String)], value: Value, path: &str) -> Value {
        let value = self.mend_kind(schema, value, path);
        match value {
            Value::Object(map) => Value::Object(self.mend_object(schema, aliases, map, path)),
            Value::Array(items) => match schema.get("items") {
                Some(item) => items
                    .into_iter()
                    .enumerate()
                    .map(|(index, value)| self.mend(item, &[], value, &format!("{path}[{index}]")))
                    .collect(),
                None => Value::Array(items),
            },
            other => other,
        }
    }

    /// A text that holds a number, a truth value, an array or an object where only that is wanted; an integer where only a
    /// text is.
    fn mend_kind(&mut self, schema: &Value, value: Value, path: &str) -> Value {
        let wanted = Wanted::of(schema);
        let mended = match &value {
            Value::Array(words) if wanted.text && schema.get(COMMAND_LINE).is_some() => command_line(words),
            Value::String(text) if !wanted.text => wanted.parse(text),
            Value::Number(number) if wanted.integer && !wanted.number => whole(number).map(Value::Number),
            Value::Number(number) if wanted.is_text_for_number() => written(number).map(Value::String),
            _ => None,
        };
        match mended {
            Some(mended) if mended != value => {
                self.note(path, shown(&value), shown(&mended));
                mended
            }
            _ => value,
        }
    }

    fn mend_object(
        &mut self,
        schema: &Value,
        aliases: &[(String, String)],
        map: Map<String, Value>,
        path: &str,
    ) -> Map<String, Value> {
        let Some(Value::Object(properties)) = schema.get("properties") else { return map };
        // Where other keys are welcome, one that is not listed means itself.
        let is_open = schema.get("additionalProperties") != Some(&Value::Bool(false))
            || schema.get("patternProperties").is_some();
        let required = |name: &str| {
            schema
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(|all| all.iter().any(|item| item == name))
        };
        let given: HashSet<String> = map.keys().cloned().collect();
        let mut mended = Map::new();
        for (key, value) in map {
            let written = key.clone();
            let name = match properties.contains_key(&key) {
                true => key,
                false if is_open => key,
                false => match meant(&key, properties, aliases) {
                    Some(name) if !given.contains(&name) && !mended.contains_key(&name) => {
                        let list = path.split_once('[').map(|(list, _)| list);
                        let shown = match self.offered_name(list, &name, &properties[&name]) {
                            Some(shown) => format!("`{shown}`"),
                            None => UNDERSTOOD.to_owned(),
                        };
                        let given = format!("`{key}`");
                        // A name that the session offers is told only where it is another.
                        if given != shown {
                            self.note(&joined(path, &key), given, shown);
                        }
                        name
                    }
                    _ => key,
                },
            };
            let Some(property) = properties.get(&name) else {
                mended.insert(name, value);
                continue;
            };
            // A plain value is reported where the caller has written it.
            let is_plain = !value.is_array() && !value.is_object();
            let place = joined(path, if is_plain { &written } else { &name });
            if value.is_null() && !required(&name) && !Wanted::of(property).null {
                self.note(&place, "null".to_owned(), NOT_GIVEN.to_owned());
                continue;
            }
            let value = self.mend(property, &[], value, &place);
            mended.insert(name, value);
        }
        mended
    }

    /// The name by which an argument is offered; none where it is not.
    fn offered_name<'n>(&'n self, list: Option<&str>, name: &'n str, property: &Value) -> Option<&'n str> {
        let offered = self.spellings.offered;
        if property.get(HIDDEN).is_some() && offered.and_then(|alias| alias.offered(list, name)).is_none() {
            return None;
        }
        offered.map_or(Some(name), |alias| alias.spelling(list, name))
    }

    fn note(&mut self, path: &str, from: String, to: String) {
        self.repairs.push(Repair { path: spelled_path(self.spellings.called, path), from, to });
    }
}

/// Marks an argument that is offered only by dialects that have a name for it: others have another way to say the same.
pub const HIDDEN: &str = "x-toolpost-hidden";

/// Marks a text that is a command line in a schema: a list of words there is one too.
const COMMAND_LINE: &str = "x-toolpost-command-line";

/// The command line that a list of words means: the script of a shell, or the words themselves.
fn command_line(words: &[Value]) -> Option<Value> {
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    let is_shell = |word: &str| word.rsplit('/').next().is_some_and(|program| program.ends_with("sh"));
    match words.as_slice() {
        [] => None,
        [shell, "-c" | "-lc" | "-cl", script] if is_shell(shell) => Some((*script).into()),
        words => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ").into()),
    }
}

/// A word as a shell takes it for itself.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@%+".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The one known key that an unknown key means: an alias, or the same but for case, `_` and `-`.
fn meant(key: &str, properties: &Map<String, Value>, aliases: &[(String, String)]) -> Option<String> {
    if let Some((_, name)) = aliases.iter().find(|(alias, _)| alias == key) {
        return Some(name.clone());
    }
    let folded = fold(key);
    let mut same = properties.keys().filter(|name| fold(name) == folded);
    match (same.next(), same.next()) {
        (Some(name), None) => Some(name.clone()),
        _ => aliases.iter().find(|(alias, _)| fold(alias) == folded).map(|(_, name)| name.clone()),
    }
}

fn fold(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Which kinds of value a schema takes. A schema that does not say takes text, so that nothing is parsed.
#[derive(Default)]
struct Wanted {
    /// The schema does not say.
    anything: bool,
    text: bool,
    number: bool,
    integer: bool,
    truth: bool,
    array: bool,
    object: bool,
    null: bool,
}

impl Wanted {
    fn of(schema: &Value) -> Wanted {
        let mut wanted = Wanted::default();
        wanted.add(schema, 0);
        wanted
    }

    fn add(&mut self, schema: &Value, depth: usize) {
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(only)) => vec![only],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            _ => {
                let branches = ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array());
                match branches {
                    Some(branches) if depth < 8 => {
                        branches.iter().for_each(|branch| self.add(branch, depth + 1));
                    }
                    _ => {
                        self.anything = true;
                        self.text = true;
                        self.null = true;
                    }
                }
                return;
            }
        };
        for kind in types {
            match kind {
                "number" => self.number = true,
                "integer" => self.integer = true,
                "boolean" => self.truth = true,
                "array" => self.array = true,
                "object" => self.object = true,
                "null" => self.null = true,
                _ => self.text = true,
            }
        }
    }

    /// Whether a number can only mean a text.
    fn is_text_for_number(&self) -> bool {
        self.text && !self.anything && !self.number && !self.integer
    }

    fn parse(&self, text: &str) -> Option<Value> {
        let trimmed = text.trim();
        match trimmed {
            "true" | "True" if self.truth => return Some(Value::Bool(true)),
            "false" | "False" if self.truth => return Some(Value::Bool(false)),
            "null" | "None" if self.null => return Some(Value::Null),
            _ => {}
        }
        let is_bracketed = trimmed.starts_with('[') || trimmed.starts_with('{');
        if self.number || self.integer || is_bracketed {
            let value = serde_json::from_str::<Value>(trimmed).ok()?;
            if !is_kept_whole(trimmed, &value) {
                return None;
            }
            match value {
                Value::Number(number) if self.number => Some(Value::Number(number)),
                Value::Number(number) if self.integer => whole(&number).map(Value::Number),
                value @ Value::Array(_) if self.array => Some(value),
                value @ Value::Object(_) if self.object => Some(value),
                _ => None,
            }
        } else {
            None
        }
    }
}

/// Whether parsing a text lost nothing: no digits of a number, no key that is given twice.
fn is_kept_whole(text: &str, value: &Value) -> bool {
    let is_number_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let bytes = text.as_bytes();
    let (mut at, mut keys) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b':' => keys += 1,
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..].iter().take_while(|byte| is_number_part(**byte)).count();
                let number = &text[at..at + length];
                if !serde_json::from_str::<Number>(number)
                    .is_ok_and(|parsed| decimal(number) == decimal(&parsed.to_string()))
                {
                    return false;
                }
                at += length - 1;
            }
            _ => {}
        }
        at += 1;
    }
    keys == count_keys(value)
}

fn count_keys(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(count_keys).sum(),
        Value::Object(map) => map.len() + map.values().map(count_keys).sum::<usize>(),
        _ => 0,
    }
}

/// A number by its sign, its digits without zeros at the ends, and the place of the first one; zero is zero.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let digits = mantissa.trim_start_matches(['-', '+']);
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{before}{after}");
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return Some((false, String::new(), 0));
    }
    let leading = i64::try_from(all.len() - significant.len()).ok()?;
    let place = i64::try_from(before.len()).ok()?.checked_sub(leading)?.checked_add(exponent)?;
    Some((mantissa.starts_with('-'), significant.trim_end_matches('0').to_owned(), place))
}

/// An integer as it was written. Another number may have been written otherwise: `1e3`, `2.50`.
fn written(number: &Number) -> Option<String> {
    (number.is_i64() || number.is_u64()).then(|| number.to_string())
}

/// `5.0` as `5`, where nothing is lost.
fn whole(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_991.0).then(|| Number::from(float as i64))
}
