//! A text with its name, and what is wrong with it: `file:line:column: what; what to do`.

use std::fmt;

/// The largest file that is read, in bytes.
pub const LARGEST: usize = 1 << 20;

/// At most so many errors of one file are kept; more would not be read.
const MOST_ERRORS: usize = 20;

/// The text of a file, with its name, checked for size and encoding.
#[derive(Clone)]
pub struct Source<'a> {
    file: &'a str,
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> Source<'a> {
    /// The text of these bytes; refuses what is too large or no UTF-8. A byte order mark is skipped.
    pub fn new(file: &'a str, bytes: &'a [u8]) -> Result<Source<'a>, Errors> {
        Source::within(file, bytes, LARGEST)
    }

    /// The same for files that may have another number of bytes, such as those that another program keeps.
    pub fn within(file: &'a str, bytes: &'a [u8], most: usize) -> Result<Source<'a>, Errors> {
        let at = |line, column, message: String| {
            Err(Errors::one(Located { file: file.to_owned(), line, column, message }))
        };
        if bytes.len() > most {
            let length = bytes.len();
            return at(
                1,
                1,
                format!("the file has {length} bytes; at most {most} are read, split or shorten it"),
            );
        }
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            return at(1, 1, "the file is UTF-16; save it as UTF-8".to_owned());
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Source::from_text(file, text.strip_prefix('\u{feff}').unwrap_or(text))),
            Err(error) => {
                let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let line = good.matches('\n').count() + 1;
                let column = good.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
                let byte = bytes[error.valid_up_to()];
                at(line, column, format!("the byte 0x{byte:02x} is not valid UTF-8; save the file as UTF-8"))
            }
        }
    }

    fn from_text(file: &'a str, text: &'a str) -> Source<'a> {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Source { file, text, line_starts }
    }

    /// The name of the file.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The line of a byte, counting from 1.
    pub fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at).max(1)
    }

    /// A message about the text at this byte.
    pub fn located(&self, at: usize, message: impl Into<String>) -> Located {
        let line = self.line(at);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column =
            self.text.get(start..at.min(self.text.len())).map_or(0, |before| before.chars().count()) + 1;
        Located { file: self.file.to_owned(), line, column, message: message.into() }
    }
}

/// A message with its place.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Located {
    /// The file.
    pub file: String,
    /// The line, counting from 1.
    pub line: usize,
    /// The column in characters, counting from 1.
    pub column: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

/// Everything wrong with a file, at most twenty of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Errors(Vec<Located>);

impl Errors {
    /// Each with its place, in the order of the file.
    pub fn all(&self) -> &[Located] {
        &self.0
    }

    /// Nothing wrong so far.
    pub fn none() -> Errors {
        Errors(Vec::new())
    }

    /// One thing wrong.
    pub fn one(error: Located) -> Errors {
        Errors(vec![error])
    }

    /// One more, as far as so many are kept.
    pub fn push(&mut self, error: Located) {
        if self.0.len() < MOST_ERRORS {
            self.0.push(error);
        }
    }

    /// Whether no more are kept.
    pub fn is_full(&self) -> bool {
        self.0.len() >= MOST_ERRORS
    }

    /// The value, where nothing is wrong.
    pub fn or<T>(self, value: T) -> Result<T, Errors> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}
