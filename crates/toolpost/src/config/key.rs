//! What a row of the table of configuration keys is, and what the rows together do: read, merge, widen, show.
//!
//! The rows themselves stand in [`super::keys`]; nothing here knows any key by name.

use super::keys::{KEYS, Settings};
use super::origin::{Layer, Origined, Place, Problem, shortened};
use serde_json::{Value, json};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolpost_core::policy::{Source, kind_of_toml};

/// One key of the configuration: everything that toolpost knows of it.
pub(crate) struct Key<T: 'static> {
    /// Its name in a file, and for people.
    pub(super) name: &'static str,
    /// What it does, for the reference page, the schema and the example.
    pub(super) about: &'static str,
    /// How it stands in a file.
    pub(super) file: InFile,
    /// The variable that sets it too; empty where no text could.
    pub(super) variable: &'static str,
    /// The flag that sets it too.
    pub(super) flag: Option<Flag>,
    /// What holds where nothing is set.
    pub(super) usual: Usual,
    /// What its values are.
    pub(super) kind: Kind<T>,
    /// How the layers are laid over each other.
    pub(super) merge: Merge<T>,
    /// Which values in a project's file wait for trust.
    pub(super) widens: Widens<T>,
    /// Where `doctor` shows it.
    pub(super) shown: Shown,
    /// The field of [`Settings`] that holds it; added by the macro.
    pub(super) slot: Slot<T>,
}

/// How a key stands in a file, with an example in TOML.
#[derive(Clone, Copy)]
pub(crate) enum InFile {
    /// `name = example`.
    Value(&'static str),
    /// Tables, after all values.
    Tables(&'static str),
    /// No file sets it.
    Never,
}

/// A flag that sets a key.
#[derive(Clone, Copy)]
pub(crate) struct Flag {
    /// Which commands take it.
    pub(super) on: On,
    /// Its name, without `--`.
    pub(crate) long: &'static str,
    /// The word that stands for its value in the help; [`DIR`] where it is a folder.
    pub(super) value: &'static str,
    pub(super) help: &'static str,
}

/// The word for the value of a flag that is a folder, seen from the current one.
pub(crate) const DIR: &str = "DIR";

/// Which commands take a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    Everywhere,
    Call,
    Mcp,
}

/// What holds where nothing is set.
#[derive(Clone, Copy)]
pub(crate) enum Usual {
    /// This value, as it would be written in a variable.
    Is(&'static str),
    /// No value; this is what that means.
    Means(&'static str),
}

impl Usual {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Usual::Is(text) | Usual::Means(text) => text,
        }
    }
}

/// What the values of a key are.
pub(crate) struct Kind<T: 'static> {
    pub(super) form: Form<T>,
    /// Which values there are.
    pub(super) schema: Schema,
    /// One value, for people and programs.
    pub(super) show: fn(&T) -> Value,
}

/// Which values a key can have.
pub(crate) enum Schema {
    /// One of these words.
    Words(fn() -> Vec<&'static str>),
    /// What this JSON Schema says.
    Is(fn() -> Value),
}

/// How values are written.
pub(crate) enum Form<T: 'static> {
    /// One text.
    Text(Text<T>),
    /// A list of texts.
    Texts {
        text: Text<T>,
        /// Maximum number of items.
        most: usize,
        /// The characters between items in a variable.
        between: &'static [char],
    },
    /// `true` or `false`.
    Switch(fn(bool) -> T),
    /// Tables of a file.
    Tables {
        read: fn(&File<'_, '_>, &Spanned<DeValue<'_>>) -> Tables<T>,
        /// The value of a flag; none where there is no flag.
        flag: Option<Parse<T>>,
    },
}

/// Reads a text; the error says what is wrong with it and what to write.
pub(crate) type Parse<T> = fn(&str) -> Result<T, String>;

/// How one text is read.
pub(crate) struct Text<T: 'static> {
    pub(super) parse: Parse<T>,
    /// Maximum number of characters that are looked at, so that an error does not quote a whole file; none where a text
    /// is taken as it is.
    pub(super) longest: Option<usize>,
}

impl<T> Text<T> {
    fn read(&self, text: &str) -> Result<T, String> {
        match self.longest {
            Some(longest) => (self.parse)(&shortened(text, longest)),
            None => (self.parse)(text),
        }
    }
}

/// What tables of a file say: each value with its line.
#[derive(Default)]
pub(crate) struct Tables<T> {
    pub(super) values: Vec<(T, usize)>,
    pub(super) warnings: Vec<Problem>,
    pub(super) problems: Vec<Problem>,
}

/// How the layers of a key are laid over each other.
pub(crate) enum Merge<T: 'static> {
    /// The strongest layer that says something holds.
    Strongest,
    /// The values of all layers hold, the strongest first.
    All,
    /// So they do, but those that are the same only once.
    Distinct(fn(&T, &T) -> bool),
    /// Capability by capability, in [`super::rights`].
    Rights,
}

/// Which values in a project's file wait until the user trusts the file.
///
/// The sentences say what trust would bring; they are shown before the user agrees.
pub(crate) enum Widens<T: 'static> {
    /// All of them.
    Always(fn(&T) -> Vec<String>),
    /// All but those for which the first function is true: they narrow, and hold at once. It is given the project's value
    /// and that of the user's own files.
    Unless(fn(&T, Option<&T>) -> bool, fn(&T) -> Vec<String>),
    /// Capability by capability, in [`super::rights`].
    Rights,
    /// No file sets the key.
    Never,
}

/// Where `doctor` shows a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// On lines of its own, each value with its place.
    Row,
    /// Among the rights.
    Rights,
    /// Among the rules of the policy.
    Rules,
    /// Among the MCP servers.
    Servers,
}

/// The field of [`Settings`] that holds a key.
pub(crate) struct Slot<T: 'static> {
    pub(super) get: fn(&Settings) -> &Vec<Origined<T>>,
    pub(super) get_mut: fn(&mut Settings) -> &mut Vec<Origined<T>>,
}

/// A file that is being read.
pub(crate) struct File<'a, 's> {
    pub(super) source: &'s Source<'a>,
    pub(super) table: &'s DeTable<'a>,
    pub(super) layer: Layer,
    pub(super) name: Arc<str>,
}

impl File<'_, '_> {
    fn problem(&self, at: &Spanned<DeValue<'_>>, message: String) -> Problem {
        self.source.located(at.span().start, message).into()
    }

    fn place(&self, at: &Spanned<DeValue<'_>>) -> Place {
        Place::new(self.layer, self.name.clone(), self.source.line(at.span().start))
    }
}

/// The layers that are laid over each other.
pub(crate) struct Stack<'a> {
    pub(super) flags: &'a Settings,
    pub(super) environment: &'a Settings,
    pub(super) project: &'a Settings,
    pub(super) is_trusted: bool,
    pub(super) named: &'a Settings,
    pub(super) user: &'a Settings,
    pub(super) built_in: &'a Settings,
}

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

/// What holds where nothing is set.
pub(crate) fn built_in() -> Settings {
    let mut settings = Settings::default();
    for key in KEYS {
        if let Usual::Is(text) = key.usual() {
            let wrong = key.set_variable(&mut settings, text, &Place::built_in());
            debug_assert!(wrong.is_empty(), "{}: {wrong:?}", key.name());
        }
    }
    settings
}

/// Lays the layers over each other, key by key.
pub(crate) fn merge(stack: &Stack<'_>) -> Settings {
    let mut merged = Settings::default();
    KEYS.iter().for_each(|key| key.merge(stack, &mut merged));
    merged
}

/// A value as one would write it on a command line.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
