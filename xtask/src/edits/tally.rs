//! Counting the counts, for each kind of noise.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::noise::{self, Class, Kind};
use super::verdict::Verdict;

/// How many cases came to what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    right: usize,
    acceptable: usize,
    refused: usize,
    wrong: usize,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Right => &mut self.right,
            Verdict::Acceptable => &mut self.acceptable,
            Verdict::Refused => &mut self.refused,
            Verdict::Wrong => &mut self.wrong,
        } += 1;
    }

    pub(super) fn all(self) -> usize {
        self.right + self.acceptable + self.refused + self.wrong
    }

    fn plus(self, other: Counts) -> Counts {
        Counts {
            right: self.right + other.right,
            acceptable: self.acceptable + other.acceptable,
            refused: self.refused + other.refused,
            wrong: self.wrong + other.wrong,
        }
    }

    fn json(self) -> Value {
        json!({ "right": self.right, "acceptable": self.acceptable, "refused": self.refused, "wrong": self.wrong })
    }

    /// Right or acceptable, refused and wrong, in percent.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below the limit")]
    pub(super) fn shares(self) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.all().max(1) as f64;
        let (right, refused, wrong) =
            (share(self.right + self.acceptable), share(self.refused), share(self.wrong));
        format!("{right:.0} / {refused:.0} / {wrong:.1}")
    }

    fn cells(self) -> String {
        let all = self.all();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below the limit")]
        let share = if all == 0 { 0.0 } else { 100.0 * self.right as f64 / all as f64 };
        let Counts { right, acceptable, refused, wrong } = self;
        format!("{all} | {right} | {share:.1} % | {acceptable} | {refused} | {wrong}")
    }
}

/// The counts of each kind, for each of `Class::ALL`.
#[derive(Default)]
pub(super) struct Tally {
    kinds: BTreeMap<&'static str, [Counts; 3]>,
    shown: usize,
}

impl Tally {
    pub(super) fn add(&mut self, kind: &Kind, class: Class, verdict: Verdict) {
        self.kinds.entry(kind.name).or_default()[class as usize].add(verdict);
    }

    /// How many cases are wrong that must not be.
    pub(super) fn wrong(&self) -> usize {
        self.kinds.values().map(|[decidable, contradictory, _]| decidable.wrong + contradictory.wrong).sum()
    }

    /// The counts of one kind.
    pub(super) fn of(&self, name: &str, class: Class) -> Counts {
        self.kinds.get(name).map_or(Counts::default(), |counts| counts[class as usize])
    }

    /// The counts of all kinds.
    pub(super) fn all_of(&self, class: Class) -> Counts {
        self.kinds.values().fold(Counts::default(), |sum, counts| sum.plus(counts[class as usize]))
    }

    /// Whether enough has happened since the last time for showing it.
    pub(super) fn is_due(&mut self, count: usize) -> bool {
        let is_due = count >= self.shown + 200;
        if is_due {
            self.shown = count;
        }
        is_due
    }

    pub(super) fn json(&self) -> Value {
        let classes = |counts: &dyn Fn(Class) -> Counts| -> Value {
            Class::ALL.iter().map(|class| (class.name().to_owned(), counts(*class).json())).collect()
        };
        let kinds: Value = self
            .kinds
            .keys()
            .map(|name| ((*name).to_owned(), classes(&|class| self.of(name, class))))
            .collect();
        json!({ "kinds": kinds, "all": classes(&|class| self.all_of(class)) })
    }

    /// A table for each class, in Markdown.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        for class in Class::ALL {
            let _ = writeln!(text, "| {} | cases | right | | acceptable | refused | wrong |", class.name());
            text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
            for kind in noise::kinds() {
                let counts = self.of(kind.name, class);
                if counts.all() > 0 {
                    let _ = writeln!(text, "| `{}` | {} |", kind.name, counts.cells());
                }
            }
            let _ = writeln!(text, "| all | {} |\n", self.all_of(class).cells());
        }
        text
    }
}

/// Every kind of noise, with what it loses.
pub(super) fn kinds_table() -> String {
    let mut text = String::from("| noise | class | what it is |\n| --- | --- | --- |\n");
    for kind in noise::kinds() {
        let class = kind.class.name();
        let _ = writeln!(text, "| `{}` | {class} | {} |", kind.name, kind.reason);
    }
    text
}
