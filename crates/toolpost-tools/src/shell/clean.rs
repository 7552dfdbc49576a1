//! Takes out of a stream what is meant for a terminal: colours, cursor moves, lines drawn over, control characters.

use std::io::{self, Write};

/// A line that is drawn over again and again is held back up to this length.
const LONGEST_LINE: usize = 16 * 1024;

/// Hands on clean text. Bytes that are not UTF-8 pass as they are.
pub(super) struct Clean<W> {
    inner: W,
    state: State,
    /// The line so far, while it may still be drawn over.
    line: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// After a carriage return: a line end follows, or the line is drawn over.
    Return,
    Escape,
    /// Inside `ESC [ …`.
    Sequence,
    /// Inside `ESC ] …` and its like, up to BEL or `ESC \`.
    Text2,
    Text2Escape,
    /// `ESC (` and its like take one more byte.
    One,
}

impl<W: Write> Clean<W> {
    pub(super) fn new(inner: W) -> Clean<W> {
        Clean { inner, state: State::Text, line: Vec::new() }
    }

    /// Hands on what was held back.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.inner.write_all(&self.line)?;
        Ok(self.inner)
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.state = match (self.state, byte) {
            (State::Text2, 0x07) | (State::Text2Escape, b'\\') => State::Text,
            (State::Text2 | State::Text2Escape, 0x1b) => State::Text2Escape,
            (State::Text2 | State::Text2Escape, _) => State::Text2,
            (State::Sequence, 0x40..=0x7e) | (State::One, _) => State::Text,
            (State::Sequence, _) => State::Sequence,
            (State::Escape, b'[') => State::Sequence,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::Text2,
            (State::Escape, b'(' | b')' | b'*' | b'+' | b'#' | b'%') => State::One,
            (State::Escape, _) => State::Text,
            (_, 0x1b) => State::Escape,
            (_, b'\r') => State::Return,
            (State::Return, byte) if byte != b'\n' => {
                self.line.clear();
                return self.again(byte);
            }
            (_, b'\n') => {
                self.line.push(b'\n');
                self.inner.write_all(&self.line)?;
                self.line.clear();
                State::Text
            }
            (_, 0x08) => {
                self.line.pop();
                State::Text
            }
            (_, 0x00..=0x08 | 0x0b..=0x1a | 0x1c..=0x1f | 0x7f) => State::Text,
            (_, byte) => {
                self.line.push(byte);
                if self.line.len() > LONGEST_LINE {
                    self.inner.write_all(&self.line)?;
                    self.line.clear();
                }
                State::Text
            }
        };
        Ok(())
    }

    fn again(&mut self, byte: u8) -> io::Result<()> {
        self.state = State::Text;
        self.byte(byte)
    }
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: &u8| !matches!(byte, 0x00..=0x08 | 0x0b..=0x1f | 0x7f);
        // Almost all output is plain: whole lines of it go through at once.
        if self.state == State::Text && bytes.iter().all(is_plain) {
            let (whole, rest) = bytes.split_at(memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1));
            if !whole.is_empty() {
                self.inner.write_all(&self.line)?;
                self.line.clear();
                self.inner.write_all(whole)?;
            }
            self.line.extend_from_slice(rest);
            if self.line.len() > LONGEST_LINE {
                self.inner.write_all(&self.line)?;
                self.line.clear();
            }
            return Ok(bytes.len());
        }
        for byte in bytes {
            self.byte(*byte)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The clean form of a piece of text.
pub(super) fn cleaned(bytes: &[u8]) -> Vec<u8> {
    let mut clean = Clean::new(Vec::new());
    // Writing to memory does not fail.
    let _ = clean.write_all(bytes);
    clean.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarantee_32_what_is_meant_for_a_terminal_is_taken_out() {
        for (raw, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[31mred\u{1b}[0m\n", "red\n"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\\n", "xlink\n"),
            ("10%\r20%\r100%\ndone\n", "100%\ndone\n"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\r", "a"),
            ("ab\u{8}c\u{7}\u{0}\n", "ac\n"),
            ("\u{1b}(Bx\u{1b}7y\u{1b}[?25lz", "xyz"),
            ("\u{1b}[2J\u{1b}[1;1Hü\u{fe0f}\n", "ü\u{fe0f}\n"),
            ("\u{1b}Pq#0;2;0;0;0\u{1b}\\sixel", "sixel"),
        ] {
            assert_eq!(String::from_utf8(cleaned(raw.as_bytes())).unwrap(), expected, "{raw:?}");
            // Whatever the pieces.
            for size in 1..4 {
                let mut clean = Clean::new(Vec::new());
                raw.as_bytes().chunks(size).for_each(|piece| clean.write_all(piece).unwrap());
                assert_eq!(String::from_utf8(clean.finish().unwrap()).unwrap(), expected, "{raw:?} {size}");
            }
        }
    }
}
