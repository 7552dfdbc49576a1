//! TOML for files that people write: the first mistake is located and says what to do.

use crate::source::{Errors, Source};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses TOML; the first mistake is located and says what to do.
pub fn parse_toml<'a>(source: &Source<'a>) -> Result<Spanned<DeTable<'a>>, Errors> {
    DeTable::parse(source.text()).map_err(|problem| {
        let at = problem.span().map_or(0, |span| span.start);
        let message = problem.message().trim().replace('\n', ", ");
        let advice = match message.as_str() {
            text if text.contains("duplicate key") => "keep one of them",
            text if text.contains("recurs") => "nest less deeply",
            _ => "see https://toml.io for how to write it",
        };
        Errors::one(source.located(at, format!("{message}; {advice}")))
    })
}

/// What a value is, for messages.
pub fn kind_of_toml(value: &Spanned<DeValue<'_>>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
