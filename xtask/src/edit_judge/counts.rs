//! Results by kind and form.

use std::collections::BTreeMap;

use super::claim::{Claim, Form};
use super::kinds::{self, Goal};
use super::ruling::Ruling;

/// How many cases of one kind were demanded what, and came to what.
#[derive(Default)]
pub(super) struct Count(BTreeMap<(Claim, Ruling), usize>);

impl Count {
    pub(super) fn add(&mut self, claim: Claim, ruling: Ruling) {
        *self.0.entry((claim, ruling)).or_default() += 1;
    }

    fn sum(&self, fits: impl Fn(Claim, Ruling) -> bool) -> usize {
        self.0.iter().filter(|((claim, ruling), _)| fits(*claim, *ruling)).map(|(_, count)| count).sum()
    }

    pub(super) fn cases(&self) -> usize {
        self.sum(|_, _| true)
    }

    pub(super) fn with(&self, ruling: Ruling) -> usize {
        self.sum(|claim, found| claim != Claim::Undecidable && found == ruling)
    }

    pub(super) fn undecidable(&self) -> usize {
        self.sum(|claim, _| claim == Claim::Undecidable)
    }

    pub(super) fn guessed(&self) -> usize {
        self.sum(|_, ruling| ruling == Ruling::Guessed)
    }

    /// Of the decidable cases: how many are right, and how many there are.
    pub(super) fn decidable(&self) -> (usize, usize) {
        let all = self.sum(|claim, _| claim == Claim::Decidable);
        (self.sum(|claim, ruling| claim == Claim::Decidable && ruling == Ruling::Right), all)
    }

    /// Of the cases that must not change the file.
    pub(super) fn to_refuse(&self) -> (usize, usize) {
        let is = |claim| matches!(claim, Claim::Refusal | Claim::Forbidden | Claim::Applied);
        let all = self.sum(|claim, _| is(claim));
        (self.sum(|claim, ruling| is(claim) && ruling != Ruling::Wrong && ruling != Ruling::Bold), all)
    }

    fn merge(&mut self, other: &Count) {
        for (key, count) in &other.0 {
            *self.0.entry(*key).or_default() += count;
        }
    }
}

/// All results of a run.
#[derive(Default)]
pub(super) struct Results {
    pub(super) kinds: BTreeMap<(String, Form), Count>,
}

/// The row of cases with two kinds of noise.
const TWO: &str = "two kinds";

impl Results {
    pub(super) fn add(&mut self, names: &[&str], form: Form, claim: Claim, ruling: Ruling) {
        let name = if let [name] = names { name } else { TWO };
        self.kinds.entry((name.to_owned(), form)).or_default().add(claim, ruling);
    }

    pub(super) fn total(&self, fits: impl Fn(&str, Form) -> bool) -> Count {
        let mut total = Count::default();
        for ((name, form), count) in &self.kinds {
            if fits(name, *form) {
                total.merge(count);
            }
        }
        total
    }

    /// The whole report: each kind, then the totals beside their goals.
    pub(super) fn table(&self) -> String {
        let mut text = String::from(
            "| kind | call | cases | right | refused | bold | wrong | undecidable | guessed | decidable right |\n\
             | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        );
        for ((name, form), count) in &self.kinds {
            text.push_str(&row(name, form.name(), count));
        }
        text.push_str(&row("all edits", "", &self.total(|_, form| form == Form::Edit)));
        text.push_str(&row("all patches", "", &self.total(|_, form| form != Form::Edit)));
        text.push_str(&row("not code (point 8)", "", &self.goal(Goal::NotCode)));
        text.push_str(&row("understood (point 9)", "", &self.goal(Goal::Understood)));
        text.push_str(&row("all", "", &self.total(|_, _| true)));
        text
    }

    fn goal(&self, goal: Goal) -> Count {
        let names: Vec<&str> =
            kinds::all().into_iter().filter(|noise| noise.goal == goal).map(|noise| noise.name).collect();
        self.total(|name, _| names.contains(&name))
    }
}

fn percent((part, all): (usize, usize)) -> String {
    if all == 0 { "–".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / all as f64) }
}

fn row(name: &str, form: &str, count: &Count) -> String {
    let (right, refused) = (count.with(Ruling::Right), count.with(Ruling::Refused));
    let (bold, wrong) = (count.with(Ruling::Bold), count.with(Ruling::Wrong));
    let name = name.replace('|', "\\|");
    format!(
        "| {name} | {form} | {} | {right} | {refused} | {bold} | {wrong} | {} | {} | {} |\n",
        count.cases(),
        count.undecidable(),
        count.guessed(),
        percent(count.decidable())
    )
}

/// The goals, each with its figure.
pub(super) fn goals(results: &Results) -> String {
    let edits = results.total(|_, form| form == Form::Edit);
    let patches = results.total(|_, form| form != Form::Edit);
    let all = results.total(|_, _| true);
    let weak = |goal: Goal| {
        let wanted = kinds::all().into_iter().filter(|noise| noise.goal == goal);
        let figure = |name: &str| {
            let count = results.total(|found, _| found == name);
            let (right, decidable) = if goal == Goal::NotCode && count.decidable().1 == 0 {
                count.to_refuse()
            } else {
                count.decidable()
            };
            (decidable > 0 && right * 100 < decidable * 80).then(|| format!("{name} {right}/{decidable}"))
        };
        wanted.filter_map(|noise| figure(noise.name)).collect::<Vec<_>>().join("; ")
    };
    format!(
        "wrong: {} of {} (goal 0)\nbold: {}\ndecidable edits right: {} (goal 95 %)\ndecidable patches right: {} (goal 93 %)\n\
         must be refused, and were: {}\nundecidable: {} of {}, guessed otherwise {}\n\
         point 8 below 80 %: {}\npoint 9 below 80 %: {}\n",
        all.with(Ruling::Wrong),
        all.cases(),
        all.with(Ruling::Bold),
        percent(edits.decidable()),
        percent(patches.decidable()),
        percent(all.to_refuse()),
        all.undecidable(),
        all.cases(),
        all.guessed(),
        weak(Goal::NotCode),
        weak(Goal::Understood),
    )
}
