//! Cases without end: a true change, one or two kinds of noise, and what the call then demands.

use super::claim::{Claim, Form};
use super::decide::{Trial, settle};
use super::draft::Draft;
use super::history::Change;
use super::kinds::{self, Noise, Stage};
use super::patch_text;
use super::random::Choices;

/// How many cases of a hundred have two kinds of noise.
const TWO_KINDS: usize = 25;

/// How often a case is begun again when the chosen change has no place for the noise.
const TRIES: usize = 40;

pub(super) struct Cases<'a> {
    changes: &'a [Change],
    noises: Vec<&'static Noise>,
    /// Every kind in every form that can have it.
    pairs: Vec<(&'static Noise, Form)>,
    seed: u64,
    next: usize,
}

impl<'a> Cases<'a> {
    /// The cases of this seed; `kind` leaves only kinds with this in their names.
    pub(super) fn new(changes: &'a [Change], seed: u64, kind: Option<&str>) -> Cases<'a> {
        let noises = kinds::all();
        let wanted = |noise: &&&'static Noise| kind.is_none_or(|kind| noise.name.contains(kind));
        let pairs = noises
            .iter()
            .filter(wanted)
            .flat_map(|noise| noise.forms.iter().map(move |form| (*noise, *form)))
            .collect();
        Cases { changes, noises, pairs, seed, next: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The next case; `None` where no change had a place for its noise.
    pub(super) fn next(&mut self) -> Option<Trial> {
        let number = self.next;
        self.next += 1;
        let (noise, form) = self.pairs[number % self.pairs.len()];
        let mut choices = Choices::new(self.seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        (0..TRIES).find_map(|_| self.attempt(number, noise, form, &mut choices))
    }

    fn attempt(
        &self,
        number: usize,
        noise: &'static Noise,
        form: Form,
        choices: &mut Choices,
    ) -> Option<Trial> {
        let change = choices.pick(self.changes)?;
        let name = neutral(change.path.rsplit('/').next().unwrap_or(&change.path));
        let most = if form == Form::Edit { 1 } else { 3 };
        let mut draft = Draft::cut(change, most, format!("t{number}/{name}"), choices)?;
        let mut noises = vec![noise];
        if choices.percent(TWO_KINDS) {
            let second = *choices.pick(&self.noises)?;
            if second.family == noise.family || !second.forms.contains(&form) {
                return None;
            }
            noises.push(second);
        }
        noises.sort_by_key(|noise| noise.stage);
        let mut claim = Claim::Decidable;
        let mut written = false;
        for noise in &noises {
            if noise.stage >= Stage::Strings && !written {
                write(&mut draft, form, choices);
                written = true;
            }
            claim = claim.max((noise.apply)(&mut draft, choices)?);
        }
        if !written {
            write(&mut draft, form, choices);
        }
        if claim == Claim::Decidable && noises.len() > 1 {
            claim = together(&noises);
        }
        settle(draft, form, &noises, claim)
    }
}

/// Files of build services are protected, whatever is in them, so they get another name.
fn neutral(name: &str) -> String {
    let extension = name.rsplit('.').next().unwrap_or(name);
    if name.starts_with('.') || name.starts_with("appveyor") {
        format!("settings.{extension}")
    } else {
        name.to_owned()
    }
}

fn write(draft: &mut Draft, form: Form, choices: &mut Choices) {
    match form {
        Form::Edit => draft.write_strings(choices),
        _ => draft.patch = patch_text::write(draft, form),
    }
}

/// Two kinds that each leave no doubt: together they may hide from each other what each of them shows.
fn together(noises: &[&Noise]) -> Claim {
    let harmless = |noise: &&&Noise| noise.name == "as it is";
    if noises.iter().any(|noise| harmless(&noise)) { Claim::Decidable } else { Claim::TruthOrRefusal }
}
