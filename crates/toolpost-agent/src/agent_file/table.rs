//! Agent files in TOML, as Codex writes them: the whole file is the head.

use super::LARGEST_HEAD;
use super::head::Head;
use super::node::{At, Content, Key, Node};
use super::yaml::Fault;
use serde_json::Number;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolpost_core::text::{Source, parse_toml};

pub(super) fn parse(source: &Source<'_>) -> Result<Head, Fault> {
    let length = source.text().len();
    if length > LARGEST_HEAD {
        let message = format!("the file has {length} bytes; at most {LARGEST_HEAD} are read");
        return Err(Fault { at: At { line: 1, column: 1 }, message });
    }
    let table = parse_toml(source).map_err(|errors| match errors.all().first() {
        Some(one) => Fault { at: At { line: one.line, column: one.column }, message: one.message.clone() },
        None => Fault { at: At { line: 1, column: 1 }, message: "invalid TOML".to_owned() },
    })?;
    let at = At { line: 1, column: 1 };
    Ok(Head { root: Node { at, content: map(source, table.get_ref()) }, body: String::new() })
}

fn map(source: &Source<'_>, table: &DeTable<'_>) -> Content {
    let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let name = Key { at: place(source, key.span().start), text: key.get_ref().to_string() };
        (name, node(source, value))
    };
    Content::Map(table.iter().map(entry).collect())
}

fn node(source: &Source<'_>, value: &Spanned<DeValue<'_>>) -> Node {
    let content = match value.get_ref() {
        DeValue::String(text) => Content::Text(text.to_string()),
        DeValue::Integer(number) => match number.to_string().parse::<i64>() {
            Ok(number) => Content::Number(number.into()),
            Err(_) => Content::Text(number.to_string()),
        },
        DeValue::Float(number) => match number.to_string().parse::<f64>().ok().and_then(Number::from_f64) {
            Some(number) => Content::Number(number),
            None => Content::Text(number.to_string()),
        },
        DeValue::Boolean(is) => Content::Boolean(*is),
        DeValue::Datetime(date) => Content::Text(date.to_string()),
        DeValue::Array(items) => Content::List(items.iter().map(|item| node(source, item)).collect()),
        DeValue::Table(table) => map(source, table),
    };
    Node { at: place(source, value.span().start), content }
}

fn place(source: &Source<'_>, byte: usize) -> At {
    let located = source.located(byte, "");
    At { line: located.line, column: located.column }
}
