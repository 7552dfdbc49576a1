//! Bytes that are mostly those of another content, kept without a second copy of what the two have in common.

use std::borrow::Cow;
use std::sync::Arc;

/// Bytes that are compared at once.
const BLOCK: usize = 4096;

/// The beginning of another content, bytes of its own, and the end of the other content.
#[derive(Debug, Clone)]
pub struct Spliced {
    other: Arc<[u8]>,
    head: usize,
    own: Arc<Vec<u8>>,
    tail: usize,
}

impl Spliced {
    /// The bytes, in their order.
    pub fn parts(&self) -> [&[u8]; 3] {
        [&self.other[..self.head], &self.own, &self.other[self.other.len() - self.tail..]]
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.head + self.own.len() + self.tail
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes are kept beside those of the other content.
    pub fn own_len(&self) -> usize {
        self.own.len()
    }

    /// Whether the bytes are these.
    pub fn is(&self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        let is_begun = self.parts().iter().all(|part| match rest.strip_prefix(*part) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        });
        is_begun && rest.is_empty()
    }

    /// All bytes in one piece, copied where they are not.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self.parts() {
            [one, [], []] | [[], one, []] | [[], [], one] => Cow::Borrowed(one),
            parts => Cow::Owned(parts.concat()),
        }
    }

    /// The lengths of the beginning and of the end that these bytes share with others; the two do not overlap in either.
    pub fn common(&self, with: &Spliced) -> (usize, usize) {
        let is_whole = with.head == with.other.len() && with.len() == with.head;
        match is_whole && Arc::ptr_eq(&self.other, &with.other) {
            true => (self.head, self.tail),
            false => common(&self.bytes(), &with.bytes()),
        }
    }
}

impl From<Arc<[u8]>> for Spliced {
    fn from(whole: Arc<[u8]>) -> Spliced {
        Spliced { head: whole.len(), other: whole, own: Arc::default(), tail: 0 }
    }
}

impl PartialEq for Spliced {
    fn eq(&self, other: &Spliced) -> bool {
        self.is(&other.bytes())
    }
}

impl Eq for Spliced {}

/// Takes bytes in pieces, and finds out what they have in common with another content.
#[derive(Debug)]
pub struct Splicer {
    other: Arc<[u8]>,
    /// How many bytes are expected.
    size: usize,
    taken: usize,
    head: usize,
    own: Vec<u8>,
    /// The last bytes that were taken, which are not in `own`: where the two contents end together, they are the same.
    matched: usize,
}

impl Splicer {
    /// For so many bytes. That others come is allowed, and costs room.
    pub fn new(other: Arc<[u8]>, size: usize) -> Splicer {
        let own = Vec::with_capacity(if other.is_empty() { size } else { 0 });
        Splicer { other, size, taken: 0, head: 0, own, matched: 0 }
    }

    /// The next bytes.
    pub fn take(&mut self, piece: &[u8]) {
        let mut rest = piece;
        if self.head == self.taken {
            let same = common_head(rest, &self.other[self.head..]);
            self.head += same;
            self.taken += same;
            rest = &rest[same..];
        }
        for block in rest.chunks(BLOCK) {
            let same = self.opposite(block.len()).map_or(0, |opposite| common_tail(block, opposite));
            if same < block.len() {
                self.own_matched();
                self.own.extend_from_slice(&block[..block.len() - same]);
                self.matched = 0;
            }
            self.matched += same;
            self.taken += block.len();
        }
    }

    /// So many bytes of the other content from where the next ones would be if both end together, or as many of the last of
    /// them as come after the common beginning.
    fn opposite(&self, count: usize) -> Option<&[u8]> {
        let end = (self.other.len() + self.taken + count).checked_sub(self.size)?;
        let start = end.saturating_sub(count).max(self.head);
        self.other.get(start..end)
    }

    fn own_matched(&mut self) {
        let end = (self.other.len() + self.taken).saturating_sub(self.size);
        let matched = end.saturating_sub(self.matched)..end;
        self.own.extend_from_slice(self.other.get(matched).unwrap_or_default());
    }

    /// How many bytes are expected.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many bytes were taken.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// All that was taken.
    pub fn end(mut self) -> Spliced {
        if self.taken != self.size {
            self.own_matched();
            self.matched = 0;
        }
        Spliced { other: self.other, head: self.head, own: Arc::new(self.own), tail: self.matched }
    }
}

/// The lengths of the common beginning and of the common end, which do not overlap in either.
fn common(one: &[u8], other: &[u8]) -> (usize, usize) {
    let head = common_head(one, other);
    (head, common_tail(&one[head..], &other[head..]))
}

fn common_head(one: &[u8], other: &[u8]) -> usize {
    let most = one.len().min(other.len());
    let mut head = 0;
    while head + BLOCK <= most && one[head..head + BLOCK] == other[head..head + BLOCK] {
        head += BLOCK;
    }
    head + one[head..most].iter().zip(&other[head..most]).take_while(|(one, other)| one == other).count()
}

fn common_tail(one: &[u8], other: &[u8]) -> usize {
    let most = one.len().min(other.len());
    let (one, other) = (&one[one.len() - most..], &other[other.len() - most..]);
    let mut left = most;
    while left >= BLOCK && one[left - BLOCK..left] == other[left - BLOCK..left] {
        left -= BLOCK;
    }
    let same = one[..left].iter().zip(&other[..left]).rev().take_while(|(one, other)| one == other);
    most - left + same.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_ends_are_found_and_do_not_overlap() {
        let long = |middle: &str| format!("{}{middle}{}", "a".repeat(9_000), "b".repeat(10_000)).into_bytes();
        assert_eq!(common(&long("x"), &long("yy")), (9_000, 10_000));
        assert_eq!(common(&long(""), &long("")), (19_000, 0));
        assert_eq!(common(b"aaa", b"aaaaa"), (3, 0));
        assert_eq!(common(b"abab", b"ab"), (2, 0));
        assert_eq!(common(b"xab", b"yab"), (0, 2));
        assert_eq!(common(b"", b"a"), (0, 0));
    }

    /// A small generator of numbers.
    struct Seeded(u64);

    impl Seeded {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap_or_default() % end
        }

        fn bytes(&mut self, end: usize) -> Vec<u8> {
            let length = self.below(end);
            (0..length).map(|_| if self.below(40) == 0 { b'y' } else { b'x' }).collect()
        }
    }

    #[test]
    fn bytes_come_back_whatever_the_other_content_is_and_however_they_come() {
        let mut seeded = Seeded(7);
        for round in 0..3_000 {
            let end = [10, 300, 20_000][round % 3];
            let old = seeded.bytes(end);
            let mut new = old.clone();
            for _ in 0..seeded.below(4) {
                let at = seeded.below(new.len() + 1);
                let until = (at + seeded.below(20)).min(new.len());
                let own = seeded.bytes(20);
                new.splice(at..until, own);
            }
            let expected = match seeded.below(5) {
                0 => seeded.below(end),
                _ => old.len(),
            };
            let mut splicer = Splicer::new(new.clone().into(), expected);
            let mut rest = &old[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(1 + seeded.below(rest.len()));
                splicer.take(piece);
                rest = after;
            }
            assert_eq!(splicer.taken(), old.len());
            let spliced = splicer.end();
            assert_eq!(spliced.parts().concat(), old, "round {round}");
            assert_eq!((&*spliced.bytes(), spliced.len()), (&old[..], old.len()));
            assert!(spliced.is(&old) && !spliced.is(&[&old[..], b"z"].concat()));
            let whole = Spliced::from(Arc::from(new.clone()));
            let (head, tail) = spliced.common(&whole);
            assert_eq!(&old[..head], &new[..head]);
            assert_eq!(&old[old.len() - tail..], &new[new.len() - tail..]);
            assert!(head + tail <= old.len().min(new.len()));
            if expected == old.len() {
                assert_eq!((head, tail), common(&old, &new), "round {round}");
            }
        }
    }

    #[test]
    fn what_is_the_same_is_not_kept_twice() {
        let text: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        let new = [&text[..300_000], b"another line", &text[300_020..]].concat();
        let mut splicer = Splicer::new(new.into(), text.len());
        text.chunks(65_536).for_each(|piece| splicer.take(piece));
        let spliced = splicer.end();
        assert!(spliced.is(&text));
        assert!(spliced.own_len() <= 20, "{}", spliced.own_len());
    }
}
