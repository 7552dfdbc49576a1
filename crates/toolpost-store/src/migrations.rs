//! The tables, and how they came to be: numbered steps, each in a transaction of its own.

use crate::db::{Failure, Kind, Tx};

/// The steps, the first one first. A step that was ever released is never changed: what it lacks comes in the next one.
pub(crate) const STEPS: [&str; 8] = [
    include_str!("../migrations/1.sql"),
    include_str!("../migrations/2.sql"),
    include_str!("../migrations/3.sql"),
    include_str!("../migrations/4.sql"),
    include_str!("../migrations/5.sql"),
    include_str!("../migrations/6.sql"),
    include_str!("../migrations/7.sql"),
    include_str!("../migrations/8.sql"),
];

/// The version that this program knows.
pub(crate) const NEWEST: usize = STEPS.len();

/// Takes the step from one version to the next.
pub(crate) fn step(tx: &mut dyn Tx, from: usize) -> Result<(), Failure> {
    for statement in statements(STEPS[from], tx.kind()) {
        tx.run(&statement, &[])?;
    }
    if from == 0 {
        let words = match tx.kind() {
            Kind::Sqlite => {
                "CREATE VIRTUAL TABLE log_words USING fts5 (words, content='', contentless_delete=1, tokenize='unicode61')"
            }
            #[cfg(feature = "postgres")]
            Kind::Postgres => "CREATE TABLE log_words (position BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)",
        };
        tx.run(words, &[])?;
        #[cfg(feature = "postgres")]
        if tx.kind() == Kind::Postgres {
            tx.run("CREATE INDEX log_words_words ON log_words USING GIN (words)", &[])?;
        }
    }
    Ok(())
}

/// The statements of a step, in the words of a database.
fn statements(step: &str, kind: Kind) -> Vec<String> {
    let (bytes, number) = match kind {
        Kind::Sqlite => ("BLOB", "INTEGER"),
        #[cfg(feature = "postgres")]
        Kind::Postgres => ("BYTEA", "BIGINT"),
    };
    let lines = step.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
    let statements = lines.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    statements.map(|text| text.replace("{bytes}", bytes).replace("{number}", number)).collect()
}

/// Why a store that another version of this program has made cannot be used.
pub(crate) fn from_the_future(version: usize) -> Failure {
    Failure::Broken(format!(
        "its tables have version {version} and this program knows them up to {NEWEST}; use the newer program that made it, or another store"
    ))
}
