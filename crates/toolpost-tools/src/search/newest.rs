//! What to show when there is more than may be shown: the newest files, and no more of them than are needed.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A file's place: newer ones first, then by name.
type Rank = (Reverse<i64>, String);

/// The newest files, as many as fill the limit together.
pub(super) struct Newest<T> {
    limit: usize,
    kept: BTreeMap<Rank, (usize, T)>,
    weight: usize,
    /// Files that were added and did not stay.
    pub(super) left_out: u64,
}

impl<T> Newest<T> {
    pub(super) fn new(limit: usize) -> Newest<T> {
        Newest { limit, kept: BTreeMap::new(), weight: 0, left_out: 0 }
    }

    /// Whether a file of this time could still be shown.
    pub(super) fn has_room(&self, modified_ms: i64, name: &str) -> bool {
        match self.kept.last_key_value() {
            Some(((Reverse(oldest), last), _)) if self.weight >= self.limit => {
                (Reverse(modified_ms), name) < (Reverse(*oldest), last)
            }
            _ => true,
        }
    }

    /// The time of the oldest file kept, once the limit is filled.
    pub(super) fn oldest_of_full(&self) -> Option<i64> {
        let ((Reverse(oldest), _), _) = self.kept.last_key_value()?;
        (self.weight >= self.limit).then_some(*oldest)
    }

    /// Adds a file that takes so much of the limit; what no longer fits goes.
    pub(super) fn add(&mut self, modified_ms: i64, name: &str, weight: usize, value: T) {
        if !self.has_room(modified_ms, name) {
            self.left_out += 1;
            return;
        }
        self.weight += weight;
        self.kept.insert((Reverse(modified_ms), name.to_owned()), (weight, value));
        while let Some(last) = self.kept.last_entry() {
            let weight = last.get().0;
            if self.weight - weight < self.limit {
                break;
            }
            last.remove();
            self.weight -= weight;
            self.left_out += 1;
        }
    }

    /// The files in order.
    pub(super) fn into_files(self) -> impl Iterator<Item = (String, T)> {
        self.kept.into_iter().map(|((_, name), (_, value))| (name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay_and_fill_the_limit() {
        let mut newest = Newest::new(5);
        for (time, name, weight) in
            [(1, "a", 2), (3, "b", 2), (2, "c", 2), (2, "d", 1), (9, "e", 3), (3, "f", 9)]
        {
            newest.add(time, name, weight, weight);
        }
        assert!(newest.has_room(3, "a") && !newest.has_room(2, "z") && newest.has_room(4, "z"));
        assert_eq!(newest.left_out, 4);
        let names: Vec<String> = newest.into_files().map(|(name, _)| name).collect();
        assert_eq!(names, ["e", "b"]);
    }
}
