//! Keys: where they come from, and that they are not shown.

use serde::Deserialize;
use std::fmt;
use toolpost_core::host::Redactor;
use toolpost_core::model::{ModelError, ModelErrorKind};
use toolpost_http::BoxFuture;

/// A key of a vendor. It is never printed: not by `Debug`, and not in a message of ours.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    text: String,
    /// Where it comes from, for messages.
    source: String,
}

impl Key {
    /// A key, without the space around it. What cannot be sent in a header is refused.
    pub fn new(text: &str, source: impl Into<String>) -> Result<Key, ModelError> {
        let (text, source) = (text.trim(), source.into());
        let is_valid = !text.is_empty() && text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
        match is_valid {
            true => Ok(Key { text: text.to_owned(), source }),
            false => Err(ModelError::new(
                ModelErrorKind::Authentication,
                format!("the key from {source} is empty or holds a character that no key has"),
            )),
        }
    }

    /// Where it comes from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The key itself, for the header.
    pub(super) fn expose(&self) -> &str {
        &self.text
    }

    /// A redactor that knows this key too, wherever it comes from.
    pub fn known_to(&self, redactor: &Redactor) -> Redactor {
        redactor.and([("model key", &self.text)])
    }

    /// Makes this key known to a redactor that is in use already, and to all that were made from it.
    pub fn teach(&self, redactor: &Redactor) {
        redactor.learn("model key", &self.text);
    }

    /// A text without the key, should a provider have repeated it.
    pub(super) fn scrub(&self, text: &str) -> String {
        match self.text.len() >= 6 {
            true => text.replace(&self.text, "[key]"),
            false => text.to_owned(),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(from {})", self.source)
    }
}

/// Where the key of a vendor is found: the first of these that has one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct KeySource {
    /// Variables of the environment.
    pub variables: Vec<String>,
    /// A file that holds the key and nothing else.
    pub file: Option<String>,
    /// A command that prints the key.
    pub command: Vec<String>,
}

impl KeySource {
    /// Whether there is nowhere to look.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.file.is_none() && self.command.is_empty()
    }

    /// The key. None if nothing holds one; an error if something that is named cannot be read.
    pub async fn find(&self, keys: &dyn Keys) -> Result<Option<Key>, ModelError> {
        for name in &self.variables {
            if let Some(text) = keys.variable(name).filter(|text| !text.trim().is_empty()) {
                return Key::new(&text, format!("`{name}`")).map(Some);
            }
        }
        let unreadable = |what: String, why: String| {
            ModelError::new(ModelErrorKind::Authentication, format!("no key from {what}: {why}"))
        };
        if let Some(path) = &self.file {
            let what = format!("the file `{path}`");
            let text = keys.file(path).await.map_err(|why| unreadable(what.clone(), why))?;
            return Key::new(&text, what).map(Some);
        }
        if let Some(program) = self.command.first() {
            let what = format!("the command `{program}`");
            let text = keys.command(&self.command).await.map_err(|why| unreadable(what.clone(), why))?;
            return Key::new(&text, what).map(Some);
        }
        Ok(None)
    }

    /// In words, for a message.
    pub(super) fn shown(&self) -> String {
        let mut places: Vec<String> = self.variables.iter().map(|name| format!("`{name}`")).collect();
        places.extend(self.file.iter().map(|path| format!("the file `{path}`")));
        places.extend(self.command.first().map(|program| format!("the command `{program}`")));
        places.join(" or ")
    }
}

/// What reads keys. Implemented by the program, which alone reads the environment and starts commands; called when a
/// model is opened. An implementation returns why it failed, without any part of what it read.
pub trait Keys: Send + Sync {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;

    /// The content of a file.
    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<String, String>>;

    /// What a command prints.
    fn command<'a>(&'a self, command: &'a [String]) -> BoxFuture<'a, Result<String, String>>;
}
