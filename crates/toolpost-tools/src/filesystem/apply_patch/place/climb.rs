//! A hunk that is nowhere in the file as it is, by way of the edit ladder.

use super::super::lines::Lines;
use super::super::patch::{Hunk, HunkLine, Role};
use super::scope::Scope;
use super::{Before, Miss, Piece, Placed};
use crate::filesystem::effort::Effort;
use crate::filesystem::ladder::{self, Failure, Step, Wanted};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;
use std::sync::Arc;

/// Up the ladder, in the part of the file where the hunk may be.
pub(super) fn climb(
    effort: &Effort,
    file: &Lines<'_>,
    hunk: &Hunk,
    before: &Before<'_>,
    scopes: &[Scope],
) -> Result<Placed, Miss> {
    let cursor = before.end();
    // What belongs to a header may end later than it looks; one that stands several times says only where to begin.
    // Hunks that name their lines may come in any order.
    let is_above = before.expected(hunk).is_some_and(|named| named < cursor);
    let from = if is_above { 0 } else { cursor };
    let start = scopes.iter().map(|scope| scope.header).min().unwrap_or(0).max(from);
    if start >= file.len() {
        return Err(nowhere(cursor));
    }
    // Numbers before the lines are those of the whole file.
    let is_number =
        |line: &HunkLine| line.text.trim_start().starts_with(|first: char| first.is_ascii_digit());
    let start = if hunk.old().all(is_number) { 0 } else { start };
    let placed = climb_in(effort, file, hunk, start..file.len())?;
    // Blank lines are everywhere, so a header with a number has to name the place that fits but for them.
    let expected = before.expected(hunk);
    let is_named = placed.step != Step::BlankLines || expected.is_none_or(|line| line == placed.lines.start);
    match is_named && before.is_free(&placed.lines) {
        true => Ok(placed),
        false => Err(nowhere(cursor)),
    }
}

fn climb_in(effort: &Effort, file: &Lines<'_>, hunk: &Hunk, region: Range<usize>) -> Result<Placed, Miss> {
    effort.spend(file.text.len())?;
    let bare = |line: &HunkLine| line.text.strip_suffix('\r').unwrap_or(&line.text).to_owned() + "\n";
    let old: String = hunk.old().map(bare).collect();
    let new: String = hunk.new_lines().map(bare).collect();
    let base = file.start(region.start);
    let mut text = file.text[base..file.start(region.end)].to_owned();
    if !text.ends_with('\n') {
        text.push_str(file.ending);
    }
    // A newline before the first line, on both sides, keeps the ladder from matching within a line. Where it compares by
    // lines that would be an empty line above.
    let is_by_letter = |step: Step| step <= Step::LineEndings;
    let framed = ladder::find(
        effort,
        &format!("{}{text}", file.ending),
        &format!("\n{old}"),
        &format!("\n{new}"),
        Wanted::One,
    );
    if let Err(Failure::Stopped(error)) = framed {
        return Err(Miss::Stopped(error));
    }
    let frame = file.ending.len();
    if let Err(Failure::Ambiguous { step, lines }) = &framed
        && is_by_letter(*step)
    {
        let (step, lines) = (*step, lines.clone());
        return Err(Miss::Ambiguous(step, lines.iter().map(|line| line + region.start).collect()));
    }
    let framed = framed.ok().and_then(|found| found.into_iter().next()).and_then(|found| {
        if !is_by_letter(found.step) || hunk.new_lines().next().is_none() {
            return None;
        }
        // The newline that was matched ends the line above the place.
        let matched = format!("{}{text}", file.ending);
        let matched = matched.get(found.range.clone())?;
        let above = newline(matched)?;
        let start = (found.range.start + above).checked_sub(frame)?;
        let end = found.range.end.checked_sub(frame)?;
        let replacement = &found.replacement[newline(&found.replacement)?..];
        aligned(file, hunk, base + start..base + end, replacement, found.step)
    });
    if let Some(placed) = framed {
        return Ok(placed);
    }
    match ladder::find(effort, &text, &old, &new, Wanted::One) {
        Ok(found) => {
            let placed = found.into_iter().next().and_then(|found| {
                let (range, replacement) = from_margin(file, hunk, base, &found);
                let found = ladder::Found { range: range.clone(), replacement, step: found.step };
                aligned(file, hunk, range.clone(), &found.replacement, found.step)
                    .or_else(|| indented(file, hunk, range.start))
                    .or_else(|| respaced(file, hunk, &range, &found.replacement, found.step))
            });
            placed.ok_or_else(|| nowhere(region.start))
        }
        Err(Failure::Ambiguous { step, lines }) => {
            Err(Miss::Ambiguous(step, lines.iter().map(|line| line + region.start).collect()))
        }
        Err(Failure::Stopped(error)) => Err(Miss::Stopped(error)),
        Err(failure) => Err(Miss::Nowhere(failure, region.start)),
    }
}

/// What was found, with the indentation of its first line where it begins behind that. To the letter, only the first line may
/// have lost it: then another one shows that the depth of new lines is that of the file.
fn from_margin(
    file: &Lines<'_>,
    hunk: &Hunk,
    base: usize,
    found: &ladder::Found,
) -> (Range<usize>, Arc<str>) {
    let range = base + found.range.start..base + found.range.end;
    let line = file.all.partition_point(|line| line.start <= range.start).checked_sub(1);
    let start = line.map_or(range.start, |line| file.all[line].start);
    let is_indented = |line: &&HunkLine| line.text.starts_with([' ', '\t']) && !line.text.trim().is_empty();
    let mut old = hunk.old();
    let is_first_alone =
        old.next().is_some_and(|line| !is_indented(&line)) && old.any(|line| is_indented(&line));
    let is_kept = hunk.lines.first().is_some_and(|line| line.role == Role::Context);
    // How deep a new line without indentation is meant is not told.
    let mut added = hunk.lines.iter().filter(|line| line.role == Role::Added && !line.text.trim().is_empty());
    let is_told = is_first_alone && added.all(|line| is_indented(&line));
    match file.text.get(start..range.start) {
        Some(indent) if !indent.is_empty() && indent.trim().is_empty() && is_told => match is_kept {
            true => (start..range.end, format!("{indent}{}", found.replacement).into()),
            false => (start..range.end, found.replacement.clone()),
        },
        _ => (range, found.replacement.clone()),
    }
}

/// One line that lost its indentation, for one that lost it too, found within the line that has it.
fn indented(file: &Lines<'_>, hunk: &Hunk, start: usize) -> Option<Placed> {
    let at = file.all.partition_point(|line| line.start <= start).checked_sub(1)?;
    let line = &file.all[at];
    let indent = file.text.get(line.start..start).filter(|text| text.trim().is_empty())?;
    let [old, new] = hunk.lines.as_slice() else { return None };
    let is_one_for_one = old.role == Role::Removed && new.role == Role::Added;
    let new = new.text.trim_end_matches('\r');
    if !is_one_for_one || old.text.trim_end() != &line.text[indent.len()..] || new.starts_with([' ', '\t']) {
        return None;
    }
    Some(Placed {
        lines: at..at + 1,
        pieces: vec![Piece::Put(format!("{indent}{new}"), None)],
        step: Step::Indentation,
        old_unended: hunk.old_unended,
        new_unended: hunk.new_unended,
    })
}

/// A hunk that shows other blank lines than the file has, or breaks its lines otherwise: what is the same before and after
/// stays.
fn respaced(
    file: &Lines<'_>,
    hunk: &Hunk,
    range: &Range<usize>,
    replacement: &str,
    step: Step,
) -> Option<Placed> {
    let (first, last) = (file.at(range.start)?, file.at(range.end.min(file.text.len()))?);
    if !matches!(step, Step::BlankLines | Step::Blanks) || hunk.at_end || last < first {
        return None;
    }
    let there: Vec<&str> = file.all[first..last].iter().map(|line| line.text).collect();
    let new: Vec<&str> = replacement.lines().collect();
    let blank = |lines: &[&str]| lines.iter().filter(|line| line.trim().is_empty()).count();
    // A blank line that goes or comes is one of the hunk.
    let of = |role: Role| {
        hunk.lines.iter().filter(|line| line.role == role && line.text.trim().is_empty()).count()
    };
    if blank(&there) + of(Role::Added) != blank(&new) + of(Role::Removed) {
        return None;
    }
    let mut pieces = Vec::with_capacity(new.len());
    for op in capture_diff_slices(Algorithm::Myers, &there, &new) {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                pieces.extend((0..len).map(|at| Piece::Keep(first + old_index + at)));
            }
            op => pieces.extend(op.new_range().map(|at| Piece::Put(new[at].to_owned(), None))),
        }
    }
    Some(Placed {
        lines: first..last,
        pieces,
        step,
        old_unended: hunk.old_unended,
        new_unended: hunk.new_unended,
    })
}

fn nowhere(from: usize) -> Miss {
    let tried = Step::ALL.to_vec();
    Miss::Nowhere(
        Failure::NoMatch {
            tried,
            nearest: Vec::new(),
            already_applied: false,
            applied_at: None,
            doubt: None,
        },
        from,
    )
}

/// How long the newline is that a text begins with.
fn newline(text: &str) -> Option<usize> {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => Some(2),
        [b'\r' | b'\n', ..] => Some(1),
        _ => None,
    }
}

/// What the ladder found, line by line; `None` where it is not whole lines, or not as many as the hunk has.
///
/// What stays is kept as the file has it; only new lines come from the patch, in the form the ladder gave them.
fn aligned(
    file: &Lines<'_>,
    hunk: &Hunk,
    range: Range<usize>,
    replacement: &str,
    step: Step,
) -> Option<Placed> {
    let first = file.at(range.start)?;
    // The last ending may be left out of the range, and the last line of the file may have none.
    let last = match file.at(range.end.min(file.text.len())) {
        Some(last) => last,
        None => {
            let at = file.all.partition_point(|line| line.start < range.end).checked_sub(1)?;
            let line = &file.all[at];
            (range.end >= line.start + line.text.len()).then_some(at + 1)?
        }
    };
    if last.checked_sub(first)? != hunk.old().count() || (hunk.at_end && last != file.len()) {
        return None;
    }
    let new: Vec<&str> = replacement.lines().collect();
    let count = hunk.new_lines().count();
    if new.len() != count {
        return None;
    }
    let (mut kept, mut at) = (first, 0);
    let mut pieces = Vec::with_capacity(count);
    for line in &hunk.lines {
        match line.role {
            Role::Context => pieces.push(Piece::Keep(kept)),
            // What the file has otherwise than the patch says may stay as it is, but not go unseen.
            Role::Removed
                if step == Step::AnchoredBlock
                    && line.text.trim() != file.all.get(kept).map_or("", |line| line.text.trim()) =>
            {
                return None;
            }
            Role::Removed => {}
            Role::Added => pieces.push(Piece::Put(new[at].trim_end_matches('\r').to_owned(), None)),
        }
        kept += usize::from(line.is_old());
        at += usize::from(line.is_new());
    }
    Some(Placed {
        lines: first..last,
        pieces,
        step,
        old_unended: hunk.old_unended,
        new_unended: hunk.new_unended,
    })
}
