//! Lines out of a stream of bytes, none longer than [`MAX_MESSAGE`].

use crate::MAX_MESSAGE;

/// Above this size, the memory of a long line is freed when the line ends.
const MAX_KEPT: usize = 1 << 20;

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line, without its end.
    Whole(&'a [u8]),
    /// A line longer than [`MAX_MESSAGE`]; its content was dropped.
    TooLong,
}

/// Splits a stream into lines, in memory that is bounded.
#[derive(Default)]
pub struct Lines {
    begun: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    /// Calls `each` with every line that these bytes complete.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (last, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.is_too_long || self.begun.len() + last.len() > MAX_MESSAGE {
                self.is_too_long = false;
                self.begun = Vec::new();
                each(Line::TooLong);
            } else if self.begun.is_empty() {
                each(Line::Whole(last));
            } else {
                self.begun.extend_from_slice(last);
                each(Line::Whole(&self.begun));
                self.begun.clear();
                self.begun.shrink_to(MAX_KEPT);
            }
        }
        if self.is_too_long || self.begun.len() + bytes.len() > MAX_MESSAGE {
            self.is_too_long = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }

    /// Whether the line that has begun is too long already. A reader that gives up then need not wait for its end.
    pub fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Calls `each` with the last line, if it has no end.
    pub fn finish(self, mut each: impl FnMut(Line<'_>)) {
        if self.is_too_long {
            each(Line::TooLong);
        } else if !self.begun.is_empty() {
            each(Line::Whole(&self.begun));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&[u8]], expected: &[&str]) {
        let mut found = Vec::new();
        let mut note = |line: Line<'_>| {
            found.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong => "too long".to_owned(),
            });
        };
        let mut lines = Lines::default();
        pieces.iter().for_each(|piece| lines.push(piece, &mut note));
        lines.finish(&mut note);
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        check(&[b"a\nb", b"c\n", b"d"], &["a", "bc", "d"]);
        check(&[b"a\nb", b"c\n", b"\nd\n"], &["a", "bc", "", "d"]);
        check(&[b"\n\n"], &["", ""]);
        check(&[], &[]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_reported_once() {
        let long = vec![b'x'; MAX_MESSAGE];
        check(&[&long, b"y", b"z\nnext\n"], &["too long", "next"]);
        check(&[&long, &long, &long], &["too long"]);
    }

    #[test]
    fn a_line_without_end_is_known_to_be_too_long() {
        let mut lines = Lines::default();
        lines.push(&vec![b'x'; MAX_MESSAGE], |_| ());
        assert!(!lines.is_too_long());
        lines.push(b"y", |_| ());
        assert!(lines.is_too_long());
        lines.push(b"\n", |_| ());
        assert!(!lines.is_too_long());
    }
}
