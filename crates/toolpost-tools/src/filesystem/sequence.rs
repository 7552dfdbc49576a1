//! Where a sequence of keys is within another: the search of Knuth, Morris and Pratt. Every key is looked at once, however
//! often the keys repeat themselves.

/// Every place where `wanted` begins in `all`, overlapping ones included. Nothing is found where nothing is wanted.
pub(super) fn occurrences(all: &[u64], wanted: &[u64]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut search = Search::new(wanted);
    for (index, key) in all.iter().enumerate() {
        if search.ends_with(Some(*key)) {
            found.push(index + 1 - wanted.len());
        }
    }
    found
}

/// A search that is given one key after another.
pub(super) struct Search<'a> {
    wanted: &'a [u64],
    /// For each beginning of what is wanted, how long the longest one is that it also ends with.
    border: Vec<usize>,
    matched: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(wanted: &'a [u64]) -> Search<'a> {
        let mut border = vec![0; wanted.len()];
        let mut length = 0;
        for at in 1..wanted.len() {
            while length > 0 && wanted[at] != wanted[length] {
                length = border[length - 1];
            }
            length += usize::from(wanted[at] == wanted[length]);
            border[at] = length;
        }
        Search { wanted, border, matched: 0 }
    }

    /// Takes the next key; `None` is none of those wanted. Whether all that is wanted ends with it.
    pub(super) fn ends_with(&mut self, key: Option<u64>) -> bool {
        if self.wanted.is_empty() {
            return false;
        }
        if self.matched == self.wanted.len() {
            self.matched = self.border[self.matched - 1];
        }
        while self.matched > 0 && key != Some(self.wanted[self.matched]) {
            self.matched = self.border[self.matched - 1];
        }
        self.matched += usize::from(key == Some(self.wanted[self.matched]));
        self.matched == self.wanted.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_a_plain_search() {
        let mut state = 7_u64;
        let mut next = |most: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % most
        };
        for _ in 0..3_000 {
            let (length, wanted) = (next(40) as usize, 1 + next(5) as usize);
            let all: Vec<u64> = (0..length).map(|_| next(2)).collect();
            let wanted: Vec<u64> = (0..wanted).map(|_| next(2)).collect();
            let plain =
                all.windows(wanted.len()).enumerate().filter(|(_, there)| *there == wanted.as_slice());
            let plain: Vec<usize> = plain.map(|(at, _)| at).collect();
            assert_eq!(occurrences(&all, &wanted), plain, "{wanted:?} in {all:?}");
        }
        assert_eq!(occurrences(&[1, 2], &[]), Vec::<usize>::new());
    }
}
