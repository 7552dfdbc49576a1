//! Another name for a tool, with its own spelling of the arguments.
//!
//! Pure: from what was said to what the tool knows. Which name is meant is the registry's to find.

use crate::schema::Repair;
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
    /// What the tool needs and callers by this name do not give: the argument, and its value.
    pub filled: Vec<(ArgumentPath, Value)>,
    /// The same where the items of a list are to be numbered from 1.
    pub numbered: Vec<ArgumentPath>,
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
    pub fn apply(&self, arguments: Value) -> (Value, Vec<Repair>) {
        if self.changes_nothing() {
            return (arguments, Vec::new());
        }
        let Value::Object(mut map) = arguments else { return (arguments, Vec::new()) };
        let mut left_out = Vec::new();
        map.retain(|key, _| {
            let is_ignored = self.ignores(None, key);
            if is_ignored {
                let (path, from) = (key.clone(), format!("`{key}`"));
                left_out.push(Repair {
                    path,
                    from,
                    to: "left out, the tool has no such argument".to_owned(),
                });
            }
            !is_ignored
        });
        let mut map = self.renamed(None, map);
        for (name, value) in &mut map {
            let Value::Array(items) = value else { continue };
            for (index, item) in items.iter_mut().enumerate() {
                if let Value::Object(fields) = item {
                    fields.retain(|key, _| !self.ignores(Some(name), key));
                    let renamed = self.renamed(Some(name), std::mem::take(fields));
                    *fields = self.completed(Some(name), index, renamed);
                }
            }
        }
        (Value::Object(self.completed(None, 0, map)), left_out)
    }

    fn changes_nothing(&self) -> bool {
        self.arguments.is_empty()
            && self.ignored.is_empty()
            && self.filled.is_empty()
            && self.numbered.is_empty()
    }

    fn renamed(&self, list: Option<&str>, map: Map<String, Value>) -> Map<String, Value> {
        let given: Vec<String> = map.keys().cloned().collect();
        let mut renamed = Map::new();
        for (key, value) in map {
            let Some(argument) = self.spelled(list, &key) else {
                renamed.insert(key, value);
                continue;
            };
            let name = &argument.to.name;
            let canonical = argument.canonical(value.clone());
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
    pub(crate) fn offered(&self, list: Option<&str>, name: &str) -> Option<&ArgumentAlias> {
        let mut all = self.arguments.iter();
        all.find(|argument| argument.to.list.as_deref() == list && argument.to.name == name)
    }

    /// The canonical name of an argument under this alias.
    pub fn canonical_argument<'a>(&'a self, from: &'a str) -> &'a str {
        self.spelled(None, from).map_or(from, |argument| &argument.to.name)
    }
}

impl ArgumentAlias {
    /// The canonical value for one under the alias.
    pub(crate) fn canonical(&self, value: Value) -> Value {
        match self.values.iter().find(|(theirs, _)| *theirs == value) {
            Some((_, ours)) => ours.clone(),
            None => shifted(value, self.shift),
        }
    }

    /// The value under the alias for a canonical one.
    pub(crate) fn theirs(&self, value: Value) -> Value {
        let mut same = self.values.iter().filter(|(_, ours)| *ours == value);
        let is_same_there = same.clone().any(|(theirs, _)| *theirs == value);
        match same.next() {
            Some(_) if is_same_there => value,
            Some((theirs, _)) => theirs.clone(),
            None => shifted(value, self.shift.saturating_neg()),
        }
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
        let alias =
            Alias::new("read_file", "read").argument("path", "filePath").shifted("offset", "offset", 1);
        for (given, expected) in [
            (json!({"path": "a", "offset": 0}), json!({"filePath": "a", "offset": 1})),
            (json!({"path": "a", "offset": "4", "x": 1}), json!({"filePath": "a", "offset": 5, "x": 1})),
            (json!({"path": "a", "filePath": "b"}), json!({"path": "a", "filePath": "b"})),
            (json!({"offset": i64::MAX}), json!({"offset": i64::MAX})),
            (json!([1]), json!([1])),
        ] {
            assert_eq!(alias.apply(given), (expected, Vec::new()));
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
        let (arguments, repairs) = alias.apply(given);
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
