//! All dialects that a registry knows: what a name means in any of them.

use super::Dialect;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};
use toolpost_schema::Alias;
use toolpost_text::nearest;

/// The dialects of a registry, beside the canonical one. Their tables are read when a name first needs them.
///
/// Core has no tables: whoever registers tools adds those in which the tools have other names, see
/// [`Draft::set_dialects`](crate::registry::Draft::set_dialects).
///
/// ```
/// use toolpost_core::dialect::{Alias, Dialect, Dialects, Spelling, Tables};
///
/// fn tables() -> Tables {
///     let mut loud = Dialect::new("loud", "models that shout");
///     loud.add(Spelling::new(Alias::new("WEATHER", "weather")), vec![]).unwrap();
///     Tables { dialects: vec![loud], aliases: vec![] }
/// }
/// let dialects = Dialects::new(tables);
/// assert_eq!(dialects.meaning("WEATHER"), Some("weather"));
/// assert_eq!(dialects.named("loud").unwrap().name_of("weather"), Some("WEATHER"));
/// assert!(dialects.named("lout").unwrap_err().contains("nearest: `loud`"));
/// ```
pub struct Dialects {
    load: fn() -> Tables,
    canonical: LazyLock<BTreeSet<String>>,
    loaded: OnceLock<Loaded>,
}

/// The tables of dialects, in the order in which they resolve.
#[derive(Debug, Default)]
pub struct Tables {
    /// What each dialect offers. The canonical one is not among them: it has no table.
    pub dialects: Vec<Dialect>,
    /// Names that no dialect offers and that resolve all the same, after those of the dialects.
    pub aliases: Vec<Alias>,
}

struct Loaded {
    /// The canonical one first.
    all: Vec<Arc<Dialect>>,
    further: Vec<Arc<Alias>>,
    /// The tool that each name means.
    meanings: HashMap<String, String>,
}

impl Dialects {
    /// The dialects whose tables this function reads.
    pub fn new(load: fn() -> Tables) -> Dialects {
        Dialects { load, canonical: LazyLock::new(BTreeSet::new), loaded: OnceLock::new() }
    }

    /// With the canonical names of tools: each means itself in every dialect, so that no table is read for it. They are
    /// asked for when a name is first looked up.
    #[must_use]
    pub fn with_canonical(self, tools: fn() -> BTreeSet<String>) -> Dialects {
        Dialects { canonical: LazyLock::new(tools), ..self }
    }

    /// All of them in the order in which they resolve; the canonical one is the first.
    pub fn all(&self) -> &[Arc<Dialect>] {
        &self.loaded().all
    }

    /// The dialect of this name; the error names the nearest.
    pub fn named(&self, name: &str) -> Result<Arc<Dialect>, String> {
        let canonical = Dialect::canonical();
        if name == canonical.name() {
            return Ok(canonical);
        }
        self.all().iter().find(|dialect| dialect.name() == name).cloned().ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            let names = || self.all().iter().map(|dialect| dialect.name());
            match nearest(name, names(), 1).first() {
                Some(near) => format!("no dialect `{shown}`; nearest: `{near}`"),
                None => format!("no dialect `{shown}`; there are {}", names().collect::<Vec<_>>().join(", ")),
            }
        })
    }

    /// The tool that a name means, in the order in which calls resolve; none for a name in no table. A tool that a table
    /// has a row for is meant by its canonical name.
    pub fn meaning(&self, name: &str) -> Option<&str> {
        let meaning = self.canonical.get(name).or_else(|| self.loaded().meanings.get(name));
        meaning.map(String::as_str)
    }

    /// What a name can mean, the first dialect that knows it first, further names last.
    pub(crate) fn resolving(&self, name: &str) -> impl Iterator<Item = &Arc<Alias>> {
        let Loaded { all, further, .. } = self.loaded();
        let further = further.iter().filter(move |alias| alias.name == name);
        all.iter().filter_map(move |dialect| dialect.resolve(name)).chain(further)
    }

    /// All names under which a tool can be called beside its own, in order.
    pub(crate) fn tool_names(&self, tool: &str) -> BTreeSet<&str> {
        let Loaded { all, further, .. } = self.loaded();
        let aliases = all.iter().flat_map(|dialect| dialect.names()).chain(further);
        aliases
            .filter(|alias| alias.tool == tool && alias.name != tool)
            .map(|alias| alias.name.as_str())
            .collect()
    }

    /// All spellings of a tool's arguments that mean the same under every name. Spellings that count from elsewhere or
    /// have other values are left out, since only the name tells them apart.
    pub(crate) fn argument_spellings(&self, tool: &str) -> Vec<(String, String)> {
        let Loaded { all: dialects, further, .. } = self.loaded();
        let aliases = dialects.iter().flat_map(|dialect| dialect.entries()).chain(further);
        let mut all: Vec<(String, String)> = Vec::new();
        for argument in aliases.filter(|alias| alias.tool == tool).flat_map(|alias| &alias.arguments) {
            let is_plain = argument.shift == 0 && argument.values.is_empty() && argument.to.list.is_none();
            let pair = (argument.from.clone(), argument.to.name.clone());
            if is_plain && pair.0 != pair.1 && !all.contains(&pair) {
                all.push(pair);
            }
        }
        all
    }

    fn loaded(&self) -> &Loaded {
        self.loaded.get_or_init(|| {
            let Tables { dialects, aliases } = (self.load)();
            let all: Vec<Arc<Dialect>> =
                std::iter::once(Dialect::canonical()).chain(dialects.into_iter().map(Arc::new)).collect();
            let further: Vec<Arc<Alias>> = aliases.into_iter().map(Arc::new).collect();
            let rows = || all.iter().flat_map(|dialect| dialect.names()).chain(&further);
            let mut meanings = HashMap::new();
            for alias in rows() {
                meanings.insert(alias.tool.clone(), alias.tool.clone());
            }
            for alias in rows() {
                meanings.entry(alias.name.clone()).or_insert_with(|| alias.tool.clone());
            }
            Loaded { all, further, meanings }
        })
    }
}

/// The canonical dialect alone.
impl Default for Dialects {
    fn default() -> Dialects {
        Dialects::new(Tables::default)
    }
}

impl toolpost_policy::Meanings for Dialects {
    fn meaning(&self, name: &str) -> Option<&str> {
        Dialects::meaning(self, name)
    }
}

impl fmt::Debug for Dialects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.loaded.get() {
            Some(loaded) => f.debug_tuple("Dialects").field(&loaded.all).finish(),
            None => f.write_str("Dialects(not read yet)"),
        }
    }
}
