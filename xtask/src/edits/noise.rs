//! The kinds of noise: what a model does to the strings it sends. Each kind is declared decidable or lossy, with the
//! reason, in the tables of the families below. That is fixed before anything is run.

mod characters;
mod drift;
mod endings;
mod escapes;
mod indent;
mod numbers;
mod patches;
mod spaces;
mod twins;
mod wraps;

use super::hunks::Edit;
use super::patch::Patch;
use super::random::Random;

/// What can be told from the noisy strings.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Class {
    /// They still determine the true file, unless the case itself is ambiguous: then it counts as lossy.
    Decidable,
    /// They contradict the file in its meaning, although the place is clear. Refusing is right; writing anything but the
    /// true file is wrong.
    Contradictory,
    /// Something of the true file is lost. These cases are counted apart.
    Lossy,
}

impl Class {
    pub(super) const ALL: [Class; 3] = [Class::Decidable, Class::Contradictory, Class::Lossy];

    pub(super) fn name(self) -> &'static str {
        match self {
            Class::Decidable => "decidable",
            Class::Contradictory => "contradictory",
            Class::Lossy => "lossy",
        }
    }
}

/// One kind of noise.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) class: Class,
    /// Why it is decidable or lossy.
    pub(super) reason: &'static str,
    pub(super) make: Make,
}

/// How the noise is made; `None` if a change gives no occasion for it.
#[derive(Clone, Copy)]
pub(super) enum Make {
    Edit(fn(&Edit, &mut Random) -> Option<Noisy>),
    Patch(fn(&Patch<'_>, &mut Random) -> Option<NoisyPatch>),
}

const fn decidable(
    name: &'static str,
    reason: &'static str,
    make: fn(&Edit, &mut Random) -> Option<Noisy>,
) -> Kind {
    Kind { name, class: Class::Decidable, reason, make: Make::Edit(make) }
}

const fn contradictory(
    name: &'static str,
    reason: &'static str,
    make: fn(&Edit, &mut Random) -> Option<Noisy>,
) -> Kind {
    Kind { name, class: Class::Contradictory, reason, make: Make::Edit(make) }
}

const fn lossy(
    name: &'static str,
    reason: &'static str,
    make: fn(&Edit, &mut Random) -> Option<Noisy>,
) -> Kind {
    Kind { name, class: Class::Lossy, reason, make: Make::Edit(make) }
}

/// How the place of the edit is found out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// By the text of `old`, whatever its spaces: it must be in the file once.
    Text,
    /// The same, and no other lines at the depth of `old` may come near it.
    Depth,
    /// By most lines of `old`: one line or two differ in meaning, so no other place may come near.
    MostLines,
    /// The kind has made sure of it.
    Sure,
}

/// An edit with noise.
pub(super) struct Noisy {
    pub(super) old: String,
    pub(super) new: String,
    /// The file and the true result, where the noise is in the file.
    pub(super) file: Option<(Vec<String>, Vec<String>)>,
    /// The line ending of the file.
    pub(super) ending: &'static str,
    /// Whether the file ends without a line ending.
    pub(super) has_no_final_newline: bool,
    pub(super) place: Place,
    /// Whether the noisy `new` still tells the true text.
    pub(super) is_decidable: bool,
}

impl Noisy {
    fn text(old: String, new: String) -> Noisy {
        let (ending, place) = ("\n", Place::Text);
        Noisy { old, new, file: None, ending, has_no_final_newline: false, place, is_decidable: true }
    }

    /// The strings are the true ones, and the noise is in the file; `None` if it has changed nothing.
    fn in_file(edit: &Edit, before: Vec<String>, truth: Vec<String>) -> Option<Noisy> {
        let is_changed = before != edit.before;
        let mut noisy = Noisy::text(edit.old.join("\n"), edit.new.join("\n"));
        noisy.file = Some((before, truth));
        is_changed.then_some(noisy)
    }

    /// `None` if the noise has changed nothing.
    fn lines(edit: &Edit, old: &[String], new: &[String]) -> Option<Noisy> {
        let is_changed = old != edit.old || new != edit.new;
        is_changed.then(|| Noisy::text(old.join("\n"), new.join("\n")))
    }

    fn unless(mut self, is_lossy: bool) -> Noisy {
        self.is_decidable &= !is_lossy;
        self
    }
}

/// How the places of a patch are found out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PatchPlace {
    /// By the line numbers of its headers.
    Header,
    /// By the lines of each hunk, whatever their spaces: they must be in the file once.
    Text,
    /// By line numbers and most lines: one line differs in meaning, so no other place may come near.
    MostLines,
}

/// A patch with noise.
pub(super) struct NoisyPatch {
    pub(super) text: String,
    /// The file and the true result, where the noise is in the file.
    pub(super) file: Option<(Vec<String>, Vec<String>)>,
    /// The line ending of the file.
    pub(super) ending: &'static str,
    pub(super) place: PatchPlace,
    /// Whether the noisy lines still tell the true text.
    pub(super) is_decidable: bool,
}

impl NoisyPatch {
    fn unless(mut self, is_lossy: bool) -> NoisyPatch {
        self.is_decidable &= !is_lossy;
        self
    }
}

/// Every kind of noise of edits and of patches, family by family.
pub(super) fn kinds() -> Vec<&'static Kind> {
    let families: [&[Kind]; 11] = [
        NONE,
        numbers::KINDS,
        spaces::KINDS,
        endings::KINDS,
        indent::KINDS,
        characters::KINDS,
        escapes::KINDS,
        wraps::KINDS,
        drift::KINDS,
        twins::KINDS,
        patches::KINDS,
    ];
    families.into_iter().flatten().collect()
}

const NONE: &[Kind] = &[decidable("none", "the strings are exact", |edit, _| {
    let mut noisy = Noisy::text(edit.old.join("\n"), edit.new.join("\n"));
    noisy.place = Place::Sure;
    Some(noisy)
})];

/// Both strings with a change in each context line.
fn in_context(edit: &Edit, mut change: impl FnMut(&str) -> String) -> (Vec<String>, Vec<String>) {
    let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
    for (old_index, new_index) in edit.context() {
        old[old_index] = change(&edit.old[old_index]);
        new[new_index].clone_from(&old[old_index]);
    }
    (old, new)
}

/// The spaces at the beginning of a line.
fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}
