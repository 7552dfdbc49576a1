//! Exact text, and text that fits two places.

use super::super::claim::Claim::{self, Decidable, Refusal};
use super::super::draft::{Draft, Mark, split_indentation};
use super::super::random::Choices;
use super::Family::Place;
use super::Stage::{File, Rows, Strings};
use super::{ALL, ANY, EDIT, Noise, noise};

pub(super) const NOISES: &[Noise] = &[
    noise("as it is", Rows, Place, ALL, exact),
    noise("a part of lines, ending inside a word", Strings, Place, EDIT, inside_word),
    noise("the same lines twice", File, Place, EDIT, twice),
    noise("the same lines at two other depths", File, Place, EDIT, two_depths),
    noise("the place has changed, another fits at another depth", File, Place, ANY, changed_and_copied),
    noise("lines like these elsewhere, but for one word", File, Place, ANY, near_copy),
];

fn exact(_: &mut Draft, _: &mut Choices) -> Option<Claim> {
    Some(Decidable)
}

/// Cuts both strings somewhere inside of the lines that they share at the edges.
fn inside_word(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let shared = |one: &str, other: &str| {
        one.chars().zip(other.chars()).take_while(|(one, other)| one == other && one.is_ascii()).count()
    };
    let head = shared(&draft.old, &draft.new);
    let cut = choices.below(head.min(30) + 1);
    draft.old = draft.old[cut..].to_owned();
    draft.new = draft.new[cut..].to_owned();
    let reversed = |text: &str| text.chars().rev().collect::<String>();
    let tail = shared(&reversed(&draft.old), &reversed(&draft.new));
    let cut = choices.below(tail.min(30) + 1);
    draft.old.truncate(draft.old.len() - cut);
    draft.new.truncate(draft.new.len() - cut);
    Some(Decidable)
}

/// A place at least three lines away from the block.
fn elsewhere(draft: &Draft, choices: &mut Choices) -> Option<usize> {
    let block = draft.block();
    let at = choices.below(draft.before.len());
    (at + 3 < block.first || at > block.end() + 3).then_some(at)
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn twice(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = elsewhere(draft, choices)?;
    let lines = owned(&draft.true_old());
    draft.insert(at, &lines)?;
    Some(Refusal)
}

fn indented(lines: &[&str], by: &str) -> Vec<String> {
    let deeper = |line: &&str| if line.trim().is_empty() { String::new() } else { format!("{by}{line}") };
    lines.iter().map(deeper).collect()
}

/// The file has the lines at two depths, and the call has them at a third.
fn two_depths(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let lines = owned(&draft.true_old());
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    if texts.iter().all(|line| line.trim().len() < 8) {
        return None;
    }
    let unit = if texts.iter().any(|line| line.starts_with('\t')) { "\t" } else { "  " };
    let at = elsewhere(draft, choices)?;
    draft.insert(at, &indented(&texts, &unit.repeat(2)))?;
    for row in draft.rows_mut().iter_mut().filter(|row| !row.is_blank() || row.mark == Mark::New) {
        row.old.insert_str(0, unit);
        if !row.new.trim().is_empty() {
            row.new.insert_str(0, unit);
        }
    }
    Some(Refusal)
}

/// One word of the meant place differs from what the model knows; the same lines are elsewhere, deeper.
fn changed_and_copied(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let lines = owned(&draft.true_old());
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    if texts.len() < 3 || !texts.iter().any(|line| line.starts_with([' ', '\t'])) {
        return None;
    }
    let at = elsewhere(draft, choices)?;
    let unit = if texts.iter().any(|line| line.starts_with('\t')) { "\t" } else { "    " };
    drift(draft, choices)?;
    draft.insert(at, &indented(&texts, unit))?;
    draft.has_numbers = false;
    Some(Refusal)
}

/// Changes one word of the file behind an old row. The call does not know of it.
fn drift(draft: &mut Draft, choices: &mut Choices) -> Option<()> {
    let fits = draft.find(|row| row.is_old() && drifted(&row.old).is_some());
    let row = *choices.pick(&fits)?;
    let text = drifted(&draft.block().truth[row].old)?;
    draft.alter_file(row, &text);
    Some(())
}

fn drifted(line: &str) -> Option<String> {
    let (indentation, rest) = split_indentation(line);
    let end = rest.find(|character: char| !character.is_ascii_alphanumeric() && character != '_')?;
    (end > 3).then(|| format!("{indentation}renamed_{rest}"))
}

/// Another place is almost the same; the meant one is exact.
fn near_copy(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = elsewhere(draft, choices)?;
    let mut lines = owned(&draft.true_old());
    let fits: Vec<usize> = (0..lines.len()).filter(|at| drifted(&lines[*at]).is_some()).collect();
    let line = *choices.pick(&fits)?;
    lines[line] = drifted(&lines[line])?;
    draft.insert(at, &lines)?;
    Some(Decidable)
}
