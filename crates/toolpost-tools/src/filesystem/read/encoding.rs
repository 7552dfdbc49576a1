//! Which encoding a text is in, and UTF-16 as a stream of UTF-8.

use std::borrow::Cow;
use std::io::{self, Read};

/// How a file's bytes become characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::filesystem) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    Latin1,
}

impl Encoding {
    /// The encoding of a text that begins like this; `None` for what is no text.
    pub(in crate::filesystem) fn guess(head: &[u8]) -> Option<Encoding> {
        match head {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return None,
            [0xff, 0xfe, ..] => return Some(Encoding::Utf16Le),
            [0xfe, 0xff, ..] => return Some(Encoding::Utf16Be),
            _ => {}
        }
        if head.contains(&0) {
            return Encoding::utf16_without_mark(head);
        }
        match std::str::from_utf8(head) {
            Ok(_) => Some(Encoding::Utf8),
            // The sample may end within a character.
            Err(error) if error.error_len().is_none() => Some(Encoding::Utf8),
            Err(_) if odd_controls(head) * 20 > head.len() => None,
            Err(_) => Some(Encoding::Latin1),
        }
    }

    /// Text of mostly ASCII letters in UTF-16 has a zero in every second place.
    fn utf16_without_mark(head: &[u8]) -> Option<Encoding> {
        let zeros = |start: usize| head.iter().skip(start).step_by(2).filter(|byte| **byte == 0).count();
        let half = head.len() / 2;
        let (even, odd) = (zeros(0), zeros(1));
        if half < 2 || odd_controls(head) > 0 {
            return None;
        }
        match () {
            () if odd * 10 >= half * 9 && even == 0 => Some(Encoding::Utf16Le),
            () if even * 10 >= half * 9 && odd == 0 => Some(Encoding::Utf16Be),
            () => None,
        }
    }

    pub(in crate::filesystem) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16Le => "utf-16le",
            Encoding::Utf16Be => "utf-16be",
            Encoding::Latin1 => "latin-1",
        }
    }

    /// One line's bytes as text.
    pub(super) fn decode(self, line: &[u8]) -> Cow<'_, str> {
        match self {
            Encoding::Latin1 => line.iter().map(|byte| *byte as char).collect(),
            _ => String::from_utf8_lossy(line),
        }
    }
}

/// Control characters that no text has.
fn odd_controls(head: &[u8]) -> usize {
    head.iter().filter(|byte| matches!(byte, 1..=6 | 14..=26 | 28..=31 | 127)).count()
}

/// UTF-16 read as UTF-8.
pub(super) struct FromUtf16<R> {
    pub(super) inner: R,
    pub(super) is_big_endian: bool,
    pub(super) pending: Vec<u8>,
    pub(super) ready: Vec<u8>,
    pub(super) taken: usize,
}

impl<R: Read> FromUtf16<R> {
    pub(super) fn new(inner: R, is_big_endian: bool) -> FromUtf16<R> {
        FromUtf16 { inner, is_big_endian, pending: Vec::new(), ready: Vec::new(), taken: 0 }
    }

    fn refill(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 32 * 1024];
        let count = self.inner.read(&mut chunk)?;
        self.pending.extend_from_slice(&chunk[..count]);
        let is_end = count == 0;
        let mut whole = self.pending.len() / 2 * 2;
        let unit = |bytes: &[u8]| match self.is_big_endian {
            true => u16::from_be_bytes([bytes[0], bytes[1]]),
            false => u16::from_le_bytes([bytes[0], bytes[1]]),
        };
        // The first half of a pair waits for the second.
        if whole >= 2 && !is_end && (0xd800..0xdc00).contains(&unit(&self.pending[whole - 2..whole])) {
            whole -= 2;
        }
        let units: Vec<u16> = self.pending[..whole].chunks_exact(2).map(unit).collect();
        self.pending.drain(..whole);
        if is_end {
            self.pending.clear();
        }
        self.ready = String::from_utf16_lossy(&units).into_bytes();
        self.taken = 0;
        Ok(!is_end)
    }
}

impl<R: Read> Read for FromUtf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.ready.len() {
            if !self.refill()? && self.ready.is_empty() {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.ready.len() - self.taken);
        buffer[..count].copy_from_slice(&self.ready[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &[u8], expected: Option<Encoding>) {
        assert_eq!(Encoding::guess(head), expected, "{head:?}");
    }

    #[test]
    fn encodings_are_told_apart() {
        check(b"", Some(Encoding::Utf8));
        check("grün".as_bytes(), Some(Encoding::Utf8));
        check(&"grün".as_bytes()[..3], Some(Encoding::Utf8));
        check(b"gr\xfcn", Some(Encoding::Latin1));
        check(b"\xff\xfea\0", Some(Encoding::Utf16Le));
        check(b"\xfe\xff\0a", Some(Encoding::Utf16Be));
        check(b"a\0b\0c\0", Some(Encoding::Utf16Le));
        check(b"\0a\0b\0c", Some(Encoding::Utf16Be));
        check(b"abc\0def", None);
        check(&[0; 4096], None);
        check(b"\x7fELF\x02\x01\x01\0\0", None);
        check(b"\x80\x01\x02\x03\x04\x05", None);
    }

    #[test]
    fn utf16_streams_as_utf8_whatever_the_chunks() {
        let text = "a😀b\nü".repeat(20_000);
        for is_big_endian in [false, true] {
            let bytes: Vec<u8> = text
                .encode_utf16()
                .flat_map(|unit| if is_big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() })
                .collect();
            let mut decoded = String::new();
            FromUtf16::new(OneByOne(&bytes, 0), is_big_endian).read_to_string(&mut decoded).unwrap();
            assert!(decoded == text);
        }
    }

    /// Gives 1, 2, 3, 1, 2, 3 … bytes at a time.
    struct OneByOne<'a>(&'a [u8], usize);

    impl Read for OneByOne<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 3 + 1;
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
}
