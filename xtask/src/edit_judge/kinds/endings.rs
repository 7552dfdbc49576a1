//! Line endings, byte order marks and the end of the file.

use super::super::claim::Claim::{self, Decidable};
use super::super::draft::Draft;
use super::super::random::Choices;
use super::Family::Spelling;
use super::Stage::{File, Patch, Strings};
use super::{ANY, EDIT, Noise, PATCHES, noise};

pub(super) const NOISES: &[Noise] = &[
    noise("the file has CRLF", File, Spelling, ANY, file_crlf),
    noise("CRLF in the strings alone", Strings, Spelling, EDIT, strings_crlf),
    noise("CRLF in old alone", Strings, Spelling, EDIT, old_crlf),
    noise("CRLF in the patch alone", Patch, Spelling, PATCHES, patch_crlf),
    noise("CRLF in other lines of the file", File, Spelling, ANY, crlf_elsewhere),
    noise("CRLF in these lines of the file alone", File, Spelling, ANY, crlf_here),
    noise("the file has a byte order mark", File, Spelling, ANY, bom),
    noise("the file has no final newline", File, Spelling, ANY, no_final_newline),
];

fn file_crlf(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.crlf = true;
    Some(Decidable)
}

fn strings_crlf(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.old = draft.old.replace('\n', "\r\n");
    draft.new = draft.new.replace('\n', "\r\n");
    draft.old.contains('\r').then_some(Decidable)
}

fn old_crlf(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.old = draft.old.replace('\n', "\r\n");
    draft.old.contains('\r').then_some(Decidable)
}

fn patch_crlf(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replace('\n', "\r\n");
    Some(Decidable)
}

fn crlf_elsewhere(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let inside: Vec<std::ops::Range<usize>> =
        draft.blocks.iter().map(|block| block.first.saturating_sub(1)..block.end() + 1).collect();
    for (index, line) in draft.before.iter_mut().enumerate() {
        if !inside.iter().any(|range| range.contains(&index)) && choices.percent(40) {
            line.push('\r');
        }
    }
    Some(Decidable)
}

fn crlf_here(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.ends_with_newline && draft.block().end() == draft.before.len() {
        return None;
    }
    for index in 0..draft.rows().len() {
        let text = format!("{}\r", draft.rows()[index].old);
        draft.alter_file(index, &text);
    }
    Some(Decidable)
}

fn bom(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.bom = true;
    Some(Decidable)
}

fn no_final_newline(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.blocks.last()?.end() == draft.before.len() {
        return None;
    }
    draft.ends_with_newline = false;
    Some(Decidable)
}
