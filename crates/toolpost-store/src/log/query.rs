//! A query of the log as a statement.

use crate::db::{Failure, Kind, Row, Tx, Value};
use toolpost_core::store::{EventQuery, OutcomeFilter};

/// The column by which events are ordered. In a session, positions and sequences grow together, and the second has the index that
/// gives the events of a session without a look at those of others, whatever else is asked for.
pub(super) fn ordered_by(asked: &EventQuery) -> &'static str {
    if asked.session.is_some() && asked.words.is_none() { "sequence" } else { "position" }
}

/// A statement that grows by its conditions, with their values.
pub(super) struct Statement {
    pub(super) text: String,
    values: Vec<Own>,
    has_condition: bool,
}

enum Own {
    Text(String),
    Number(u64),
}

impl Statement {
    pub(super) fn new(text: &str) -> Statement {
        Statement { text: text.to_owned(), values: Vec::new(), has_condition: false }
    }

    /// Adds a condition without a value.
    pub(super) fn condition(&mut self, condition: &str) {
        self.text.push_str(if self.has_condition { " AND " } else { " WHERE " });
        self.text.push_str(condition);
        self.has_condition = true;
    }

    /// Adds a condition; `{}` in it is the value.
    fn compare(&mut self, condition: &str, value: Own) {
        self.values.push(value);
        let place = format!("?{}", self.values.len());
        self.condition(&condition.replace("{}", &place));
    }

    /// Adds all that a query asks for.
    pub(super) fn narrow(&mut self, kind: Kind, asked: &EventQuery) {
        let texts = [
            ("session = {}", &asked.session),
            ("agent = {}", &asked.agent),
            ("call = {}", &asked.call),
            ("tool = {}", &asked.tool),
        ];
        for (condition, value) in texts {
            if let Some(value) = value {
                self.compare(condition, Own::Text(value.clone()));
            }
        }
        let numbers =
            [("position > {}", asked.after), ("at_ms >= {}", asked.since_ms), ("at_ms < {}", asked.until_ms)];
        for (condition, value) in numbers {
            if let Some(value) = value {
                self.compare(condition, Own::Number(value));
            }
        }
        match &asked.outcome {
            None => {}
            Some(OutcomeFilter::Success) => self.condition("code = ''"),
            Some(OutcomeFilter::Failure) => self.condition("code > ''"),
            Some(OutcomeFilter::Code(code)) => self.compare("code = {}", Own::Text(code.clone())),
        }
        if let Some(words) = &asked.words {
            match kind {
                Kind::Sqlite => self.compare(
                    "position IN (SELECT rowid FROM log_words WHERE log_words MATCH {})",
                    Own::Text(super::words::of_sqlite(words)),
                ),
                #[cfg(feature = "postgres")]
                Kind::Postgres => self.compare(
                    "position IN (SELECT position FROM log_words WHERE words @@ plainto_tsquery('simple', {}))",
                    Own::Text(super::words::apart(words)),
                ),
            }
        }
    }

    pub(super) fn rows(&self, tx: &mut dyn Tx) -> Result<Vec<Row>, Failure> {
        let values: Vec<Value<'_>> = self
            .values
            .iter()
            .map(|value| match value {
                Own::Text(text) => Value::Text(text),
                Own::Number(number) => Value::from(*number),
            })
            .collect();
        tx.rows(&self.text, &values)
    }
}
