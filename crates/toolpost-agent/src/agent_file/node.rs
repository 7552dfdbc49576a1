//! The head of an agent file as a tree whose every value knows its place, whatever syntax it was written in.

use serde_json::{Map, Number, Value};

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub at: At,
    /// What it is.
    pub content: Content,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Nothing.
    Null,
    /// Yes or no.
    Boolean(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order of the file; no key is there twice.
    Map(Vec<(Key, Node)>),
}

/// The key of an entry and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Where it begins.
    pub at: At,
    /// Its text.
    pub text: String,
}

impl Node {
    /// The string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entry of a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(name, _)| name.text == key).map(|(_, node)| node)
    }

    /// The entries of a mapping; of anything else, none.
    pub fn entries(&self) -> &[(Key, Node)] {
        match &self.content {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Where a field below this node stands, such as `script[2].args.path` below the node of `script`; of a field that is not
    /// there, the nearest one around it. A key counts before its value.
    pub fn place_of(&self, field: &str) -> At {
        let (mut node, mut at) = (self, self.at);
        let below = field.find(['.', '[']).map_or("", |start| &field[start..]);
        for step in below.split_inclusive(['.', '[', ']']).map(|step| step.trim_end_matches(['.', '[', ']']))
        {
            if step.is_empty() {
                continue;
            }
            let entry = node.entries().iter().find(|(key, _)| key.text == step);
            let item = match &node.content {
                Content::List(items) => step.parse::<usize>().ok().and_then(|place| items.get(place)),
                _ => None,
            };
            match (entry, item) {
                (Some((key, value)), _) => (node, at) = (value, key.at),
                (None, Some(item)) => (node, at) = (item, item.at),
                (None, None) => break,
            }
        }
        at
    }

    /// What it is, in words for a message.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Null => "empty",
            Content::Boolean(_) => "true or false",
            Content::Number(_) => "a number",
            Content::Text(_) => "a text",
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }

    /// The value without its places.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Boolean(is) => Value::Bool(*is),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => items.iter().map(Node::to_value).collect(),
            Content::Map(entries) => Value::Object(
                entries.iter().map(|(key, node)| (key.text.clone(), node.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }
}
