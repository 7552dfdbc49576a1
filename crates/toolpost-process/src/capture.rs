//! What is kept of an output of any length: its beginning, its end and its size; the whole goes to a writer.

use std::io::{self, Write};

/// Keeps the two ends of a stream, and hands all of it on.
pub struct Capture<W = io::Sink> {
    head: Vec<u8>,
    head_limit: usize,
    /// A ring: once full, `next` is where the oldest byte stands.
    tail: Vec<u8>,
    tail_limit: usize,
    next: usize,
    total: u64,
    lines: u64,
    whole: Option<W>,
    failed: Option<io::Error>,
}

/// What a [`Capture`] kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The beginning.
    pub head: Vec<u8>,
    /// The end, if it is not part of the beginning.
    pub tail: Vec<u8>,
    /// Bytes between the two that were not kept.
    pub missing: u64,
    /// Bytes in all.
    pub total: u64,
    /// Line ends in all.
    pub lines: u64,
}

impl Capture {
    /// Keeps so many bytes of the beginning and of the end.
    pub fn new(head: usize, tail: usize) -> Capture {
        Capture {
            head: Vec::new(),
            head_limit: head,
            tail: Vec::new(),
            tail_limit: tail,
            next: 0,
            total: 0,
            lines: 0,
            whole: None,
            failed: None,
        }
    }

    /// Hands everything on to a writer as well, which bounds what it keeps itself. If it fails, no more is handed on.
    pub fn with_whole<W: Write>(self, writer: W) -> Capture<W> {
        Capture {
            head: self.head,
            head_limit: self.head_limit,
            tail: self.tail,
            tail_limit: self.tail_limit,
            next: self.next,
            total: self.total,
            lines: self.lines,
            whole: Some(writer),
            failed: None,
        }
    }
}

impl<W: Write> Capture<W> {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        if let Some(whole) = &mut self.whole
            && let Err(error) = whole.write_all(bytes)
        {
            self.failed = Some(error);
            self.whole = None;
        }
        let fits = bytes.len().min(self.head_limit - self.head.len());
        let (first, rest) = bytes.split_at(fits);
        self.head.extend_from_slice(first);
        self.push_tail(rest);
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.tail_limit)..];
        let fits = bytes.len().min(self.tail_limit - self.tail.len());
        let (growing, around) = bytes.split_at(fits);
        self.tail.extend_from_slice(growing);
        let before_end = around.len().min(self.tail.len() - self.next);
        let (to_end, from_start) = around.split_at(before_end);
        self.tail[self.next..self.next + to_end.len()].copy_from_slice(to_end);
        self.tail[..from_start.len()].copy_from_slice(from_start);
        if !around.is_empty() {
            self.next = (self.next + around.len()) % self.tail.len();
        }
    }

    /// Bytes taken so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What was kept, the writer with its last bytes, and why it took no more if it did not.
    pub fn finish(mut self) -> (Captured, Option<W>, Option<io::Error>) {
        self.tail.rotate_left(self.next);
        let missing = self.total - self.head.len() as u64 - self.tail.len() as u64;
        let captured =
            Captured { head: self.head, tail: self.tail, missing, total: self.total, lines: self.lines };
        (captured, self.whole, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the pieces, the ends are those of the whole.
    #[test]
    fn keeps_both_ends_of_any_stream() {
        let whole: Vec<u8> = (0..997_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
        for piece in [1, 2, 3, 7, 10, 64, 100, 996, 997] {
            for (head, tail) in [(0, 0), (1, 1), (10, 7), (0, 50), (50, 0), (500, 497), (2000, 5)] {
                for length in [0, 1, 9, 10, 11, 17, 18, 500, 997] {
                    let mut capture = Capture::new(head, tail);
                    whole[..length].chunks(piece).for_each(|bytes| capture.push(bytes));
                    let (kept, _, _) = capture.finish();
                    let begins = length.min(head);
                    let ends = (length - begins).min(tail);
                    assert_eq!(kept.head, whole[..begins], "{piece} {head} {tail} {length}");
                    assert_eq!(kept.tail, whole[length - ends..length], "{piece} {head} {tail} {length}");
                    assert_eq!(kept.missing, (length - begins - ends) as u64);
                    assert_eq!(kept.total, length as u64);
                }
            }
        }
    }
}
