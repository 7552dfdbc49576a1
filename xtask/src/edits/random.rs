//! Reproducible random numbers (SplitMix64): the same seed gives the same cases on every machine.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The stream of this seed and these words; other words give another stream.
    pub(super) fn new(seed: u64, words: &[&str]) -> Random {
        let mut state = seed ^ 0x9E37_79B9_7F4A_7C15;
        for byte in words.iter().flat_map(|word| word.bytes().chain([0])) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        }
        Random(state)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is at least 1.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below `end`, which is a usize")]
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// True once in `times` tries.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_stream_and_words_give_others() {
        let first = |seed, words: &[&str]| Random::new(seed, words).next();
        assert_eq!(first(1, &["a"]), first(1, &["a"]));
        assert_ne!(first(1, &["a"]), first(2, &["a"]));
        assert_ne!(first(1, &["a", "b"]), first(1, &["ab"]));
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut items: Vec<usize> = (0..100).collect();
        Random::new(1, &[]).shuffle(&mut items);
        assert_ne!(items[..5], [0, 1, 2, 3, 4]);
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
