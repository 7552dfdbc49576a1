//! A text as lines that remember how they end.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// What ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Breaks {
    /// A newline, with or without a carriage return before it.
    Newlines,
    /// A carriage return alone, too.
    Returns,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Where it begins.
    pub(super) start: usize,
    /// Without what ends it.
    pub(super) text: &'a str,
    /// `\n`, `\r\n`, `\r`, or nothing at the end of the file.
    pub(super) ending: &'a str,
}

/// The lines of a text and the ending that most of them have.
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) all: Vec<Line<'a>>,
    pub(super) ending: &'static str,
    exact: OnceCell<Index>,
    bare: OnceCell<Index>,
}

/// Which lines say what, by a number that stands for it.
pub(super) struct Index {
    pub(super) keys: Vec<u64>,
    pub(super) places: HashMap<u64, Vec<u32>>,
}

/// The number that stands for a line, with or without the carriage return that belongs to its ending.
pub(super) fn key(text: &str, has_return: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    if has_return {
        hasher.write(b"\r");
    }
    hasher.finish()
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str, breaks: Breaks) -> Lines<'a> {
        let bytes = text.as_bytes();
        let mut all = Vec::new();
        let mut start = 0;
        while start < bytes.len() {
            let rest = &bytes[start..];
            let end = match breaks {
                Breaks::Newlines => memchr::memchr(b'\n', rest),
                Breaks::Returns => memchr::memchr2(b'\n', b'\r', rest),
            };
            let (length, ending) = match end {
                None => (rest.len(), 0),
                Some(at) if rest[at] == b'\n' && at > 0 && rest[at - 1] == b'\r' => (at - 1, 2),
                Some(at) if rest[at] == b'\r' && rest.get(at + 1) == Some(&b'\n') => (at, 2),
                Some(at) => (at, 1),
            };
            let middle = start + length;
            all.push(Line { start, text: &text[start..middle], ending: &text[middle..middle + ending] });
            start = middle + ending;
        }
        let ending = usual(&all);
        Lines { text, all, ending, exact: OnceCell::new(), bare: OnceCell::new() }
    }

    /// The lines with the carriage returns of their endings.
    pub(super) fn exact(&self) -> &Index {
        self.exact.get_or_init(|| index(&self.all, |line| key(line.text, line.ending == "\r\n")))
    }

    /// The lines without their endings.
    pub(super) fn bare(&self) -> &Index {
        self.bare.get_or_init(|| index(&self.all, |line| key(line.text, false)))
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Where a line begins; the end of the text for the one after the last.
    pub(super) fn start(&self, line: usize) -> usize {
        self.all.get(line).map_or(self.text.len(), |line| line.start)
    }

    /// The line that begins exactly here.
    pub(super) fn at(&self, start: usize) -> Option<usize> {
        match start == self.text.len() {
            true => Some(self.len()),
            false => self.all.binary_search_by_key(&start, |line| line.start).ok(),
        }
    }
}

fn index(lines: &[Line<'_>], key: impl Fn(&Line<'_>) -> u64) -> Index {
    let keys: Vec<u64> = lines.iter().map(key).collect();
    let mut places: HashMap<u64, Vec<u32>> = HashMap::new();
    for (at, key) in (0..).zip(&keys) {
        places.entry(*key).or_default().push(at);
    }
    Index { keys, places }
}

/// The ending that most lines have; of two as frequent, the one that comes first.
fn usual(lines: &[Line<'_>]) -> &'static str {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for line in lines {
        let ending = match line.ending {
            "\n" => "\n",
            "\r\n" => "\r\n",
            "\r" => "\r",
            _ => continue,
        };
        match counts.iter_mut().find(|(known, _)| *known == ending) {
            Some((_, count)) => *count += 1,
            None => counts.push((ending, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    counts.iter().find(|(_, count)| Some(*count) == most).map_or("\n", |(ending, _)| ending)
}
