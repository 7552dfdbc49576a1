//! Counting what became of the cases, for each kind of noise.

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

/// The counts of each kind: of the cases that are decidable, and of the others.
#[derive(Default)]
pub(super) struct Tally {
    kinds: BTreeMap<&'static str, [Counts; 2]>,
    shown: usize,
}

impl Tally {
    pub(super) fn add(&mut self, kind: &Kind, is_decidable: bool, verdict: Verdict) {
        self.kinds.entry(kind.name).or_default()[usize::from(!is_decidable)].add(verdict);
    }

    pub(super) fn wrong_decidable(&self) -> usize {
        self.kinds.values().map(|[decidable, _]| decidable.wrong).sum()
    }

    /// The counts of the decidable cases of one kind, and of all.
    pub(super) fn decidable(&self, name: &str) -> Counts {
        self.kinds.get(name).map_or(Counts::default(), |counts| counts[0])
    }

    pub(super) fn all_decidable(&self) -> Counts {
        self.totals()[0]
    }

    /// Whether enough has happened since the last time for showing it.
    pub(super) fn is_due(&mut self, count: usize) -> bool {
        let is_due = count >= self.shown + 200;
        if is_due {
            self.shown = count;
        }
        is_due
    }

    fn totals(&self) -> [Counts; 2] {
        let sum =
            |index: usize| self.kinds.values().fold(Counts::default(), |sum, counts| sum.plus(counts[index]));
        [sum(0), sum(1)]
    }

    pub(super) fn json(&self) -> Value {
        let pair =
            |[decidable, lossy]: [Counts; 2]| json!({ "decidable": decidable.json(), "lossy": lossy.json() });
        let kinds: serde_json::Map<String, Value> =
            self.kinds.iter().map(|(name, counts)| ((*name).to_owned(), pair(*counts))).collect();
        json!({ "kinds": kinds, "all": pair(self.totals()) })
    }

    /// The tables of decidable and of lossy cases, in Markdown.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        for (index, title) in ["decidable", "lossy"].into_iter().enumerate() {
            let _ = writeln!(text, "| {title} | cases | right | | acceptable | refused | wrong |");
            text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
            for kind in noise::kinds() {
                let counts = self.kinds.get(kind.name).map_or(Counts::default(), |counts| counts[index]);
                if counts.all() > 0 {
                    let _ = writeln!(text, "| `{}` | {} |", kind.name, counts.cells());
                }
            }
            let _ = writeln!(text, "| all | {} |\n", self.totals()[index].cells());
        }
        text
    }
}

/// Every kind of noise, with what it loses.
pub(super) fn kinds_table() -> String {
    let mut text = String::from("| noise | class | what it is |\n| --- | --- | --- |\n");
    for kind in noise::kinds() {
        let class = match kind.class {
            Class::Decidable => "decidable",
            Class::Lossy => "lossy",
        };
        let _ = writeln!(text, "| `{}` | {class} | {} |", kind.name, kind.reason);
    }
    text
}
