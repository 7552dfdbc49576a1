//! JSON as people write it into configuration files: with comments and a comma after the last item. Values keep their
//! places, so that [`edit`] can change one and leave every other byte as it is.

pub(crate) mod edit;
#[cfg(test)]
mod tests;

use super::node::{Member, Node, Value};

/// Nobody nests deeper; a file that does is an attack on the stack.
const DEEPEST: usize = 128;

/// What is wrong at a byte of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// The value of a text; none if there is nothing but blanks and comments.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Wrong> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0 };
    parser.blanks()?;
    if parser.at == text.len() {
        return Ok(None);
    }
    let root = parser.value(0)?;
    parser.blanks()?;
    match parser.peek() {
        None => Ok(Some(root)),
        Some(_) => parser.wrong("the value has ended, and something follows; remove what is too much"),
    }
}

/// The first byte after blanks and comments; the whole length where a comment does not end.
pub(super) fn after_blanks(text: &str, at: usize) -> usize {
    let mut parser = Parser { text, bytes: text.as_bytes(), at };
    match parser.blanks() {
        Ok(()) => parser.at,
        Err(_) => text.len(),
    }
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong { at: self.at, message: message.into() })
    }

    /// What stands here, for a message.
    fn found(&self) -> String {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the file ends here".to_owned(),
            Some(c) if c.is_control() => format!("here is the control character U+{:04X}", c as u32),
            Some(c) => format!("here is `{c}`"),
        }
    }

    fn blanks(&mut self) -> Result<(), Wrong> {
        while let Some(byte) = self.peek() {
            match (byte, self.bytes.get(self.at + 1)) {
                (b' ' | b'\t' | b'\n' | b'\r', _) => self.at += 1,
                (b'/', Some(b'/')) => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                (b'/', Some(b'*')) => match self.text[self.at + 2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return self.wrong("this comment does not end; close it with `*/`"),
                },
                _ => break,
            }
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node, Wrong> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{' | b'[') if depth >= DEEPEST => {
                return self
                    .wrong(format!("more than {DEEPEST} values inside of each other; nest less deeply"));
            }
            Some(b'{') => Value::Table(self.table(depth)?),
            Some(b'[') => Value::List(self.list(depth)?),
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(b'\'') => return self.wrong("a text stands in double quotes; write \"…\""),
            _ => return self.wrong(format!("a value is missing; {}", self.found())),
        };
        Ok(Node { span: start..self.at, value })
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Wrong> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_longer = rest.as_bytes().get(word.len()).is_some_and(u8::is_ascii_alphanumeric);
        if !rest.starts_with(word) || is_longer {
            return self.wrong("this word is not a value; write true, false or null, or a string in quotes");
        }
        self.at += word.len();
        Ok(value)
    }

    fn table(&mut self, depth: usize) -> Result<Vec<Member>, Wrong> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.blanks()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b'"') => {}
                _ => {
                    return self
                        .wrong(format!("a key in double quotes or `}}` is missing; {}", self.found()));
                }
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            self.blanks()?;
            if self.peek() != Some(b':') {
                return self.wrong(format!("`:` is missing after the key; {}", self.found()));
            }
            self.at += 1;
            self.blanks()?;
            let node = self.value(depth + 1)?;
            members.push(Member { key, key_span, node });
            if !self.comma(b'}')? {
                break;
            }
        }
        self.at += 1;
        Ok(members)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Wrong> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blanks()?;
            if self.peek() == Some(b']') {
                break;
            }
            items.push(self.value(depth + 1)?);
            if !self.comma(b']')? {
                break;
            }
        }
        self.at += 1;
        Ok(items)
    }

    /// Whether a comma follows; otherwise it must be the end.
    fn comma(&mut self, end: u8) -> Result<bool, Wrong> {
        self.blanks()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => Ok(false),
            _ => self.wrong(format!("`,` or `{}` is missing; {}", char::from(end), self.found())),
        }
    }

    fn number(&mut self) -> Result<String, Wrong> {
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let text = &self.text[self.at..self.at + length];
        if serde_json::from_str::<serde_json::Number>(text).is_err() {
            return self.wrong(format!("`{text}` is not a JSON number; put strings in quotes"));
        }
        self.at += length;
        Ok(text.to_owned())
    }

    fn string(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        let mut end = start + 1;
        loop {
            match self.bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(0..0x20) => {
                    self.at = end;
                    return self.wrong(
                        "a line break or control character inside of quotes; close them, or write \\n",
                    );
                }
                Some(_) => end += 1,
                None => return self.wrong("these quotes are not closed; close them with `\"`"),
            }
        }
        // The standard reader knows every escape, halves of surrogate pairs included.
        let text = self.text.get(start..=end).unwrap_or_default();
        if !text.contains('\\') {
            self.at = end + 1;
            return Ok(text[1..text.len() - 1].to_owned());
        }
        match serde_json::from_str(text) {
            Ok(decoded) => {
                self.at = end + 1;
                Ok(decoded)
            }
            Err(_) => self.wrong("a wrong escape inside of these quotes; write \\\\ for one backslash"),
        }
    }
}
