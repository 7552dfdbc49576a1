//! Exact text that is there once: it is replaced, whatever it cuts in two.
//!
//! Text that begins within the indentation of a line, or right behind it, and goes on to the end of a line is meant as
//! lines: where it is plain how deep its new lines are to be, they are indented as lines are, else written as given.

use super::fold::{Level, is_word};
use super::lines::{Lines, is_blank};
use super::places::Place;
use super::{Effort, Found, Step, Stop, escapes, is_comparable, merge};
use std::ops::Range;

const ESCAPED: &str = "newString is one line with `\\n` in it, outside of any string, where the ends of lines seem to be meant; \
                       give it as several lines";

/// The place of an exact match, unless it is plain that another one is meant, or another text.
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
    if escapes::has_escaped_lines(text, old, new) {
        let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..range.start]).count() + 1;
        return Err(Stop::Doubt { line, why: ESCAPED });
    }
    let is_line_end =
        old.ends_with('\n') || text[range.end..].is_empty() || text[range.end..].starts_with(['\n', '\r']);
    let is_indented = !before.is_empty() && before.chars().all(is_blank);
    if !is_indented || !is_line_end || !is_comparable(text, old, new) {
        return Ok(found);
    }
    let lines = Lines::of(text);
    let place = place(&lines, line_start..range.end);
    let is_plain =
        |text: &str| !text.starts_with(is_blank) && !text.trim_end_matches(['\n', '\r']).contains('\n');
    let is_one_line = is_plain(old) && is_plain(new) && (old.ends_with('\n') == new.ends_with('\n'));
    if is_one_line {
        return Ok(found);
    }
    let read =
        merge::replacement(effort, &lines, &place, &Lines::of(old), &Lines::of(new), Level::Indentation)?;
    Ok(match read {
        Ok(read) if !is_same(before, &read, one) => {
            vec![Found { range: line_start..range.end, replacement: read.into(), step: Step::Indentation }]
        }
        _ => found,
    })
}

/// Whether the new lines, read as lines, are the new text as it was given, but perhaps for the newline at its end.
fn is_same(before: &str, read: &str, exact: &Found) -> bool {
    let read = read.strip_prefix(before);
    let bare =
        |text: &'_ str| text.strip_suffix('\n').map_or(text.len(), |bare| bare.trim_end_matches('\r').len());
    read.is_some_and(|read| read[..bare(read)] == exact.replacement[..bare(&exact.replacement)])
}

fn place(lines: &Lines<'_>, range: Range<usize>) -> Place {
    Place { first: lines.at(range.start), start: range.start, end: range.end, has_last_ending: true }
}

/// Whether a place begins within a word or a number, and whether it ends in one.
pub(super) fn cuts(text: &str, range: &Range<usize>) -> (bool, bool) {
    let splits_at = |at: usize| splits(&text[..at], &text[at..]);
    (splits_at(range.start), splits_at(range.end))
}

/// Whether a word or a number goes on from one text to the next. Scripts without blanks between words do not tell.
fn splits(before: &str, after: &str) -> bool {
    let is_cased = |one: char| one.is_ascii() || one.is_lowercase() || one.is_uppercase();
    let is_part = |one: Option<char>| one.is_some_and(|one| is_word(one) && is_cased(one));
    // A number goes on behind its point.
    let is_digit = |one: Option<char>| one.is_some_and(|one| one.is_ascii_digit());
    let ends_number = |text: &str| is_digit(text.chars().next_back());
    let begins_number = |text: &str| is_digit(text.chars().next());
    let is_fraction = ends_number(before) && after.strip_prefix('.').is_some_and(begins_number)
        || begins_number(after) && before.strip_suffix('.').is_some_and(ends_number);
    is_fraction || is_part(before.chars().next_back()) && is_part(after.chars().next())
}
