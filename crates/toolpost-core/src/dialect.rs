//! Dialects: the names and arguments that a family of models was trained on, as tables.
//!
//! A dialect decides which names are offered. Names and spellings of every dialect resolve at call time, whatever the
//! session's own is. A tool is never written twice for a dialect; what a table cannot say is not offered by it.

mod dialects;
mod offer;

pub use dialects::{Dialects, Tables};
pub(crate) use offer::is_hidden;
pub use toolpost_schema::{Alias, ArgumentAlias, ArgumentPath};

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// A table from canonical tools to the names and arguments of a family of models. It has rows for the tools that differ:
/// a tool without a row is offered under its canonical name and arguments.
///
/// ```
/// use toolpost_core::dialect::{Alias, Dialect, Spelling};
///
/// let mut loud = Dialect::new("loud", "models that shout");
/// loud.add(Spelling::new(Alias::new("WEATHER", "weather")), vec![])?;
/// assert_eq!(loud.name_of("weather"), Some("WEATHER"));
/// assert_eq!(loud.name_of("time"), None);
/// # Ok::<(), String>(())
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
#[derive(Debug, Clone)]
pub struct Spelling {
    /// The name that is offered, with its arguments.
    pub alias: Arc<Alias>,
    /// What the dialect says of the tool instead of its own description.
    pub description: Option<String>,
    /// Canonical arguments that it requires and the tool does not.
    pub required: Vec<String>,
}

impl Spelling {
    /// Another name, and how the arguments differ; all else as the tool says.
    pub fn new(alias: Alias) -> Spelling {
        Spelling { alias: Arc::new(alias), description: None, required: Vec::new() }
    }
}

impl Dialect {
    /// Canonical names and arguments: a dialect without rows.
    pub fn canonical() -> Arc<Dialect> {
        static CANONICAL: LazyLock<Arc<Dialect>> =
            LazyLock::new(|| Arc::new(Dialect::new("toolpost", "canonical names, the default")));
        Arc::clone(&CANONICAL)
    }

    /// A dialect that has no rows yet: its name, and whom it is for.
    pub fn new(name: &str, about: &str) -> Dialect {
        Dialect {
            name: name.to_owned(),
            about: about.to_owned(),
            tools: indexmap::IndexMap::new(),
            names: HashMap::new(),
            not_offered: BTreeMap::new(),
        }
    }

    /// Adds a row, with further names under which the tool is called. A name has one meaning: the error says which name is taken.
    pub fn add(&mut self, spelling: Spelling, also: Vec<String>) -> Result<(), String> {
        let alias = &spelling.alias;
        for name in std::iter::once(alias.name.clone()).chain(also) {
            let row = Arc::new(Alias { name: name.clone(), ..(**alias).clone() });
            if let Some(known) = self.names.insert(name.clone(), row) {
                return Err(format!("`{name}` means `{}` already; a name has one meaning", known.tool));
            }
        }
        self.tools.insert(alias.tool.clone(), spelling);
        Ok(())
    }

    /// Notes that it does not offer a tool, and why.
    pub fn leave_out(&mut self, tool: &str, reason: &str) {
        self.not_offered.insert(tool.to_owned(), reason.to_owned());
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whom it is for.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The name it offers a tool by; none if it has no row for the tool, or does not offer it.
    pub fn name_of(&self, tool: &str) -> Option<&str> {
        self.tools.get(tool).map(|spelling| spelling.alias.name.as_str())
    }

    /// The name under which a tool is known there; none where the dialect does not offer it.
    pub fn shown_name<'a>(&'a self, tool: &'a str) -> Option<&'a str> {
        match self.not_offered.contains_key(tool) {
            true => None,
            false => Some(self.name_of(tool).unwrap_or(tool)),
        }
    }

    /// What a name means in this dialect: the tool, and how its arguments differ.
    pub fn resolve(&self, name: &str) -> Option<&Arc<Alias>> {
        self.names.get(name)
    }

    /// The tools it has a row for, with the name and arguments of each, in the order of the table.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Alias>> {
        self.tools.values().map(|spelling| &spelling.alias)
    }

    /// Every name that resolves, with what it means.
    pub fn names(&self) -> impl Iterator<Item = &Arc<Alias>> {
        self.names.values()
    }

    /// The canonical arguments of a tool that do not exist there.
    pub fn absent(&self, tool: &str) -> &[String] {
        self.tools.get(tool).map(|spelling| spelling.alias.absent.as_slice()).unwrap_or_default()
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

impl toolpost_policy::ShownNames for Dialect {
    fn shown_name<'a>(&'a self, tool: &'a str) -> Option<&'a str> {
        Dialect::shown_name(self, tool)
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dialect({})", self.name)
    }
}
