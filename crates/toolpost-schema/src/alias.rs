//! Another name for a tool, with its own spelling of the arguments.
//!
//! Pure: from what was said to what the tool knows. Which name is meant is the registry's to find.

use crate::repair::Repair;
use serde_json::{Map, Value};

/// Another name under which a tool can be called.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// The other name.
    pub name: String,
    /// The canonical name of the tool.
    pub tool: String,
    /// How its arguments differ. Where an argument has several spellings, the first is the one that is offered.
    pub arguments: Vec<ArgumentAlias>,
    /// Arguments that callers know by this name and that the tool does not have: left out, and told.
    pub ignored: Vec<ArgumentPath>,
    /// Arguments that only say what a call is for, so that leaving them out changes nothing and need not be told.
    pub remarks: Vec<String>,
    /// Canonical arguments that callers by this name do not know: never offered or named to them, taken if they are given.
    pub absent: Vec<String>,
    /// What the descriptions of arguments say instead: the canonical argument, and the text.
    pub texts: Vec<(String, String)>,
    /// Canonical arguments that have another default for callers by this name: the argument, and its default.
    pub defaults: Vec<(String, Value)>,
    /// What the tool needs and callers by this name do not give: the argument, and its value.
    pub filled: Vec<(ArgumentPath, Value)>,
    /// The same where the items of a list are to be numbered from 1.
    pub numbered: Vec<ArgumentPath>,
}

/// Who calls a tool by an alias: what is reported uses names that the caller knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Caller<'a> {
    /// One to whom the tool is offered by this alias.
    Own,
    /// One to whom it is offered by another alias, or by its own name.
    Other(Option<&'a Alias>),
}

/// How one argument of an alias becomes one of the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentAlias {
    /// Its name under the alias.
    pub from: String,
    /// Its canonical name.
    pub to: ArgumentPath,
    /// Added to its number: 1 where the alias counts from 0.
    pub shift: i64,
    /// Its values under the alias, each with the canonical one; others stay.
    pub values: Vec<(Value, Value)>,
}

/// An argument, or a field of each item of a list: `filePath`, `edits[].oldString`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArgumentPath {
    /// The list whose items have it; none for an argument itself.
    pub list: Option<String>,
    /// Its name.
    pub name: String,
}

impl ArgumentPath {
    /// The path that a text writes.
    pub fn new(text: &str) -> ArgumentPath {
        match text.split_once("[].") {
            Some((list, name)) => ArgumentPath { list: Some(list.to_owned()), name: name.to_owned() },
            None => ArgumentPath { list: None, name: text.to_owned() },
        }
    }
}

impl Alias {
    /// Another name, same arguments.
    pub fn new(name: impl Into<String>, tool: impl Into<String>) -> Alias {
        Alias {
            name: name.into(),
            tool: tool.into(),
            arguments: Vec::new(),
            ignored: Vec::new(),
            remarks: Vec::new(),
            absent: Vec::new(),
            texts: Vec::new(),
            defaults: Vec::new(),
            filled: Vec::new(),
            numbered: Vec::new(),
        }
    }

    /// An argument that is spelled differently.
    #[must_use]
    pub fn argument(self, from: &str, to: &str) -> Alias {
        self.shifted(from, to, 0)
    }

    /// An argument that is spelled differently (or not) and counts from somewhere else.
    #[must_use]
    pub fn shifted(mut self, from: &str, to: &str, shift: i64) -> Alias {
        let to = ArgumentPath::new(to);
        self.arguments.push(ArgumentAlias { from: from.to_owned(), to, shift, values: Vec::new() });
        self
    }

    /// The arguments as the tool knows them, and what was left out. What the alias does not mention stays; a canonical
    /// name that is given too wins, and the other one is left for the validator to complain about.
    pub fn apply(&self, arguments: Value, caller: Caller<'_>) -> (Value, Vec<Repair>) {
        if self.changes_nothing() {
            return (arguments, Vec::new());
        }
        let Value::Object(mut map) = arguments else { return (arguments, Vec::new()) };
        let mut told = Vec::new();
        map.retain(|key, _| {
            let is_ignored = self.ignores(None, key);
            if is_ignored {
                told.push(Repair::left_out(key.clone(), key));
            }
            !is_ignored && !self.remarks.contains(key)
        });
        let mut map = self.renamed((None, ""), map, caller, &mut told);
        for (name, value) in &mut map {
            let Value::Array(items) = value else { continue };
            let shown = self.offered(None, name).map_or(name.as_str(), |argument| &argument.from);
            for (index, item) in items.iter_mut().enumerate() {
                if let Value::Object(fields) = item {
                    let place = format!("{shown}[{index}].");
                    fields.retain(|key, _| {
                        let is_ignored = self.ignores(Some(name), key);
                        if is_ignored {
                            told.push(Repair::left_out(format!("{place}{key}"), key));
                        }
                        !is_ignored
                    });
                    let renamed =
                        self.renamed((Some(name), &place), std::mem::take(fields), caller, &mut told);
                    *fields = self.completed(Some(name), index, renamed);
                }
            }
        }
        (Value::Object(self.completed(None, 0, map)), told)
    }

    /// Whether it is another name and nothing more.
    pub fn changes_nothing(&self) -> bool {
        self.arguments.is_empty()
            && self.ignored.is_empty()
            && self.remarks.is_empty()
            && self.filled.is_empty()
            && self.numbered.is_empty()
    }

    fn renamed(
        &self,
        (list, place): (Option<&str>, &str),
        map: Map<String, Value>,
        caller: Caller<'_>,
        told: &mut Vec<Repair>,
    ) -> Map<String, Value> {
        let given: Vec<String> = map.keys().cloned().collect();
        let mut renamed = Map::new();
        for (key, value) in map {
            let Some(argument) = self.spelled(list, &key) else {
                // The tool's own name for what is called otherwise here.
                if let Some(offered) = self.name_for(caller, list, &key).filter(|offered| *offered != key) {
                    let (path, from) = (format!("{place}{key}"), format!("`{key}`"));
                    told.push(Repair { path, from, to: format!("`{offered}`") });
                }
                renamed.insert(key, value);
                continue;
            };
            let name = &argument.to.name;
            let meant = argument.parsed(&value);
            let canonical = argument.canonical(meant.clone().unwrap_or_else(|| value.clone()));
            let is_offered = caller == Caller::Own
                && self.offered(list, name).is_some_and(|offered| std::ptr::eq(offered, argument));
            if argument.shift != 0 && !is_offered && canonical != value {
                let (path, from) = (format!("{place}{key}"), value.to_string());
                let shown = self.name_for(caller, list, name).unwrap_or(&key);
                let to = format!("{shown}={canonical}, since it counts from {}", 1 - argument.shift);
                told.push(Repair { path, from, to });
            } else if let Some(meant) = meant {
                let (path, from, to) = (format!("{place}{key}"), value.to_string(), meant.to_string());
                told.push(Repair { path, from, to });
            } else if argument.is_narrowed(&value, &canonical) {
                let to = argument.theirs(canonical.clone()).to_string();
                told.push(Repair { path: format!("{place}{key}"), from: value.to_string(), to });
            }
            match renamed.get(name) {
                // Two spellings of one thing that agree are one; that do not, the second is left to be refused.
                Some(known) if *known == canonical => {}
                None if *name == key || !given.contains(name) => {
                    renamed.insert(name.clone(), canonical);
                }
                _ => {
                    renamed.insert(key, value);
                }
            }
        }
        renamed
    }

    /// The name by which a caller knows a canonical argument.
    fn name_for<'a>(&'a self, caller: Caller<'a>, list: Option<&str>, name: &'a str) -> Option<&'a str> {
        match caller {
            Caller::Own => self.offered(list, name).map(|offered| offered.from.as_str()),
            Caller::Other(Some(alias)) => alias.spelling(list, name),
            Caller::Other(None) => Some(name),
        }
    }

    fn ignores(&self, list: Option<&str>, name: &str) -> bool {
        self.ignored.iter().any(|path| path.list.as_deref() == list && path.name == name)
    }

    fn completed(&self, list: Option<&str>, index: usize, mut map: Map<String, Value>) -> Map<String, Value> {
        for (path, value) in self.filled.iter().filter(|(path, _)| path.list.as_deref() == list) {
            map.entry(&path.name).or_insert_with(|| value.clone());
        }
        for path in self.numbered.iter().filter(|path| path.list.as_deref() == list) {
            map.entry(&path.name).or_insert_with(|| (index + 1).to_string().into());
        }
        map
    }

    /// The argument that is spelled so, in the arguments or in the items of a list.
    fn spelled(&self, list: Option<&str>, from: &str) -> Option<&ArgumentAlias> {
        self.arguments.iter().find(|argument| argument.to.list.as_deref() == list && argument.from == from)
    }

    /// The spelling that is offered for a canonical argument, if it differs.
    pub fn offered(&self, list: Option<&str>, name: &str) -> Option<&ArgumentAlias> {
        let mut all = self.arguments.iter();
        all.find(|argument| argument.to.list.as_deref() == list && argument.to.name == name)
    }

    /// The name under this alias of a canonical argument, or of a field of a list's items; none where it has none.
    pub fn spelling<'a>(&'a self, list: Option<&str>, name: &'a str) -> Option<&'a str> {
        let path = list.map_or_else(|| name.to_owned(), |list| format!("{list}[].{name}"));
        let spelled = self.offered(list, name).map_or(name, |argument| argument.from.as_str());
        (!self.absent.contains(&path)).then_some(spelled)
    }

    /// Whether callers by this name do not give an argument, or a field of a list's items, because it is filled in.
    pub fn fills(&self, list: Option<&str>, name: &str) -> bool {
        let mut given = self.filled.iter().map(|(path, _)| path).chain(&self.numbered);
        given.any(|path| path.list.as_deref() == list && path.name == name)
    }

    /// The default of a canonical argument for callers by this name, if they have one of their own.
    pub fn default_of(&self, name: &str) -> Option<&Value> {
        self.defaults.iter().find(|(argument, _)| argument == name).map(|(_, value)| value)
    }

    /// The canonical name of an argument under this alias.
    pub fn canonical_argument<'a>(&'a self, from: &'a str) -> &'a str {
        self.spelled(None, from).map_or(from, |argument| &argument.to.name)
    }
}

impl ArgumentAlias {
    /// The canonical value for one under the alias.
    pub fn canonical(&self, value: Value) -> Value {
        match self.values.iter().find(|(theirs, _)| *theirs == value) {
            Some((_, ours)) => ours.clone(),
            None => shifted(value, self.shift),
        }
    }

    /// Whether a value of the alias means one that the tool does not tell apart from another.
    fn is_narrowed(&self, value: &Value, canonical: &Value) -> bool {
        self.values.iter().any(|(theirs, _)| theirs == value) && self.theirs(canonical.clone()) != *value
    }

    /// The number or truth value that a text holds, where the alias has a meaning of its own for it.
    fn parsed(&self, value: &Value) -> Option<Value> {
        let text = value.as_str()?.trim();
        let is_known =
            self.values.iter().any(|(theirs, _)| !theirs.is_string() && format!("{theirs}") == text);
        match is_known {
            true => serde_json::from_str(text).ok(),
            false if self.shift != 0 => text.parse::<i64>().ok().map(Value::from),
            false => None,
        }
    }

    /// The value under the alias for a canonical one.
    pub fn theirs(&self, value: Value) -> Value {
        let mut same = self.values.iter().filter(|(_, ours)| *ours == value);
        let is_same_there = same.clone().any(|(theirs, _)| *theirs == value);
        match same.next() {
            Some(_) if is_same_there => value,
            Some((theirs, _)) => theirs.clone(),
            None => shifted(value, self.shift.saturating_neg()),
        }
    }
}

/// The number counted from elsewhere. One below 0 counts nothing: it stays as it was sent, and the validator refuses it.
fn shifted(value: Value, shift: i64) -> Value {
    let count = value.as_i64().filter(|number| *number >= 0);
    match count.and_then(|number| number.checked_add(shift)) {
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
        let alias =
            Alias::new("read_file", "read").argument("path", "filePath").shifted("offset", "offset", 1);
        for (given, expected) in [
            (json!({"path": "a", "offset": 0}), json!({"filePath": "a", "offset": 1})),
            (json!({"offset": i64::MAX}), json!({"offset": i64::MAX})),
            (json!([1]), json!([1])),
            (json!({"offset": -1}), json!({"offset": -1})),
        ] {
            assert_eq!(alias.apply(given, Caller::Own), (expected, Vec::new()));
        }
        let (arguments, repairs) = alias.apply(json!({"path": "a", "offset": "4", "x": 1}), Caller::Own);
        assert_eq!(arguments, json!({"filePath": "a", "offset": 5, "x": 1}));
        assert_eq!(repairs[0].to_string(), "`offset`: \"4\" → 4");
    }

    #[test]
    fn a_value_that_the_tool_does_not_tell_apart_is_told() {
        let mut alias = Alias::new("write_todos", "todowrite").argument("status", "status");
        alias.arguments[0].values =
            vec![(json!("blocked"), json!("pending")), (json!("pending"), json!("pending"))];
        for (given, expected) in
            [("blocked", "`status`: \"blocked\" → \"pending\""), ("pending", ""), ("completed", "")]
        {
            let (_, repairs) = alias.apply(json!({ "status": given }), Caller::Own);
            let told: Vec<String> = repairs.iter().map(ToString::to_string).collect();
            assert_eq!(told.concat(), expected);
        }
    }

    #[test]
    fn items_are_renamed_completed_and_numbered() {
        let mut alias = Alias::new("update_plan", "todowrite").argument("plan", "todos");
        alias = alias.argument("step", "todos[].content");
        alias.filled.push((ArgumentPath::new("todos[].priority"), json!("medium")));
        alias.numbered.push(ArgumentPath::new("todos[].id"));
        alias.ignored.push(ArgumentPath::new("explanation"));
        let given = json!({"explanation": "x", "plan": [{"step": "a"}, {"step": "b", "id": "7"}, 1]});
        let (arguments, repairs) = alias.apply(given, Caller::Own);
        assert_eq!(
            arguments,
            json!({"todos": [
                {"content": "a", "priority": "medium", "id": "1"},
                {"content": "b", "id": "7", "priority": "medium"},
                1
            ]})
        );
        let told: Vec<String> = repairs.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["`explanation`: `explanation` → left out, the tool has no such argument"]);
    }
}
