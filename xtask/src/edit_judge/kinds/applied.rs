//! Calls whose change the file already has, in whole or in part.

use super::super::claim::Claim::{self, Applied, TruthOrRefusal};
use super::super::decide::skeleton;
use super::super::draft::{Draft, Mark, Row};
use super::super::random::Choices;
use super::Family::Place;
use super::Stage::File;
use super::{ALL, Noise, PATCHES, noise};

pub(super) const NOISES: &[Noise] = &[
    noise("already applied", File, Place, ALL, applied),
    noise("one of the hunks already applied", File, Place, PATCHES, partly_applied),
];

fn applied(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let words = |lines: Vec<&str>| skeleton(&lines.join("\n"));
    for block in &draft.blocks {
        let old = words(block.truth.iter().filter(|row| row.is_old()).map(|row| row.old.as_str()).collect());
        // The old text is still there, so that the call can be made again.
        if skeleton(&draft.truth()).contains(&old) {
            return None;
        }
    }
    let new = words(draft.new_lines());
    let added = draft.rows().iter().any(|row| row.mark == Mark::New && row.new.trim().len() > 3);
    let once = skeleton(&draft.truth()).matches(&new).count() == 1;
    draft.applied = true;
    Some(if added && once { Applied } else { TruthOrRefusal })
}

fn partly_applied(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    if draft.blocks.len() < 2 {
        return None;
    }
    let done = choices.below(draft.blocks.len());
    let block = draft.blocks[done].clone();
    let made: Vec<Row> = block
        .truth
        .iter()
        .filter(|row| row.mark != Mark::Gone)
        .map(|row| Row::of(Mark::Keep, &row.new))
        .collect();
    let lines: Vec<String> = made.iter().map(|row| row.new.clone()).collect();
    let (was, is) = (block.old_count(), made.len());
    draft.before.splice(block.first..block.end(), lines);
    draft.blocks[done].truth = made;
    for later in &mut draft.blocks[done + 1..] {
        later.first = later.first + is - was;
    }
    draft.has_numbers = false;
    Some(TruthOrRefusal)
}
