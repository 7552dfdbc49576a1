//! The words of the log. They are learnt when somebody asks for words, not when an event is written: most logs are never
//! searched, and whoever runs a tool should not wait for it.

use crate::db::{Failure, Kind, Tx, Value, first};
use serde_json::Value as Json;
use toolpost_core::Event;

/// Events whose words are learnt in one transaction.
const STEP: u64 = 2_000;
/// Bytes of text that are looked at in one event.
const MOST: usize = 200_000;

/// Learns the words of the next events. Returns whether there are more.
pub(crate) fn learn(tx: &mut dyn Tx) -> Result<bool, Failure> {
    let known = tx.locked("SELECT last FROM counters WHERE name = 'words'", &[])?;
    super::settle_all(tx)?;
    let known = first(known).map_or(Ok(0), |mut row| row.number())?;
    let newest = super::last(tx)?;
    let until = newest.min(known + STEP);
    if until == known {
        return Ok(false);
    }
    let statement = match tx.kind() {
        Kind::Sqlite => "INSERT INTO log_words (rowid, words) VALUES (?1, ?2)",
        #[cfg(feature = "postgres")]
        Kind::Postgres => {
            "INSERT INTO log_words (position, words) VALUES (?1, to_tsvector('simple', ?2::text)) ON CONFLICT (position) DO NOTHING"
        }
    };
    let rows = tx.rows(
        "SELECT position, body FROM log WHERE position > ?1 AND position <= ?2 ORDER BY position",
        &[known.into(), until.into()],
    )?;
    for mut row in rows {
        let (position, body) = (row.number()?, row.text()?);
        let mut words = texts(&serde_json::from_str(&body).unwrap_or(Json::Null));
        // What a person sees of an event can be searched for too.
        if let Ok(event) = serde_json::from_str::<Event>(&body) {
            words.push_str(super::label(&event.kind));
        }
        #[cfg(feature = "postgres")]
        if tx.kind() == Kind::Postgres {
            words = apart(&words);
        }
        tx.run(statement, &[position.into(), Value::Text(&words)])?;
    }
    tx.run("UPDATE counters SET last = ?1 WHERE name = 'words'", &[until.into()])?;
    Ok(until < newest)
}

/// Every text in a value, without the names of its fields, and without the bytes of images, which are no words.
fn texts(value: &Json) -> String {
    fn add(value: &Json, all: &mut String) {
        match value {
            Json::String(text) if all.len() < MOST => {
                let end = text.floor_char_boundary(MOST - all.len());
                all.push_str(&text[..end]);
                all.push('\n');
            }
            Json::Array(items) => items.iter().for_each(|item| add(item, all)),
            Json::Object(fields) => {
                let has_bytes = fields.contains_key("mediaType");
                let texts = fields.iter().filter(|(name, _)| !(has_bytes && *name == "data"));
                texts.for_each(|(_, field)| add(field, all));
            }
            _ => {}
        }
    }
    let mut all = String::new();
    add(value, &mut all);
    all
}

/// The letters and digits, with spaces between the words: PostgreSQL would take a path, a host or a version for one word.
#[cfg(feature = "postgres")]
pub(super) fn apart(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect()
}

/// The words as SQLite wants them: each in quotes, so that none is an operator.
pub(super) fn of_sqlite(words: &str) -> String {
    let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
    words.split_whitespace().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bytes_are_no_words() {
        let picture = json!({"mediaType": "image/png", "filename": "a.png", "data": "QUJD"});
        let texts = texts(&json!([picture, {"data": "kept"}]));
        let mut words: Vec<&str> = texts.lines().collect();
        words.sort_unstable();
        assert_eq!(words, ["a.png", "image/png", "kept"]);
    }
}
