//! JSON where every value knows its place, for files that people write.
//!
//! Depth is bounded and duplicate keys are errors; the text itself is bounded by `Source`.

use crate::source::{Errors, Source};

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// Which texts are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// JSON as every program reads it.
    Strict,
    /// With comments and final commas, as editors' settings have them.
    WithComments,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// The line of the value or, in an object, of its key.
    pub line: usize,
    /// The first byte of the value.
    pub at: usize,
    /// The first byte of its key; of the value itself where it has none.
    pub key_at: usize,
    /// What it is.
    pub value: Json,
}

/// A JSON value.
#[derive(Debug, Clone)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// In the order of the file.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Json::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Json {
    /// What the value is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool => "true or false",
            Json::Number(_) => "a number",
            Json::Text(_) => "a text",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
        }
    }
}

/// Reads the whole text.
pub fn parse(source: &Source<'_>, syntax: Syntax) -> Result<Node, Errors> {
    let mut reader = Reader { source, syntax, at: 0 };
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
    syntax: Syntax,
    at: usize,
}

type Read<T> = Result<T, Box<Errors>>;

impl<'a> Reader<'a, '_> {
    fn rest(&self) -> &'a str {
        self.source.text().get(self.at..).unwrap_or_default()
    }

    fn wrong(&self, message: &str) -> Box<Errors> {
        Box::new(Errors::one(self.source.located(self.at, message)))
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) -> Read<()> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            let rest = self.rest();
            if self.syntax == Syntax::Strict && rest.starts_with('/') {
                return Err(self.wrong("JSON has no comments; take this one out"));
            }
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
        let (line, at) = (self.source.line(self.at), self.at);
        let value = match self.rest().chars().next() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Json::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Node { line, at, key_at: at, value })
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
            entries.push((key, Node { line, key_at, ..node }));
            self.separator('}')?;
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
            self.separator(']')?;
        }
    }

    /// Passes over the `,` after an entry; before the end there need be none and, in strict JSON, must be none.
    fn separator(&mut self, end: char) -> Read<()> {
        self.skip()?;
        let comma = self.at;
        if !self.take(',') {
            return match self.rest().starts_with(end) {
                true => Ok(()),
                false => Err(self.wrong(&format!("a `,` or `{end}` is missing here"))),
            };
        }
        self.skip()?;
        if self.syntax == Syntax::Strict && self.rest().starts_with(end) {
            self.at = comma;
            return Err(self.wrong(&format!("there is a `,` before `{end}`; take it out")));
        }
        Ok(())
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
            word => match word.parse::<f64>() {
                // `inf` and `NaN` are numbers to Rust and words to JSON.
                Ok(number) if word.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
                    Json::Number(number)
                }
                _ => {
                    return Err(self.wrong(
                        "a value is missing here; write a text in double quotes, a list or an object",
                    ));
                }
            },
        };
        self.at += end;
        Ok(value)
    }
}
