//! Answers compared with the truth: references as sets of lines, definitions by the first answer. The line of the
//! declaration itself counts neither for nor against.

use std::collections::BTreeSet;

/// A file and a line.
pub(super) type Line = (String, u64);

pub(super) const HEADING: &str = "language     at definitions: unique P/R  ambiguous P/R  at uses: unique P/R  ambiguous P/R  \
definition  random  external  missing with complete: true  unlisted  of another  possible  failed";

/// True, false and missed answers.
#[derive(Default)]
pub(super) struct Count {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Count {
    pub(super) fn add(&mut self, answer: &BTreeSet<Line>, truth: &BTreeSet<Line>) {
        self.right += answer.intersection(truth).count();
        self.wrong += answer.difference(truth).count();
        self.missed += truth.difference(answer).count();
    }

    fn precision(&self) -> f64 {
        part(self.right, self.right + self.wrong)
    }

    fn recall(&self) -> f64 {
        part(self.right, self.right + self.missed)
    }

    fn shown(&self) -> String {
        format!("{:.3}/{:.3}", self.precision(), self.recall())
    }
}

/// A part of a number; all of it where there is nothing.
fn part(count: usize, of: usize) -> f64 {
    if of == 0 { 1.0 } else { count as f64 / of as f64 }
}

/// How often something was asked and how often it was so.
#[derive(Default)]
pub(super) struct Share {
    asked: usize,
    hits: usize,
}

impl Share {
    pub(super) fn add(&mut self, is_hit: bool) {
        self.asked += 1;
        self.hits += usize::from(is_hit);
    }

    fn value(&self) -> f64 {
        part(self.hits, self.asked)
    }
}

/// Everything measured for one language.
#[derive(Default)]
pub(super) struct Score {
    /// Asked at the definition: names that are declared once, and others.
    pub(super) at_definition: [Count; 2],
    /// Asked at a use.
    pub(super) at_use: [Count; 2],
    pub(super) definition: Share,
    pub(super) random: Share,
    /// Names from outside for which a definition was given.
    pub(super) external: Share,
    /// True references that are in no list of an answer that says to be complete.
    pub(super) silent: usize,
    /// True references that are in no list, whether or not the answer says that something may be missing.
    pub(super) unlisted: usize,
    /// The same for places that mean another definition than the one whose references the oracle has, by its own word: an
    /// implementation of a method of a trait, a part of a union.
    pub(super) of_another: usize,
    /// References that were listed as possible.
    pub(super) possible: usize,
    /// Calls that ended with an error other than for a name without a definition.
    pub(super) failed: usize,
}

impl Score {
    pub(super) fn row(&self, language: &str) -> String {
        format!(
            "{language:<11} {:>27} {:>14} {:>20} {:>14} {:>11.3} {:>7.3} {:>9.3} {:>28} {:>9} {:>11} {:>9} {:>7}",
            self.at_definition[0].shown(),
            self.at_definition[1].shown(),
            self.at_use[0].shown(),
            self.at_use[1].shown(),
            self.definition.value(),
            self.random.value(),
            if self.external.asked == 0 { 0.0 } else { self.external.value() },
            self.silent,
            self.unlisted,
            self.of_another,
            self.possible,
            self.failed,
        )
    }

    /// What is lower than it must be.
    pub(super) fn below_musts(&self, language: &str) -> Vec<String> {
        let ambiguous = if language == "typescript" { 0.75 } else { 0.85 };
        let mut missing = Vec::new();
        let mut check = |what: &str, value: f64, bound: f64| {
            if value < bound {
                missing.push(format!("{language} {what} {value:.3} (must be {bound})"));
            }
        };
        for (place, counts) in [("at definitions", &self.at_definition), ("at uses", &self.at_use)] {
            for (kind, count, bound) in [("unique", &counts[0], 0.95), ("ambiguous", &counts[1], ambiguous)] {
                check(&format!("{kind} precision {place}"), count.precision(), bound);
                check(&format!("{kind} recall {place}"), count.recall(), bound);
            }
        }
        check("definition", self.definition.value(), 0.90);
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(numbers: &[u64]) -> BTreeSet<Line> {
        numbers.iter().map(|number| ("a".to_owned(), *number)).collect()
    }

    #[test]
    fn what_is_lower_than_it_must_be_is_named() {
        let mut score = Score::default();
        assert!(score.below_musts("go").is_empty());
        score.at_use[1].add(&lines(&[1, 2, 3, 9]), &lines(&[1, 2, 3, 4]));
        assert_eq!(score.at_use[1].shown(), "0.750/0.750");
        assert_eq!(score.below_musts("typescript"), Vec::<String>::new());
        assert_eq!(
            score.below_musts("go"),
            [
                "go ambiguous precision at uses 0.750 (must be 0.85)",
                "go ambiguous recall at uses 0.750 (must be 0.85)"
            ]
        );
        score.definition.add(false);
        assert_eq!(score.below_musts("typescript"), ["typescript definition 0.000 (must be 0.9)"]);
    }
}
