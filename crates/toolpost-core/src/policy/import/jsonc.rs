//! JSON with comments and final commas, where every value knows its line.
//!
//! Depth is bounded and duplicate keys are errors; the text itself is bounded by `Source`.

use crate::policy::source::{Errors, Source};

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// A value and its line.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Json,
}

/// A JSON value; what a number is does not matter to rules.
#[derive(Debug, Clone)]
pub(super) enum Json {
    Null,
    Bool,
    Number,
    Text(String),
    List(Vec<Node>),
    /// In the order of the file; the line is the key's.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Json::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads the whole text.
pub(super) fn parse(source: &Source<'_>) -> Result<Node, Errors> {
    let mut reader = Reader { source, at: 0 };
    let result = reader.value(0).and_then(|node| {
        reader.skip()?;
        if reader.rest().is_empty() {
            Ok(node)
        } else {
            Err(reader.wrong("there is more after the end; take it out"))
        }
    });
    result.map_err(|error| *error)
}

struct Reader<'a, 'b> {
    source: &'b Source<'a>,
    at: usize,
}

type Read<T> = Result<T, Box<Errors>>;

impl<'a> Reader<'a, '_> {
    fn rest(&self) -> &'a str {
        self.source.text().get(self.at..).unwrap_or_default()
    }

    fn wrong(&self, message: &str) -> Box<Errors> {
        Box::new(Errors(vec![self.source.located(self.at, message)]))
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) -> Read<()> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return Err(self.wrong("this comment does not end; close it with `*/`")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn take(&mut self, token: char) -> bool {
        let is_there = self.rest().starts_with(token);
        if is_there {
            self.at += token.len_utf8();
        }
        is_there
    }

    fn value(&mut self, depth: usize) -> Read<Node> {
        self.skip()?;
        if depth > DEEPEST {
            return Err(self.wrong("this is nested more than 64 deep; nest less deeply"));
        }
        let line = self.source.line(self.at);
        let value = match self.rest().chars().next() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Json::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Node { line, value })
    }

    fn object(&mut self, depth: usize) -> Read<Json> {
        self.at += 1;
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        loop {
            self.skip()?;
            if self.take('}') {
                return Ok(Json::Object(entries));
            }
            let line = self.source.line(self.at);
            if !self.rest().starts_with('"') {
                return Err(self.wrong("a key in double quotes, or `}`, is missing here"));
            }
            let key_at = self.at;
            let key = self.string()?;
            if !names.insert(key.clone()) {
                self.at = key_at;
                return Err(self.wrong(&format!("the key `{key}` stands here twice; keep one of them")));
            }
            self.skip()?;
            if !self.take(':') {
                return Err(self.wrong("a `:` is missing after the key"));
            }
            let node = self.value(depth + 1)?;
            entries.push((key, Node { line, value: node.value }));
            self.skip()?;
            if !self.take(',') && !self.rest().starts_with('}') {
                return Err(self.wrong("a `,` or `}` is missing here"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Read<Json> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.take(']') {
                return Ok(Json::List(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip()?;
            if !self.take(',') && !self.rest().starts_with(']') {
                return Err(self.wrong("a `,` or `]` is missing here"));
            }
        }
    }

    fn string(&mut self) -> Read<String> {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, letter)| {
            let is_end = *letter == '"' && !escaped;
            escaped = *letter == '\\' && !escaped;
            is_end
        });
        let Some((end, _)) = end else {
            return Err(self.wrong("this text does not end; close it with `\"`"));
        };
        let text = serde_json::from_str(&rest[..=end])
            .map_err(|_| self.wrong("this text has a control character or a bad escape; correct it"))?;
        self.at += end + 1;
        Ok(text)
    }

    fn word(&mut self) -> Read<Json> {
        let rest = self.rest();
        let end = rest
            .find(|letter: char| !(letter.is_alphanumeric() || "+-.".contains(letter)))
            .unwrap_or(rest.len());
        let value = match &rest[..end] {
            "null" => Json::Null,
            "true" | "false" => Json::Bool,
            word if !word.is_empty() && word.parse::<f64>().is_ok() => Json::Number,
            _ => {
                return Err(
                    self.wrong("a value is missing here; write a text in double quotes, a list or an object")
                );
            }
        };
        self.at += end;
        Ok(value)
    }
}
