//! What a row of the table of configuration keys is, and what the rows together do: read, merge, widen, show.
//!
//! The rows themselves stand in [`super::keys`]; nothing here knows any key by name.

mod row;

pub(crate) use row::Row;

use super::keys::{KEYS, Settings};
use super::origin::{Layer, Origined, Place, Problem, shortened};
use serde_json::Value;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolpost_core::text::Source;

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
    /// The word that stands for its value in the help; [`DIR`] where it is a folder, [`URL`] where it is a store.
    pub(super) value: &'static str,
    pub(super) help: &'static str,
}

/// The word for the value of a flag that is a folder, seen from the current one.
pub(crate) const DIR: &str = "DIR";

/// The word for the value of a flag that is the address of a store, which may hold a password.
pub(crate) const URL: &str = "URL";

/// Which commands take a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    Everywhere,
    Call,
    Mcp,
    Run,
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
