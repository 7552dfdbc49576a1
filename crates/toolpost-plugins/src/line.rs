//! Lines out of a stream of bytes, none longer than a message may be.

/// The longest message that is taken.
pub(crate) const LONGEST: usize = 16 << 20;

/// Past this, the room of a long line is given back.
const ROOM: usize = 1 << 20;

/// The beginning of a line, until the rest comes.
#[derive(Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
}

/// A line was longer than any message may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Lines {
    /// Hands over every line that these bytes complete, without its end.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), TooLong> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (last, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.begun.is_empty() {
                each(last);
            } else {
                self.begun.extend_from_slice(last);
                each(&self.begun);
                self.begun.clear();
                self.begun.shrink_to(ROOM);
            }
        }
        if self.begun.len() + bytes.len() > LONGEST {
            self.begun = Vec::new();
            return Err(TooLong);
        }
        self.begun.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for piece in ["a\nb", "c\n", "\nd"] {
            lines
                .push(piece.as_bytes(), |line| found.push(String::from_utf8_lossy(line).into_owned()))
                .unwrap();
        }
        assert_eq!(found, ["a", "bc", ""]);
        assert_eq!(lines.push(&vec![b'x'; LONGEST], |_| ()), Err(TooLong));
    }
}
