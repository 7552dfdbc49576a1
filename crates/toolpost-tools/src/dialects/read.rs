//! Reads the tables: `[tool.NAME]` with what differs, `[not_offered]` with reasons; `[[alias]]` for further names.
//!
//! The tables are ours, so a key that means nothing is an error, not a warning.

use serde_json::Value;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolpost_core::Dialect;
use toolpost_core::dialect::{Alias, ArgumentAlias, ArgumentPath, Spelling};
use toolpost_core::text::{Errors, Source, kind_of_toml, nearest, parse_toml};

type TomlValue<'a> = Spanned<DeValue<'a>>;

/// Keys that both kinds of table have.
const SPELLING: [&str; 10] =
    ["rename", "accept", "shift", "values", "read_as", "ignored", "remarks", "absent", "filled", "numbered"];

pub(super) fn dialect(source: &Source<'_>) -> Result<Dialect, Errors> {
    let root = parse_toml(source)?;
    let root = root.get_ref();
    let mut reader = Reader { source, errors: Errors::none() };
    reader.known_keys(root, &["name", "about", "tool", "not_offered"], "a dialect");
    let name = reader.needed_text(0, root, "name");
    let about = reader.needed_text(0, root, "about");
    let mut dialect = Dialect::new(name.as_deref().unwrap_or_default(), about.as_deref().unwrap_or_default());
    for (tool, value) in reader.table(root, "tool") {
        let Some(table) = reader.as_table(value, tool) else { continue };
        let keys: Vec<&str> = SPELLING
            .into_iter()
            .chain(["name", "also", "description", "texts", "defaults", "required"])
            .collect();
        reader.known_keys(table, &keys, "a tool of a dialect");
        let Some(offered) = reader.needed_text(value.span().start, table, "name") else { continue };
        let mut alias = reader.alias(&offered, tool, table);
        for (canonical, value) in reader.table(table, "texts") {
            let text = reader.as_text(value, canonical);
            alias.texts.extend(text.map(|text| (canonical.to_owned(), text)));
        }
        for (canonical, value) in reader.table(table, "defaults") {
            match scalar(value) {
                Some(value) => alias.defaults.push((canonical.to_owned(), value)),
                None => reader.wrong_kind(value, canonical, "a text, a number, true or false"),
            }
        }
        let description = table.get("description").and_then(|value| reader.as_text(value, "description"));
        let required = reader.texts(table, "required");
        let also = reader.texts(table, "also");
        let spelling = Spelling { alias: Arc::new(alias), description, required };
        if let Err(message) = dialect.add(spelling, also) {
            reader.error(value.span().start, message);
        }
    }
    for (tool, value) in reader.table(root, "not_offered") {
        if dialect.name_of(tool).is_some() {
            reader.error(value.span().start, format!("`{tool}` is offered above; keep one of the two"));
        }
        if let Some(reason) = reader.as_text(value, tool) {
            dialect.leave_out(tool, &reason);
        }
    }
    reader.errors.or(dialect)
}

/// Names and arguments that no dialect has and that users' files and habits do.
pub(super) fn aliases(source: &Source<'_>) -> Result<Vec<Alias>, Errors> {
    let root = parse_toml(source)?;
    let root = root.get_ref();
    let mut reader = Reader { source, errors: Errors::none() };
    reader.known_keys(root, &["alias"], "a table of further spellings");
    let mut all = Vec::new();
    let items = root.get("alias").and_then(|value| value.get_ref().as_array());
    for value in items.into_iter().flat_map(|items| items.iter()) {
        let Some(table) = reader.as_table(value, "alias") else { continue };
        let keys: Vec<&str> = SPELLING.into_iter().chain(["tool", "names"]).collect();
        reader.known_keys(table, &keys, "an alias");
        let Some(tool) = reader.needed_text(value.span().start, table, "tool") else { continue };
        let alias = reader.alias("", &tool, table);
        let names = reader.texts(table, "names");
        all.extend(names.into_iter().map(|name| Alias { name, ..alias.clone() }));
    }
    reader.errors.or(all)
}

struct Reader<'a, 'b> {
    source: &'b Source<'a>,
    errors: Errors,
}

impl<'a> Reader<'a, '_> {
    fn error(&mut self, at: usize, message: impl Into<String>) {
        self.errors.push(self.source.located(at, message));
    }

    fn known_keys(&mut self, table: &DeTable<'a>, known: &[&str], place: &str) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let advice = match nearest(key.get_ref(), known.iter().copied(), 1).first() {
                Some(near) => format!("did you mean `{near}`"),
                None => format!("known are {}", known.join(", ")),
            };
            let message = format!("`{}` means nothing in {place}; {advice}", key.get_ref());
            self.error(key.span().start, message);
        }
    }

    /// What a name or a group of names says of the arguments.
    fn alias(&mut self, name: &str, tool: &str, table: &DeTable<'a>) -> Alias {
        let mut alias = Alias::new(name, tool);
        for (canonical, value) in self.table(table, "rename") {
            if let Some(theirs) = self.as_text(value, canonical) {
                alias = alias.argument(&theirs, canonical);
            }
        }
        for (canonical, value) in self.table(table, "shift") {
            match integer(value) {
                Some(shift) => spelling(&mut alias, canonical).shift = shift,
                None => self.wrong_kind(value, canonical, "a whole number"),
            }
        }
        for (canonical, value) in self.table(table, "values") {
            let Some(pairs) = self.as_table(value, canonical) else { continue };
            for (theirs, ours) in pairs.iter() {
                match scalar(ours) {
                    Some(ours) => {
                        let theirs = word(theirs.get_ref());
                        spelling(&mut alias, canonical).values.push((theirs, ours));
                    }
                    None => self.wrong_kind(ours, theirs.get_ref(), "a text, a number, true or false"),
                }
            }
        }
        for (canonical, value) in self.table(table, "accept") {
            // What is offered stays the first spelling.
            spelling(&mut alias, canonical);
            for theirs in self.as_texts(value, canonical) {
                alias = alias.argument(&theirs, canonical);
            }
        }
        for (theirs, value) in self.table(table, "read_as") {
            if let Some(argument) = self.read_as(theirs, value) {
                let to = &argument.to;
                if alias.offered(to.list.as_deref(), &to.name).is_none() && to.list.is_none() {
                    // What is offered stays the first spelling.
                    spelling(&mut alias, &to.name);
                }
                alias.arguments.push(argument);
            }
        }
        alias.ignored = self.paths(table, "ignored");
        alias.remarks = self.texts(table, "remarks");
        alias.absent = self.texts(table, "absent");
        for (canonical, value) in self.table(table, "filled") {
            match scalar(value) {
                Some(value) => alias.filled.push((ArgumentPath::new(canonical), value)),
                None => self.wrong_kind(value, canonical, "a text, a number, true or false"),
            }
        }
        alias.numbered = self.paths(table, "numbered");
        alias
    }

    /// A further spelling with values of its own: `recursive = { argument = "depth", true = 99, false = 1 }`.
    fn read_as(&mut self, theirs: &str, value: &TomlValue<'a>) -> Option<ArgumentAlias> {
        let table = self.as_table(value, theirs)?;
        let to = self.needed_text(value.span().start, table, "argument")?;
        let mut argument = ArgumentAlias {
            from: theirs.to_owned(),
            to: ArgumentPath::new(&to),
            shift: 0,
            values: Vec::new(),
        };
        for (key, value) in table.iter() {
            match (key.get_ref().as_ref(), scalar(value)) {
                ("argument", _) => {}
                ("shift", Some(shift)) if shift.is_i64() => {
                    argument.shift = shift.as_i64().unwrap_or_default()
                }
                (key, Some(ours)) => argument.values.push((word(key), ours)),
                (key, None) => self.wrong_kind(value, key, "a text, a number, true or false"),
            }
        }
        Some(argument)
    }

    fn wrong_kind(&mut self, value: &TomlValue<'a>, name: &str, wanted: &str) {
        let message = format!("`{name}` is {}; write {wanted}", kind_of_toml(value));
        self.error(value.span().start, message);
    }

    /// The entries of a table that may be left out.
    fn table<'t>(&mut self, table: &'t DeTable<'a>, name: &str) -> Vec<(&'t str, &'t TomlValue<'a>)> {
        let Some(value) = table.get(name) else { return Vec::new() };
        let entries = self.as_table(value, name).into_iter().flat_map(|table| table.iter());
        entries.map(|(key, value)| (key.get_ref().as_ref(), value)).collect()
    }

    fn as_table<'t>(&mut self, value: &'t TomlValue<'a>, name: &str) -> Option<&'t DeTable<'a>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_kind(value, name, "a table");
        }
        table
    }

    fn as_text(&mut self, value: &TomlValue<'a>, name: &str) -> Option<String> {
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Some(text.to_owned()),
            Some(_) => {
                self.error(value.span().start, format!("`{name}` is empty; write a text"));
                None
            }
            None => {
                self.wrong_kind(value, name, "a text");
                None
            }
        }
    }

    fn needed_text(&mut self, at: usize, table: &DeTable<'a>, name: &str) -> Option<String> {
        match table.get(name) {
            Some(value) => self.as_text(value, name),
            None => {
                self.error(at, format!("`{name}` is missing; add `{name} = \"…\"`"));
                None
            }
        }
    }

    fn texts(&mut self, table: &DeTable<'a>, name: &str) -> Vec<String> {
        table.get(name).map(|value| self.as_texts(value, name)).unwrap_or_default()
    }

    fn paths(&mut self, table: &DeTable<'a>, name: &str) -> Vec<ArgumentPath> {
        self.texts(table, name).iter().map(|path| ArgumentPath::new(path)).collect()
    }

    fn as_texts(&mut self, value: &TomlValue<'a>, name: &str) -> Vec<String> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_kind(value, name, "a list of texts");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.as_text(item, name)).collect()
    }
}

/// The first spelling of an argument, made if there is none: the canonical one.
fn spelling<'a>(alias: &'a mut Alias, canonical: &str) -> &'a mut ArgumentAlias {
    let to = ArgumentPath::new(canonical);
    let at = alias.arguments.iter().position(|argument| argument.to == to).unwrap_or_else(|| {
        let from = to.name.clone();
        alias.arguments.push(ArgumentAlias { from, to, shift: 0, values: Vec::new() });
        alias.arguments.len() - 1
    });
    &mut alias.arguments[at]
}

fn integer(value: &TomlValue<'_>) -> Option<i64> {
    let number = value.get_ref().as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn scalar(value: &TomlValue<'_>) -> Option<Value> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.as_ref().into()),
        DeValue::Boolean(truth) => Some((*truth).into()),
        DeValue::Integer(_) => integer(value).map(Into::into),
        _ => None,
    }
}

/// A key as the value it stands for: keys of TOML are texts, `true` and `false` are meant as they are.
fn word(key: &str) -> Value {
    match key {
        "true" => true.into(),
        "false" => false.into(),
        text => text.into(),
    }
}
