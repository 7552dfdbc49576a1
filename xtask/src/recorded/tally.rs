//! Counts of verdicts, by the reason for which edits failed in the session.

use std::collections::BTreeMap;

use super::history::{Attempt, Failure};
use super::replay::Deed;
use super::verdict::Verdict;

#[derive(Default)]
pub(super) struct Tally {
    pub(super) counts: BTreeMap<(Option<Failure>, Verdict), usize>,
    /// The lines that were taken for placeholders, as the errors name them.
    pub(super) placeholders: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, attempt: &Attempt, deed: Option<&Deed>, verdict: Verdict) {
        *self.counts.entry((attempt.failure, verdict)).or_default() += 1;
        if let (Verdict::Placeholder, Some(deed)) = (verdict, deed) {
            let marked = deed.message.split('`').nth(3).unwrap_or_default();
            self.placeholders.push(marked.to_owned());
        }
    }

    pub(super) fn sum(&self, fits: impl Fn(Option<Failure>, Verdict) -> bool) -> usize {
        self.counts
            .iter()
            .filter(|((failure, verdict), _)| fits(*failure, *verdict))
            .map(|(_, count)| count)
            .sum()
    }

    pub(super) fn wrong(&self) -> usize {
        self.sum(|_, verdict| verdict.is_wrong())
    }
}
