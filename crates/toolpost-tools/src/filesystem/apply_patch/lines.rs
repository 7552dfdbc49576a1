//! A text as lines that remember how they end.

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
        Lines { text, all, ending }
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
