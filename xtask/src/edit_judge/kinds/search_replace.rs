//! Blocks of old and new text between marks, in `apply_patch` and as stray marks in `edit`.

use super::super::claim::Claim::{self, Decidable};
use super::super::draft::Draft;
use super::super::random::Choices;
use super::Family::Wrapper;
use super::Goal::Understood;
use super::Stage::{Patch, Strings};
use super::{BLOCKS, EDIT, Noise, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    toward(Understood, noise("SEARCH and REPLACE around the strings", Strings, Wrapper, EDIT, stray)),
    toward(Understood, noise("a SEARCH mark before old", Strings, Wrapper, EDIT, stray_first)),
    toward(Understood, noise("a whole block in both strings", Strings, Wrapper, EDIT, whole_in_both)),
    toward(Understood, noise("a block", Patch, Wrapper, BLOCKS, as_it_is)),
    toward(Understood, noise("a block in a fence", Patch, Wrapper, BLOCKS, fenced)),
    toward(Understood, noise("a path inside of the fence", Patch, Wrapper, BLOCKS, fenced_outside)),
    toward(Understood, noise("marks of other lengths", Patch, Wrapper, BLOCKS, other_lengths)),
    toward(Understood, noise("a path as a heading", Patch, Wrapper, BLOCKS, heading)),
    toward(Understood, noise("a sentence before the block", Patch, Wrapper, BLOCKS, sentence)),
];

fn framed(draft: &mut Draft) -> (String, String) {
    draft.bare();
    (draft.old.clone(), draft.new.clone())
}

fn stray(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let (old, new) = framed(draft);
    draft.old = format!("<<<<<<< SEARCH\n{old}\n=======");
    draft.new = if choices.percent(50) {
        format!("{new}\n>>>>>>> REPLACE")
    } else {
        format!("=======\n{new}\n>>>>>>> REPLACE")
    };
    Some(Decidable)
}

fn stray_first(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let (old, new) = framed(draft);
    draft.old = format!("<<<<<<< SEARCH\n{old}");
    draft.new = new;
    Some(Decidable)
}

fn whole_in_both(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let (old, new) = framed(draft);
    let block = format!("<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE");
    draft.old.clone_from(&block);
    draft.new = block;
    // The two strings are the same; what is meant is inside of them.
    Some(Claim::TruthOrRefusal)
}

fn as_it_is(_: &mut Draft, _: &mut Choices) -> Option<Claim> {
    Some(Decidable)
}

fn fenced(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let opening = format!("```{}\n<<<<<<< SEARCH", draft.extension());
    draft.patch = draft.patch.replace("<<<<<<< SEARCH", &opening);
    draft.patch = draft.patch.replace(">>>>>>> REPLACE\n", ">>>>>>> REPLACE\n```\n");
    Some(Decidable)
}

fn fenced_outside(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = format!("```\n{}```\n", draft.patch);
    Some(Decidable)
}

fn other_lengths(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let count = 5 + 4 * choices.below(2);
    draft.patch = draft
        .patch
        .replace("<<<<<<< SEARCH", &format!("{} SEARCH", "<".repeat(count)))
        .replace("\n=======\n", &format!("\n{}\n", "=".repeat(count)))
        .replace(">>>>>>> REPLACE", &format!("{} REPLACE", ">".repeat(count)));
    Some(Decidable)
}

fn heading(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let path = draft.path.clone();
    let heading = match choices.below(4) {
        0 => format!("### {path}\n"),
        1 => format!("**{path}**\n"),
        2 => format!("`{path}`\n"),
        _ => format!("File: {path}\n"),
    };
    draft.patch = draft.patch.replace(&format!("{path}\n"), &heading);
    Some(Decidable)
}

fn sentence(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = format!("I will change this part of the file.\n\n{}", draft.patch);
    Some(Decidable)
}
