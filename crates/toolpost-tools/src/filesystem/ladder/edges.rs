//! Exact text that is not whole lines: whether it begins and ends where a reader would cut it.
//!
//! Text that begins within the indentation of a line, or right behind it, and goes on to the end of a line is meant as
//! lines, and its replacement is indented as lines are. Text that cuts a word in two may be a part of another word.

use super::fold::{Level, is_word};
use super::lines::{Lines, is_blank};
use super::places::Place;
use super::{Effort, Found, Step, Stop, is_comparable, merge, places, rivals};
use std::ops::Range;

const WITHIN_WORD: &str =
    "oldString is a part of a longer word there; give the whole line if that is the one that is meant";
const WITHIN_INDENTATION: &str = "oldString begins within the indentation of a line, and newString begins with blanks that \
                                  are neither those of oldString nor those of the line";

/// The place of an exact match, as it is or as lines.
pub(super) fn settled(
    effort: &Effort,
    text: &str,
    old: &str,
    new: &str,
    found: Vec<Found>,
) -> Result<Vec<Found>, Stop> {
    let [one] = found.as_slice() else { return Ok(found) };
    let range = one.range.clone();
    let line_start = memchr::memrchr(b'\n', &text.as_bytes()[..range.start]).map_or(0, |at| at + 1);
    let before = &text[line_start..range.start];
    let is_line_end =
        old.ends_with('\n') || text[range.end..].is_empty() || text[range.end..].starts_with(['\n', '\r']);
    let number = || memchr::memchr_iter(b'\n', &text.as_bytes()[..range.start]).count() + 1;
    let doubt = |why| Err(Stop::Doubt { line: number(), why });
    if before.is_empty() {
        return match !is_line_end && old.contains('\n') && splits(old, &text[range.end..]) {
            true => doubt(WITHIN_WORD),
            false => Ok(found),
        };
    }
    // A text that begins with an empty line is meant as lines; its newline may be the end of the line above by chance.
    if old.starts_with(['\n', '\r']) && is_comparable(text, old, new) {
        let lines = Lines::of(text);
        let places = places::places(effort, &lines, &Lines::of(old), Level::LookAlikes)?;
        if let Some(place) = places.first() {
            return Err(Stop::Elsewhere { line: number(), changed: place.first + 1 });
        }
    }
    if !before.chars().all(is_blank) {
        // Of a text that goes on to the end of the line, its beginning tells whether it is the line that is meant.
        let is_cut =
            splits(before, old) && (is_line_end || old.contains('\n')) && old.contains(|one| !is_word(one));
        return if is_cut { doubt(WITHIN_WORD) } else { Ok(found) };
    }
    if is_line_end && is_comparable(text, old, new) {
        let lines = Lines::of(text);
        let place = place(&lines, line_start..range.end);
        if let Some(changed) = rivals::closer(effort, &lines, &Lines::of(old), &place)? {
            return Err(Stop::Elsewhere { line: place.first + 1, changed });
        }
    }
    let is_plain =
        |text: &str| !text.starts_with(is_blank) && !text.trim_end_matches(['\n', '\r']).contains('\n');
    let is_one_line = is_plain(old) && is_plain(new) && (old.ends_with('\n') == new.ends_with('\n'));
    if is_one_line {
        return Ok(found);
    }
    if !is_line_end {
        let blanks = |text: &str| text.len() - text.trim_start_matches(is_blank).len();
        return match blanks(new) == blanks(old) || new.is_empty() {
            true => Ok(found),
            false => doubt(WITHIN_INDENTATION),
        };
    }
    if !is_comparable(text, old, new) {
        return doubt(WITHIN_INDENTATION);
    }
    as_lines(effort, text, old, new, line_start..range.end, one)
}

/// The same place from the start of its first line.
fn as_lines(
    effort: &Effort,
    text: &str,
    old: &str,
    new: &str,
    range: Range<usize>,
    exact: &Found,
) -> Result<Vec<Found>, Stop> {
    let lines = Lines::of(text);
    let place = place(&lines, range.clone());
    let replacement =
        merge::replacement(effort, &lines, &place, &Lines::of(old), &Lines::of(new), Level::Indentation)?
            .map_err(|why| Stop::Doubt { line: place.first + 1, why })?;
    let before = &text[range.start..exact.range.start];
    let is_exact = replacement.strip_prefix(before) == Some(&*exact.replacement);
    let step = if is_exact { exact.step } else { Step::Indentation };
    Ok(vec![Found { range, replacement: replacement.into(), step }])
}

fn place(lines: &Lines<'_>, range: Range<usize>) -> Place {
    Place { first: lines.at(range.start), start: range.start, end: range.end, has_last_ending: true }
}

/// Whether a word goes on from one text to the next.
fn splits(before: &str, after: &str) -> bool {
    before.chars().next_back().is_some_and(is_word) && after.chars().next().is_some_and(is_word)
}
