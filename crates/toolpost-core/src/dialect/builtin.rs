//! The tables that come with toolpost, read once.

use super::{Dialect, read};
use crate::alias::Alias;
use crate::policy::{Errors, Source};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

const OURS: (&str, &str) = ("dialects/toolpost.toml", include_str!("../../dialects/toolpost.toml"));

/// In the order in which they resolve, after the session's own and ours.
const TABLES: [(&str, &str); 4] = [
    ("dialects/long.toml", include_str!("../../dialects/long.toml")),
    ("dialects/claude.toml", include_str!("../../dialects/claude.toml")),
    ("dialects/gemini.toml", include_str!("../../dialects/gemini.toml")),
    ("dialects/codex.toml", include_str!("../../dialects/codex.toml")),
];

const FURTHER: (&str, &str) = ("dialects/aliases.toml", include_str!("../../dialects/aliases.toml"));

struct Builtin {
    dialects: Vec<Arc<Dialect>>,
    further: Vec<Arc<Alias>>,
}

/// Read by itself: most calls need no other.
static CANONICAL: LazyLock<Arc<Dialect>> = LazyLock::new(|| {
    #[expect(clippy::panic, reason = "the table is compiled in, and a test reads it")]
    table(OURS).unwrap_or_else(|errors| panic!("{errors}"))
});

static BUILTIN: LazyLock<Builtin> = LazyLock::new(|| {
    #[expect(clippy::panic, reason = "the tables are compiled in, and a test reads every one of them")]
    load().unwrap_or_else(|errors| panic!("{errors}"))
});

fn table((file, text): (&str, &str)) -> Result<Arc<Dialect>, Errors> {
    read::dialect(&Source::new(file, text.as_bytes())?).map(Arc::new)
}

fn load() -> Result<Builtin, Errors> {
    let others = TABLES.into_iter().map(table);
    let dialects = std::iter::once(Ok(canonical())).chain(others).collect::<Result<_, _>>()?;
    let further = read::aliases(&Source::new(FURTHER.0, FURTHER.1.as_bytes())?)?;
    Ok(Builtin { dialects, further })
}

pub(super) fn canonical() -> Arc<Dialect> {
    Arc::clone(&CANONICAL)
}

pub(super) fn all() -> &'static [Arc<Dialect>] {
    &BUILTIN.dialects
}

/// What a name means, the first dialect that knows it first, further spellings last.
pub(crate) fn resolving(name: &str) -> impl Iterator<Item = &'static Arc<Alias>> {
    // The others are not even read while our own table knows the name.
    let others = std::iter::once(()).flat_map(move |()| {
        let further = BUILTIN.further.iter().filter(move |alias| alias.name == name);
        BUILTIN.dialects[1..].iter().filter_map(move |dialect| dialect.resolve(name)).chain(further)
    });
    CANONICAL.resolve(name).into_iter().chain(others)
}

/// The tool that a name of another dialect means, in the order in which calls resolve. Rules ask for each access, so it
/// is one lookup, and our own names do not load the other tables.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    static MEANINGS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
        let dialects = BUILTIN.dialects.iter().flat_map(|dialect| dialect.names());
        let names = dialects.chain(&BUILTIN.further).map(|alias| alias.name.as_str());
        names.filter_map(|name| Some((name, resolving(name).next()?.tool.as_str()))).collect()
    });
    match CANONICAL.resolve(name) {
        Some(alias) => Some(alias.tool.as_str()),
        None => MEANINGS.get(name).copied(),
    }
}

/// All names under which a tool can be called beside its own, in order.
pub(crate) fn tool_names(tool: &str) -> BTreeSet<&'static str> {
    let aliases = BUILTIN.dialects.iter().flat_map(|dialect| dialect.names()).chain(&BUILTIN.further);
    aliases
        .filter(|alias| alias.tool == tool && alias.name != tool)
        .map(|alias| alias.name.as_str())
        .collect()
}

/// All spellings of a tool's arguments that mean the same under every name: those that count or say otherwise are left
/// out, since it takes the name to know.
pub(crate) fn argument_spellings(tool: &str) -> Vec<(String, String)> {
    let aliases = BUILTIN.dialects.iter().flat_map(|dialect| dialect.entries()).chain(&BUILTIN.further);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_can_be_read_and_the_first_is_our_own() {
        let builtin = load().unwrap_or_else(|errors| panic!("{errors}"));
        let names: Vec<&str> = builtin.dialects.iter().map(|dialect| dialect.name()).collect();
        assert_eq!(names, ["toolpost", "long", "claude", "gemini", "codex"]);
        assert!(!builtin.further.is_empty());
    }
}
