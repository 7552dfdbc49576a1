//! The stream of cases of one kind of noise: which hunk, which strings, and whether the true file can still be told.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use super::decide;
use super::hunks::{Edit, History};
use super::noise::{Class, Kind, Make, Noisy, NoisyPatch, PatchPlace, Place};
use super::patch::{Block, Patch};
use super::random::Random;

/// How often a hunk is used by one kind; the context and the noise are drawn anew each time.
const ROUNDS: usize = 6;

/// One call and what it must lead to.
pub(super) struct Case {
    /// Where the file comes from.
    pub(super) source: String,
    pub(super) extension: String,
    pub(super) before: String,
    pub(super) truth: String,
    pub(super) call: Call,
    /// What the call tells of the true file.
    pub(super) class: Class,
}

/// What is sent to the tools.
#[derive(Clone, Debug, Hash)]
pub(super) enum Call {
    Edit {
        old: String,
        new: String,
    },
    /// The patch has `patch::PATH` for the name of the file.
    Patch(String),
}

/// The cases of one kind, one after another.
pub(super) struct Cases {
    pub(super) kind: &'static Kind,
    histories: Rc<Vec<History>>,
    /// History and hunk, in a random order.
    order: Vec<(usize, usize)>,
    position: usize,
    random: Random,
    seen: HashSet<u64>,
}

impl Cases {
    pub(super) fn new(kind: &'static Kind, histories: Rc<Vec<History>>, seed: u64) -> Cases {
        let mut random = Random::new(seed, &[kind.name]);
        let hunks =
            |(index, history): (usize, &History)| (0..history.hunks.len()).map(move |hunk| (index, hunk));
        let mut order: Vec<(usize, usize)> = histories.iter().enumerate().flat_map(hunks).collect();
        random.shuffle(&mut order);
        Cases { kind, histories, order, position: 0, random, seen: HashSet::new() }
    }

    fn draw(&mut self, history: usize, hunk: usize) -> Option<Case> {
        let histories = Rc::clone(&self.histories);
        let history = &histories[history];
        let case = match self.kind.make {
            Make::Edit(make) => {
                let edit = history.edit(hunk, &mut self.random)?;
                let noisy = make(&edit, &mut self.random)?;
                edit_case(self.kind, history, &edit, noisy)
            }
            Make::Patch(make) => {
                let patch = Patch::usual(history, hunk, &mut self.random)?;
                let noisy = make(&patch, &mut self.random)?;
                patch_case(self.kind, history, &patch, noisy)
            }
        };
        let mut hasher = DefaultHasher::new();
        (&case.before, &case.call).hash(&mut hasher);
        self.seen.insert(hasher.finish()).then_some(case)
    }
}

impl Iterator for Cases {
    type Item = Case;

    fn next(&mut self) -> Option<Case> {
        while self.position < self.order.len() * ROUNDS {
            let (history, hunk) = self.order[self.position % self.order.len()];
            self.position += 1;
            if let Some(case) = self.draw(history, hunk) {
                return Some(case);
            }
        }
        None
    }
}

fn edit_case(kind: &Kind, history: &History, edit: &Edit<'_>, noisy: Noisy) -> Case {
    let (before, truth) = match &noisy.file {
        Some((before, truth)) => (before.clone(), truth.clone()),
        None => (edit.before.to_vec(), edit.truth()),
    };
    let text = |lines: &[String]| {
        if noisy.has_no_final_newline { lines.join("\n") } else { history.text(lines) }
    };
    let (before, truth) = (text(&before), text(&truth));
    let is_told = noisy.is_decidable
        && has_one_place(history, edit, &noisy, &before)
        && !is_exact_elsewhere(&before, &truth, &noisy);
    let call = Call::Edit { old: noisy.old, new: noisy.new };
    let class = if is_told { kind.class } else { Class::Lossy };
    with_ending(noisy.ending, history, before, truth, call, class)
}

fn with_ending(
    ending: &str,
    history: &History,
    before: String,
    truth: String,
    call: Call,
    class: Class,
) -> Case {
    let (before, truth) = match ending {
        "\n" => (before, truth),
        ending => (before.replace('\n', ending), truth.replace('\n', ending)),
    };
    Case { source: history.name.clone(), extension: history.extension.clone(), before, truth, call, class }
}

fn patch_case(kind: &Kind, history: &History, patch: &Patch<'_>, noisy: NoisyPatch) -> Case {
    let (before, truth) = match &noisy.file {
        Some((before, truth)) => (history.text(before), history.text(truth)),
        None => (history.text(patch.before), history.text(&patch.truth)),
    };
    let is_once =
        |old: &[String]| decide::occurrences(history.squeezed(), &decide::squeeze(&old.join("\n"))) == 1;
    let has_place = match noisy.place {
        PatchPlace::Header => true,
        PatchPlace::Text => patch.blocks.iter().all(|block| is_once(&block.old_lines())),
        PatchPlace::MostLines => {
            let is_nearest = |block: &Block| {
                decide::is_nearest(patch.before, block.old_start, &block.old_lines().join("\n"))
            };
            patch.blocks.iter().all(is_nearest)
        }
    };
    let class = if noisy.is_decidable && has_place { kind.class } else { Class::Lossy };
    with_ending(noisy.ending, history, before, truth, Call::Patch(noisy.text), class)
}

fn has_one_place(history: &History, edit: &Edit<'_>, noisy: &Noisy, before: &str) -> bool {
    let changed;
    let file = match noisy.file {
        None => history.squeezed(),
        Some(_) => {
            changed = decide::squeeze(before);
            &changed
        }
    };
    let clean = decide::squeeze(&edit.old.join("\n"));
    let sent = decide::squeeze(&noisy.old);
    // What is sent must not fit elsewhere by chance, and what was meant must be there once.
    let is_once =
        || decide::occurrences(file, &clean) == 1 && (sent == clean || decide::occurrences(file, &sent) == 0);
    match noisy.place {
        Place::Sure => true,
        Place::Text => is_once(),
        Place::Depth => is_once() && !decide::has_near(edit.before, edit.start, &noisy.old),
        Place::MostLines => {
            decide::occurrences(file, &sent) == 0 && decide::is_nearest(edit.before, edit.start, &noisy.old)
        }
    }
}

/// Whether the string is in the file once, and replacing it there is not the true edit: such a match is right by
/// definition, so the noise has made another edit of it.
fn is_exact_elsewhere(before: &str, truth: &str, noisy: &Noisy) -> bool {
    decide::occurrences(before, &noisy.old) == 1 && before.replacen(&noisy.old, &noisy.new, 1) != truth
}
