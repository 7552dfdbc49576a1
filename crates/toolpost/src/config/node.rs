//! A tree of values with their places in a text, the same for JSON and TOML. Nothing here knows what a key means.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Its bytes in the text.
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// What it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
    /// What only TOML has: dates.
    Other,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) node: Node,
}

impl Node {
    /// The value of a key; of a key that stands twice the last, as every reader of JSON has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().rev().find(|member| member.key == key).map(|member| &member.node)
    }

    /// The keys with their values; none if this is no table.
    pub(crate) fn members(&self) -> &[Member] {
        match &self.value {
            Value::Table(members) => members,
            _ => &[],
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The word for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other => "a date",
        }
    }

    /// The same tree of a TOML value.
    pub(crate) fn of_toml(value: &Spanned<DeValue<'_>>) -> Node {
        let tree = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => Value::Number(number.as_str().replace('_', "")),
            DeValue::Float(number) => Value::Number(number.as_str().replace('_', "")),
            DeValue::Boolean(is_true) => Value::Bool(*is_true),
            DeValue::Datetime(_) => Value::Other,
            DeValue::Array(items) => Value::List(items.iter().map(Node::of_toml).collect()),
            DeValue::Table(table) => Value::Table(members(table)),
        };
        Node { span: value.span(), value: tree }
    }

    /// The same tree of a whole file of TOML.
    pub(crate) fn of_table(table: &Spanned<DeTable<'_>>) -> Node {
        Node { span: table.span(), value: Value::Table(members(table.get_ref())) }
    }
}

fn members(table: &DeTable<'_>) -> Vec<Member> {
    let member = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| Member {
        key: key.get_ref().to_string(),
        key_span: key.span(),
        node: Node::of_toml(value),
    };
    let mut members: Vec<Member> = table.iter().map(member).collect();
    // In the order of the file, as in the other formats: the parser sorts them by name.
    members.sort_by_key(|member| member.key_span.start);
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpost_core::text::{Source, parse_toml};

    #[test]
    fn members_are_in_the_order_of_the_file() {
        let text = "[s.zeta]\na = 1\n[s.alpha]\n[s.mid]\nz = 1\nb = 2\n[other]\n";
        let table = parse_toml(&Source::new("x.toml", text.as_bytes()).unwrap()).unwrap();
        let root = Node::of_table(&table);
        let keys = |node: &Node| node.members().iter().map(|member| member.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys(&root), ["s", "other"]);
        let servers = &root.members()[0].node;
        assert_eq!(keys(servers), ["zeta", "alpha", "mid"]);
        assert_eq!(keys(&servers.members()[2].node), ["z", "b"]);
    }
}
