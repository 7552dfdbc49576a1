//! The dialects of the built-in tools: the tables in `dialects/`, read when a name first needs them.
//!
//! A tool that has no row in a table is offered there under its canonical name and arguments.

mod read;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
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
    static DIALECTS: LazyLock<Arc<Dialects>> =
        LazyLock::new(|| Arc::new(Dialects::new(tables).with_canonical(canonical)));
    &DIALECTS
}

fn canonical() -> BTreeSet<String> {
    let packs = crate::packs(&crate::Settings::default());
    packs.iter().flat_map(|pack| pack.manifest().tools().to_vec()).collect()
}

fn tables() -> Tables {
    #[expect(clippy::panic, reason = "the tables are compiled in, and a test reads every one of them")]
    read().unwrap_or_else(|errors| panic!("{errors}"))
}

fn read() -> Result<Tables, Errors> {
    let table = |(file, text): (&str, &str)| read::dialect(&Source::new(file, text.as_bytes())?);
    let dialects = TABLES.into_iter().map(table).collect::<Result<_, _>>()?;
    let (file, text) = ALIASES;
    Ok(Tables { dialects, aliases: read::aliases(&Source::new(file, text.as_bytes())?)? })
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

    #[test]
    fn mistakes_in_a_table_are_located() {
        let head = "name = 'x'\nabout = 'y'\n";
        for (text, expected) in [
            ("about = 'y'\n".to_owned(), "x.toml:1:1: `name` is missing; add `name = \"…\"`"),
            (
                format!("{head}[tool.read]\nname = 'R'\nrenam = {{}}\n"),
                "x.toml:5:1: `renam` means nothing in a tool of a dialect; did you mean `rename`",
            ),
            (format!("{head}[tool.read]\nname = 7\n"), "x.toml:4:8: `name` is a whole number; write a text"),
            (
                format!("{head}[tool.read]\nname = 'R'\nshift = {{ offset = 'x' }}\n"),
                "x.toml:5:20: `offset` is a text; write a whole number",
            ),
            (
                format!("{head}[tool.read]\nname = 'R'\n[tool.write]\nname = 'R'\n"),
                "x.toml:5:1: `R` means `read` already; a name has one meaning",
            ),
            (
                format!("{head}[tool.read]\nname = 'R'\n[not_offered]\nread = 'no'\n"),
                "x.toml:6:8: `read` is offered above; keep one of the two",
            ),
            (format!("{head}tool = 'x'\n"), "x.toml:3:8: `tool` is a text; write a table"),
        ] {
            let source = Source::new("x.toml", text.as_bytes()).unwrap();
            assert_eq!(read::dialect(&source).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
