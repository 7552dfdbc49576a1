//! A value with the place it comes from, and what is wrong at a place.

use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use toolpost_core::text::{Errors, Located};

/// Where values come from; the last is the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// What toolpost itself brings.
    BuiltIn,
    /// The user's own file, and one named with `--config`.
    User,
    /// The workspace's file.
    Project,
    /// Variables of the environment.
    Environment,
    /// The command line.
    Flags,
}

impl Layer {
    /// The word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::BuiltIn => "built-in",
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Environment => "environment",
            Layer::Flags => "flags",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A layer, file and line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The layer.
    pub layer: Layer,
    /// The file, or what stands for one: `--policy`, `TOOLPOST_POLICY`.
    #[serde(serialize_with = "as_text")]
    pub file: Arc<str>,
    /// The line, counting from 1; 0 where there are no lines.
    pub line: usize,
}

impl Place {
    /// A line of a file.
    pub fn new(layer: Layer, file: impl Into<Arc<str>>, line: usize) -> Place {
        Place { layer, file: file.into(), line }
    }

    /// What toolpost itself brings.
    pub fn built_in() -> Place {
        Place::new(Layer::BuiltIn, "built-in", 0)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

fn as_text<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// A value that knows where it was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origined<T> {
    /// The value.
    pub value: T,
    /// Where it was set.
    #[serde(flatten)]
    pub place: Place,
}

impl<T> Origined<T> {
    /// A value set at a place.
    pub fn new(value: T, place: Place) -> Origined<T> {
        Origined { value, place }
    }
}

/// Something wrong in the configuration, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file, flag or variable.
    pub file: String,
    /// The line, counting from 1; 0 where it is about the whole.
    pub line: usize,
    /// The column in characters, counting from 1; 0 where it is about the whole.
    pub column: usize,
    /// What is wrong; what to do.
    pub message: String,
}

impl Problem {
    /// About a whole file, flag or variable.
    pub fn of(file: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { file: file.into(), line: 0, column: 0, message: message.into() }
    }
}

impl From<Located> for Problem {
    fn from(located: Located) -> Problem {
        let Located { file, line, column, message } = located;
        Problem { file, line, column, message: shortened(&message, LONGEST) }
    }
}

/// A message quotes the file, which may hold anything.
const LONGEST: usize = 400;

/// The first characters of a text, on one line.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let cut = text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end]);
    let end = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{end}", cut.replace(char::is_control, "\u{fffd}"))
}

/// Each error of a file as a problem.
pub(super) fn problems(errors: &Errors) -> Vec<Problem> {
    errors.all().iter().cloned().map(Problem::from).collect()
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.message),
        }
    }
}
