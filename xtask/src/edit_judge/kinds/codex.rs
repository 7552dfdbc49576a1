//! What goes wrong in patches of the form that begins with `*** Begin Patch`.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal};
use super::super::draft::{Draft, places};
use super::super::random::Choices;
use super::Family::Wrapper;
use super::Goal::Understood;
use super::Stage::Patch;
use super::{CODEX, Noise, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    toward(Understood, of("no Begin Patch", no_begin)),
    toward(Understood, of("no Begin Patch and no End Patch", bare)),
    of("no End Patch", no_end),
    of("no @@", no_at),
    of("@@ with the line above", line_above),
    of("@@ with the line above and @@ behind", line_above_closed),
    of("@@ with line numbers", unified_at),
    of("in a heredoc", heredoc),
    of("*** End of File too much", end_of_file),
    of("--- and +++ inside", headers_inside),
    of("**Update File", one_star_less),
    of("Update: for Update File:", short_update),
    of("backticks around the path", ticks),
    of("spaces before the marks of the patch", spaced),
    of("@@ @@ for @@", empty_pair),
];

const fn of(name: &'static str, apply: super::Apply) -> Noise {
    noise(name, Patch, Wrapper, CODEX, apply)
}

fn no_begin(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replacen("*** Begin Patch\n", "", 1);
    Some(Decidable)
}

fn no_end(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replacen("*** End Patch\n", "", 1);
    // The end of the patch may have been cut off.
    Some(TruthOrRefusal)
}

fn bare(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    no_begin(draft, choices);
    no_end(draft, choices)
}

fn no_at(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.blocks.len() > 1 {
        return None;
    }
    draft.patch = draft.patch.replacen("\n@@\n", "\n", 1);
    Some(Decidable)
}

/// A line above the block that is there once.
fn above(draft: &Draft) -> Option<String> {
    let lines = &draft.before[..draft.block().first];
    let fits = |line: &&String| line.len() > 12 && places(&draft.before, std::slice::from_ref(*line)) == 1;
    lines.iter().rev().find(fits).cloned()
}

fn line_above(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let line = (draft.blocks.len() == 1).then(|| above(draft))??;
    draft.patch = draft.patch.replacen("\n@@\n", &format!("\n@@ {}\n", line.trim()), 1);
    Some(Decidable)
}

fn line_above_closed(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let line = (draft.blocks.len() == 1).then(|| above(draft))??;
    draft.patch = draft.patch.replacen("\n@@\n", &format!("\n@@ {} @@\n", line.trim()), 1);
    Some(TruthOrRefusal)
}

fn unified_at(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.blocks.len() > 1 {
        return None;
    }
    let (first, count) = (draft.block().first + 1, draft.block().old_count());
    let new = draft.new_lines().len();
    draft.patch = draft.patch.replacen("\n@@\n", &format!("\n@@ -{first},{count} +{first},{new} @@\n"), 1);
    Some(Decidable)
}

fn empty_pair(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replace("\n@@\n", "\n@@ @@\n");
    Some(Decidable)
}

fn heredoc(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let open = *choices.pick(&["apply_patch <<'EOF'\n", "<<EOF\n", "apply_patch << \"EOF\"\n"])?;
    draft.patch = format!("{open}{}EOF\n", draft.patch);
    Some(Decidable)
}

fn end_of_file(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replacen("*** End Patch", "*** End of File\n*** End Patch", 1);
    let last = draft.blocks.last()?.end() == draft.before.len();
    Some(if last { Decidable } else { TruthOrRefusal })
}

fn headers_inside(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let path = draft.path.clone();
    let headers = format!("*** Update File: {path}\n--- a/{path}\n+++ b/{path}\n");
    draft.patch = draft.patch.replacen(&format!("*** Update File: {path}\n"), &headers, 1);
    Some(Decidable)
}

fn one_star_less(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replacen("*** Update File", "** Update File", 1);
    Some(TruthOrRefusal)
}

fn short_update(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replacen("*** Update File:", "*** Update:", 1);
    Some(TruthOrRefusal)
}

fn ticks(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let path = draft.path.clone();
    draft.patch = draft.patch.replacen(&format!("File: {path}"), &format!("File: `{path}`"), 1);
    Some(TruthOrRefusal)
}

fn spaced(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replace("\n*** ", "\n  *** ");
    Some(TruthOrRefusal)
}
