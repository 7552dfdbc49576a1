//! A key without the type of its values: how one is read, merged, judged and shown.

use super::{File, Flag, Form, InFile, Key, Merge, Schema, Shown, Stack, Usual, Widens};
use crate::config::keys::Settings;
use crate::config::origin::{Layer, Origined, Place, Problem, shortened};
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;
use toolpost_core::text::kind_of_toml;

/// A key without the type of its values: what the reader, the merger and the generators use.
pub(crate) trait Row: Sync {
    fn name(&self) -> &'static str;
    fn about(&self) -> &'static str;
    fn file(&self) -> InFile;
    fn variable(&self) -> &'static str;
    fn flag(&self) -> Option<Flag>;
    fn usual(&self) -> Usual;
    fn shown(&self) -> Shown;
    /// Whether several values can be set.
    fn is_list(&self) -> bool;
    /// Whether it is `true` or `false`.
    fn is_switch(&self) -> bool;
    /// The words that it can be, where there is a closed list.
    fn words(&self) -> Option<Vec<&'static str>>;
    /// The schema of the key in a file.
    fn schema(&self) -> Value;
    /// Sets it from a variable.
    fn set_variable(&self, settings: &mut Settings, text: &str, place: &Place) -> Vec<String>;
    /// Sets it from one use of its flag.
    fn set_flag(&self, settings: &mut Settings, text: &str) -> Result<(), String>;
    /// Sets it from a value in a file. Returns what is wrong.
    fn set_value(
        &self,
        settings: &mut Settings,
        file: &File<'_, '_>,
        value: &Spanned<DeValue<'_>>,
    ) -> Vec<Problem>;
    /// Adds what another set of settings says.
    fn add(&self, settings: &mut Settings, from: &Settings);
    /// Lays the layers over each other.
    fn merge(&self, stack: &Stack<'_>, into: &mut Settings);
    /// What the project's file would widen or change, with its line.
    fn widens(&self, stack: &Stack<'_>) -> Vec<String>;
    /// The values with their places.
    fn values(&self, settings: &Settings) -> Vec<Origined<Value>>;
}

impl<T: Clone> Row for Key<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn file(&self) -> InFile {
        self.file
    }

    fn variable(&self) -> &'static str {
        self.variable
    }

    fn flag(&self) -> Option<Flag> {
        self.flag
    }

    fn usual(&self) -> Usual {
        self.usual
    }

    fn shown(&self) -> Shown {
        self.shown
    }

    fn is_list(&self) -> bool {
        matches!(self.kind.form, Form::Texts { .. } | Form::Tables { .. })
    }

    fn is_switch(&self) -> bool {
        matches!(self.kind.form, Form::Switch(_))
    }

    fn words(&self) -> Option<Vec<&'static str>> {
        match self.kind.schema {
            Schema::Words(words) => Some(words()),
            Schema::Is(_) => None,
        }
    }

    fn schema(&self) -> Value {
        let one = match self.kind.schema {
            Schema::Words(words) => json!({"type": "string", "enum": words()}),
            Schema::Is(schema) => schema(),
        };
        let mut schema = match &self.kind.form {
            Form::Texts { most, .. } => json!({"type": "array", "maxItems": most, "items": one}),
            Form::Text(_) | Form::Switch(_) | Form::Tables { .. } => one,
        };
        schema["description"] = self.about.into();
        schema
    }

    fn set_variable(&self, settings: &mut Settings, text: &str, place: &Place) -> Vec<String> {
        let words: Vec<&str> = match &self.kind.form {
            Form::Texts { between, .. } => {
                text.split(*between).map(str::trim).filter(|word| !word.is_empty()).collect()
            }
            Form::Text(_) | Form::Switch(_) | Form::Tables { .. } => vec![text],
        };
        if words.is_empty() {
            return vec![format!("it has no item; unset it, or write items such as `{}`", self.example())];
        }
        let set = |word: &str| self.set(settings, word, place.clone()).err();
        words.into_iter().filter_map(set).collect()
    }

    fn set_flag(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        let flag = self.flag.map_or("", |flag| flag.long);
        self.set(settings, text, Place::new(Layer::Flags, format!("--{flag}"), 0))
    }

    fn set_value(
        &self,
        settings: &mut Settings,
        file: &File<'_, '_>,
        value: &Spanned<DeValue<'_>>,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut set = |at: &Spanned<DeValue<'_>>, text: Option<&str>| {
            let set = match text {
                Some(text) => self.set(settings, text, file.place(at)),
                None => Err(self.expected(at)),
            };
            problems.extend(set.err().map(|message| file.problem(at, message)));
        };
        match (&self.kind.form, value.get_ref()) {
            (Form::Text(_), DeValue::String(text)) => set(value, Some(text)),
            (Form::Switch(_), DeValue::Boolean(is_on)) => set(value, Some(&is_on.to_string())),
            (Form::Texts { most, .. }, DeValue::Array(items)) if items.len() > *most => {
                let message = format!("`{}` has {} items; name each once", self.name, items.len());
                problems.push(file.problem(value, message));
            }
            (Form::Texts { .. }, DeValue::Array(items)) => {
                items.iter().for_each(|item| set(item, item.get_ref().as_str()));
            }
            (Form::Text(_) | Form::Switch(_) | Form::Texts { .. }, _) => set(value, None),
            (Form::Tables { read, .. }, _) => {
                let tables = read(file, value);
                let place = |line| Place::new(file.layer, file.name.clone(), line);
                let values = tables.values.into_iter().map(|(one, line)| Origined::new(one, place(line)));
                (self.slot.get_mut)(settings).extend(values);
                settings.warnings.extend(tables.warnings);
                problems.extend(tables.problems);
            }
        }
        problems
    }

    fn add(&self, settings: &mut Settings, from: &Settings) {
        (self.slot.get_mut)(settings).extend((self.slot.get)(from).iter().cloned());
    }

    fn merge(&self, stack: &Stack<'_>, into: &mut Settings) {
        let get = self.slot.get;
        let held: Vec<Origined<T>> = get(stack.project)
            .iter()
            .filter(|one| stack.is_trusted || self.sentences(one, stack).is_none())
            .cloned()
            .collect();
        let layers = [
            get(stack.flags),
            get(stack.environment),
            &held,
            get(stack.named),
            get(stack.user),
            get(stack.built_in),
        ];
        let all = layers.iter().flat_map(|layer| layer.iter());
        *(self.slot.get_mut)(into) = match &self.merge {
            Merge::Strongest => {
                layers.iter().find(|layer| !layer.is_empty()).map_or_else(Vec::new, |layer| (*layer).clone())
            }
            Merge::All => all.cloned().collect(),
            Merge::Distinct(is_same) => all.fold(Vec::new(), |mut kept: Vec<Origined<T>>, one| {
                if !kept.iter().any(|known| is_same(&known.value, &one.value)) {
                    kept.push(one.clone());
                }
                kept
            }),
            Merge::Rights => Vec::new(),
        };
    }

    fn widens(&self, stack: &Stack<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        for one in (self.slot.get)(stack.project) {
            let mut sentences = self.sentences(one, stack).unwrap_or_default();
            if let Some(first) = sentences.first_mut() {
                first.push_str(&format!(" (line {})", one.place.line));
            }
            lines.extend(sentences);
        }
        lines
    }

    fn values(&self, settings: &Settings) -> Vec<Origined<Value>> {
        let values = (self.slot.get)(settings).iter();
        values.map(|one| Origined::new((self.kind.show)(&one.value), one.place.clone())).collect()
    }
}

impl<T: Clone> Key<T> {
    /// Sets the key from one text, or adds one to its list.
    fn set(&self, settings: &mut Settings, text: &str, place: Place) -> Result<(), String> {
        let value = match &self.kind.form {
            Form::Text(kind) | Form::Texts { text: kind, .. } => kind.read(text)?,
            Form::Switch(value) => value(text.parse().map_err(|_| {
                let shown = shortened(text, 60);
                format!("`{shown}` is neither true nor false; write `{} = {}`", self.name, self.example())
            })?),
            Form::Tables { flag: Some(parse), .. } => parse(text)?,
            Form::Tables { flag: None, .. } => return Err(format!("`{}` is set in a file only", self.name)),
        };
        let slot = (self.slot.get_mut)(settings);
        if !self.is_list() {
            slot.clear();
        }
        slot.push(Origined::new(value, place));
        Ok(())
    }

    /// What a value of the project's file would bring; none if it holds without trust.
    fn sentences(&self, theirs: &Origined<T>, stack: &Stack<'_>) -> Option<Vec<String>> {
        let own = || (self.slot.get)(stack.named).first().or((self.slot.get)(stack.user).first());
        match &self.widens {
            Widens::Always(says) => Some(says(&theirs.value)),
            Widens::Unless(narrows, says) => {
                (!narrows(&theirs.value, own().map(|own| &own.value))).then(|| says(&theirs.value))
            }
            // What these say is merged in `rights`, and no file sets the others.
            Widens::Rights | Widens::Never => Some(Vec::new()),
        }
    }

    fn example(&self) -> &'static str {
        match self.file {
            InFile::Value(example) | InFile::Tables(example) => example,
            InFile::Never => "",
        }
    }

    fn expected(&self, found: &Spanned<DeValue<'_>>) -> String {
        let wanted = match self.kind.form {
            Form::Text(_) => "a text",
            Form::Texts { .. } => "a list of texts",
            Form::Switch(_) => "true or false",
            Form::Tables { .. } => "a table",
        };
        let (name, example) = (self.name, self.example());
        format!("`{name}` is {}; write {wanted}, such as `{name} = {example}`", kind_of_toml(found))
    }
}
