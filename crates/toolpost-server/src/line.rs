//! Lines out of a stream of bytes, none longer than a message may be.

use crate::rpc::LONGEST;

/// Past this, the room of a long line is given back.
const ROOM: usize = 1 << 20;

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line, without its end.
    Whole(&'a [u8]),
    /// One that was longer than any message may be; it is gone.
    TooLong,
}

/// The beginning of a line, until the rest comes.
#[derive(Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    /// Hands over every line that these bytes complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (last, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.is_too_long || self.begun.len() + last.len() > LONGEST {
                self.is_too_long = false;
                self.begun = Vec::new();
                each(Line::TooLong);
            } else if self.begun.is_empty() {
                each(Line::Whole(last));
            } else {
                self.begun.extend_from_slice(last);
                each(Line::Whole(&self.begun));
                self.begun.clear();
                self.begun.shrink_to(ROOM);
            }
        }
        if self.is_too_long || self.begun.len() + bytes.len() > LONGEST {
            self.is_too_long = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }

    /// The last line, where it has no end.
    pub(crate) fn finish(self, mut each: impl FnMut(Line<'_>)) {
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
        check(&[b"\n\n"], &["", ""]);
        check(&[], &[]);
    }

    #[test]
    fn what_is_too_long_is_skipped_and_told_once() {
        let long = vec![b'x'; LONGEST];
        check(&[&long, b"y", b"z\nnext\n"], &["too long", "next"]);
        check(&[&long, &long, &long], &["too long"]);
    }
}
