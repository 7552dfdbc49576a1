//! The dialects of the built-in tools: the tables in `dialects/`, read when a name first needs them.
//!
//! A tool that has no row in a table is offered there under its canonical name and arguments.

use std::sync::{Arc, LazyLock};
use toolpost_core::Dialect;
use toolpost_core::dialect::{Dialects, Tables};
use toolpost_core::text::{Errors, Source};

/// In the order in which they resolve, after the session's own and the canonical names.
const TABLES: [(&str, &str); 4] = [
    ("dialects/long.toml", include_str!("../dialects/long.toml")),
    ("dialects/claude.toml", include_str!("../dialects/claude.toml")),
    ("dialects/gemini.toml", include_str!("../dialects/gemini.toml")),
    ("dialects/codex.toml", include_str!("../dialects/codex.toml")),
];

const ALIASES: (&str, &str) = ("dialects/aliases.toml", include_str!("../dialects/aliases.toml"));

/// The dialects in which the built-in tools have other names.
pub fn dialects() -> &'static Arc<Dialects> {
    static DIALECTS: LazyLock<Arc<Dialects>> = LazyLock::new(|| {
        let packs = crate::packs(&crate::Settings::default());
        let names = packs.iter().flat_map(|pack| pack.manifest().tools().to_vec());
        Arc::new(Dialects::new(tables).with_canonical(names))
    });
    &DIALECTS
}

fn tables() -> Tables {
    #[expect(clippy::panic, reason = "the tables are compiled in, and a test reads every one of them")]
    read().unwrap_or_else(|errors| panic!("{errors}"))
}

fn read() -> Result<Tables, Errors> {
    let table = |(file, text): (&str, &str)| Dialect::parse(&Source::new(file, text.as_bytes())?);
    let dialects = TABLES.into_iter().map(table).collect::<Result<_, _>>()?;
    let (file, text) = ALIASES;
    Ok(Tables { dialects, aliases: Dialect::parse_aliases(&Source::new(file, text.as_bytes())?)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_can_be_read_and_the_first_is_canonical() {
        let names: Vec<&str> = dialects().all().iter().map(|dialect| dialect.name()).collect();
        assert_eq!(names, ["toolpost", "long", "claude", "gemini", "codex"]);
        assert!(!read().unwrap_or_else(|errors| panic!("{errors}")).aliases.is_empty());
    }
}
