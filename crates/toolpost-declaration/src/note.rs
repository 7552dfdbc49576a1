//! What a conversion says about itself: notes on what it changed, and refusals.
//!
//! Both are bounded, so that a hostile schema cannot make the report larger than itself.

use serde::Serialize;
use std::fmt;

/// The most notes kept for one declaration.
const MAX_NOTES: usize = 200;
/// The most bytes shown of one name inside a path or a message.
const MAX_SHOWN: usize = 80;

/// One change to the tool's own schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Where: a JSON pointer into the tool's schema, empty for the root.
    pub path: String,
    /// What was done.
    pub change: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", or_root(&self.path), self.change, self.reason)
    }
}

/// Why a tool cannot be declared in a format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Where: a JSON pointer into the tool's schema, empty for the root or the name.
    pub path: String,
    /// Why, for the author of the tool.
    pub reason: String,
}

impl Refusal {
    pub(super) fn new(path: Path<'_>, reason: impl Into<String>) -> Refusal {
        Refusal { path: path.to_string(), reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", or_root(&self.path), self.reason)
    }
}

impl std::error::Error for Refusal {}

/// Where in a schema a conversion is; written out only when something is said about the place.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: &'a str,
}

impl<'a> Path<'a> {
    pub(super) const ROOT: Path<'static> = Path { parent: None, segment: "" };

    pub(super) fn then(&'a self, segment: &'a str) -> Path<'a> {
        Path { parent: Some(self), segment }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return Ok(()) };
        parent.fmt(f)?;
        write!(f, "/{}", shorten(self.segment).replace('~', "~0").replace('/', "~1"))
    }
}

/// The notes of one conversion.
#[derive(Default)]
pub(super) struct Notes {
    list: Vec<Note>,
    left_out: usize,
}

impl Notes {
    pub(super) fn add(&mut self, path: Path<'_>, change: impl Into<String>, reason: impl Into<String>) {
        if self.list.len() >= MAX_NOTES {
            self.left_out += 1;
            return;
        }
        self.list.push(Note { path: path.to_string(), change: change.into(), reason: reason.into() });
    }

    /// A keyword was left out.
    pub(super) fn dropped(&mut self, path: Path<'_>, keyword: &str, reason: impl Into<String>) {
        self.add(path, format!("`{}` dropped", shorten(keyword)), reason);
    }

    pub(super) fn append(&mut self, other: Notes) {
        for note in other.list {
            if self.list.len() < MAX_NOTES { self.list.push(note) } else { self.left_out += 1 }
        }
        self.left_out += other.left_out;
    }

    pub(super) fn into_list(mut self) -> Vec<Note> {
        if self.left_out > 0 {
            let change = format!("and {} more changes", self.left_out);
            self.list.push(Note { path: String::new(), change, reason: "only the first are listed".into() });
        }
        self.list
    }
}

/// The beginning of a text that may be of any length.
pub(super) fn shorten(text: &str) -> String {
    if text.len() <= MAX_SHOWN {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_SHOWN)])
}

fn or_root(path: &str) -> &str {
    if path.is_empty() { "(root)" } else { path }
}
