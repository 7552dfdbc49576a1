//! The kinds of noise. Each alters a draft and says what the altered call demands; none knows how a tool matches.

mod applied;
mod codex;
mod edges;
mod endings;
mod escapes;
mod indentation;
mod lines;
mod meaning;
mod patch_headers;
mod patch_lines;
mod placeholders;
mod places;
mod prefixes;
mod search_replace;
mod spacing;
mod unicode;
mod wrappers;

use super::claim::{Claim, Form};
use super::draft::Draft;
use super::random::Choices;

/// When a kind of noise is applied: to the file, to lines, to the two strings, or to the text of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    File,
    Rows,
    Strings,
    Patch,
}

/// What the noise is about. Two kinds of different families do not disturb each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Whitespace,
    Lines,
    Meaning,
    Spelling,
    Wrapper,
    Place,
}

/// Which goal a kind counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    General,
    /// Not code: point 8 of the list.
    NotCode,
    /// To be understood: point 9 of the list.
    Understood,
}

pub(super) type Apply = fn(&mut Draft, &mut Choices) -> Option<Claim>;

/// One kind of noise.
pub(super) struct Noise {
    pub(super) name: &'static str,
    pub(super) stage: Stage,
    pub(super) family: Family,
    pub(super) goal: Goal,
    /// The forms of calls that can have it.
    pub(super) forms: &'static [Form],
    /// Adds the noise; `None` if the draft has no place for it.
    pub(super) apply: Apply,
}

const EDIT: &[Form] = &[Form::Edit];
const ANY: &[Form] = &[Form::Edit, Form::Unified, Form::Codex];
const ALL: &[Form] = &[Form::Edit, Form::Unified, Form::Codex, Form::Blocks];
const PATCHES: &[Form] = &[Form::Unified, Form::Codex];
const UNIFIED: &[Form] = &[Form::Unified];
const CODEX: &[Form] = &[Form::Codex];
const BLOCKS: &[Form] = &[Form::Blocks];

const fn noise(
    name: &'static str,
    stage: Stage,
    family: Family,
    forms: &'static [Form],
    apply: Apply,
) -> Noise {
    Noise { name, stage, family, goal: Goal::General, forms, apply }
}

const fn toward(goal: Goal, noise: Noise) -> Noise {
    Noise { goal, ..noise }
}

/// All kinds.
pub(super) fn all() -> Vec<&'static Noise> {
    let groups: [&'static [Noise]; 17] = [
        places::NOISES,
        indentation::NOISES,
        spacing::NOISES,
        edges::NOISES,
        endings::NOISES,
        lines::NOISES,
        meaning::NOISES,
        applied::NOISES,
        placeholders::NOISES,
        escapes::NOISES,
        prefixes::NOISES,
        unicode::NOISES,
        wrappers::NOISES,
        search_replace::NOISES,
        patch_headers::NOISES,
        patch_lines::NOISES,
        codex::NOISES,
    ];
    groups.into_iter().flatten().collect()
}

/// Changes every line of both strings of an edit.
fn each_line(draft: &mut Draft, change: impl Fn(usize, &str) -> String) {
    for text in [&mut draft.old, &mut draft.new] {
        let lines: Vec<String> =
            text.split('\n').enumerate().map(|(index, line)| change(index, line)).collect();
        *text = lines.join("\n");
    }
}

/// Changes the text of every row, on both sides.
fn each_row(draft: &mut Draft, change: impl Fn(&str) -> String) {
    for row in draft.rows_mut() {
        row.old = change(&row.old);
        row.new = change(&row.new);
    }
}
