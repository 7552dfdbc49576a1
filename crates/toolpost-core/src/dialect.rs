//! Dialects: the names and arguments that a family of models was trained on, as tables.
//!
//! A dialect decides which names are offered. Names and spellings of every dialect resolve at call time, whatever the
//! session's own is. A tool is never written twice for a dialect; what a table cannot say is not offered by it.

mod builtin;
mod offer;
mod read;

pub(crate) use builtin::{argument_spellings, meaning, resolving, tool_names};

use crate::alias::Alias;
use crate::nearest::nearest;
use crate::policy::{Errors, Source};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// A table from canonical tools to the names and arguments of a family of models.
///
/// ```
/// use toolpost_core::Dialect;
///
/// let claude = Dialect::named("claude").unwrap();
/// assert_eq!(claude.name_of("read"), Some("Read"));
/// assert!(Dialect::named("claud").unwrap_err().contains("nearest: `claude`"));
/// ```
pub struct Dialect {
    name: String,
    about: String,
    /// By canonical name, in the order of the file.
    tools: indexmap::IndexMap<String, Spelling>,
    /// By each name that resolves.
    names: HashMap<String, Arc<Alias>>,
    /// Tools that the dialect does not offer, with the reason.
    not_offered: BTreeMap<String, String>,
}

/// How a dialect spells one tool.
struct Spelling {
    /// The name that is offered, with its arguments.
    alias: Arc<Alias>,
    /// Canonical arguments that do not exist there: not offered, taken if they are given.
    absent: Vec<String>,
}

impl Dialect {
    /// The built-in dialects, in the order in which they resolve.
    pub fn all() -> &'static [Arc<Dialect>] {
        builtin::all()
    }

    /// The built-in dialect of this name; otherwise the nearest is told.
    pub fn named(name: &str) -> Result<Arc<Dialect>, String> {
        let all = Dialect::all();
        all.iter().find(|dialect| dialect.name == name).cloned().ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            let names = || all.iter().map(|dialect| dialect.name.as_str());
            match nearest(name, names(), 1).first() {
                Some(near) => format!("no dialect `{shown}`; nearest: `{near}`"),
                None => format!("no dialect `{shown}`; there are {}", names().collect::<Vec<_>>().join(", ")),
            }
        })
    }

    /// Canonical names and arguments.
    pub fn canonical() -> Arc<Dialect> {
        builtin::canonical()
    }

    /// Reads a table.
    pub fn parse(source: &Source<'_>) -> Result<Dialect, Errors> {
        read::dialect(source)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whom it is for.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The name it offers a tool by; none if it does not speak of the tool or does not offer it.
    pub fn name_of(&self, tool: &str) -> Option<&str> {
        self.tools.get(tool).map(|spelling| spelling.alias.name.as_str())
    }

    /// What a name means in this dialect: the tool, and how its arguments differ.
    pub fn resolve(&self, name: &str) -> Option<&Arc<Alias>> {
        self.names.get(name)
    }

    /// The tools it offers, with the name and arguments of each, in the order of the table.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Alias>> {
        self.tools.values().map(|spelling| &spelling.alias)
    }

    /// Every name that resolves, with what it means.
    pub fn names(&self) -> impl Iterator<Item = &Arc<Alias>> {
        self.names.values()
    }

    /// The canonical arguments of a tool that do not exist there.
    pub fn absent(&self, tool: &str) -> &[String] {
        self.tools.get(tool).map(|spelling| spelling.absent.as_slice()).unwrap_or_default()
    }

    /// The tools it does not offer, each with the reason.
    pub fn not_offered(&self) -> impl Iterator<Item = (&str, &str)> {
        self.not_offered.iter().map(|(tool, reason)| (tool.as_str(), reason.as_str()))
    }

    /// Why it does not offer a tool, if so.
    pub fn reason_against(&self, tool: &str) -> Option<&str> {
        self.not_offered.get(tool).map(String::as_str)
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dialect({})", self.name)
    }
}
