//! Exact text that is not whole lines: whether it begins and ends where a reader would cut it.
//!
//! Text that begins within the indentation of a line, or right behind it, and goes on to the end of a line is meant as
//! lines, and its replacement is indented as lines are. Text that cuts a word in two may be a part of another word.

use super::fold::{Level, is_word};
use super::further::{Further, Reading};
use super::lines::{Lines, is_blank, is_filled, split_indent};
use super::places::Place;
use super::{Effort, Found, Step, Stop, escapes, is_comparable, merge, places, rivals, suspicion};
use std::ops::Range;

const WITHIN_WORD: &str =
    "oldString is a part of a longer word there; give the whole line if that is the one that is meant";
const ESCAPED: &str = "newString is one line with `\\n` in it, outside of any string, where the ends of lines seem to be meant; \
                       give it as several lines";
const FURTHER: &str = "oldString begins within a line, and the further lines of newString are not as deep as the file would \
                       have them there; give both from the beginning of that line on, each line as deep as it is to be";
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
    if escapes::has_escaped_lines(text, old, new) {
        return doubt(ESCAPED);
    }
    if before.is_empty() {
        return match !is_line_end && is_cut_off(old, new, &text[range.end..]) {
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
    if is_cut_off(old, new, &text[range.end..]) {
        return doubt(WITHIN_WORD);
    }
    if !before.chars().all(is_blank) {
        let is_cut = splits(before, old) && old.contains(|one| !is_word(one));
        return match () {
            () if is_cut => doubt(WITHIN_WORD),
            () if !is_further_clear(text, &range, split_indent(before).0, old, new) => doubt(FURTHER),
            () => Ok(found),
        };
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
        return match () {
            () if new.is_empty() => Ok(found),
            () if blanks(new) != blanks(old) => doubt(WITHIN_INDENTATION),
            () if !is_further_clear(text, &range, before, old, new) => doubt(FURTHER),
            () => Ok(found),
        };
    }
    if !is_comparable(text, old, new) {
        return doubt(WITHIN_INDENTATION);
    }
    as_lines(effort, text, old, new, line_start..range.end, one)
}

/// Whether the lines of a new text below its first one, which begins behind the indentation of a line, are as deep as the
/// file would have them. A text that begins with the end of a line shows the indentation of its lines.
fn is_further_clear(text: &str, range: &Range<usize>, indent: &str, old: &str, new: &str) -> bool {
    if old.starts_with(['\n', '\r']) || !new.contains('\n') {
        return true;
    }
    let (olds, news) = (Lines::of(old), Lines::of(new));
    let olds: Vec<&str> = olds.all.iter().map(|line| line.text).collect();
    let news: Vec<&str> = news.all.iter().map(|line| line.text).collect();
    let below = text[range.end..].lines().skip(1).find(|line| is_filled(line));
    let further = Further { indent, olds: &olds, news: &news, below };
    further.reading(|| suspicion::usual_step(&Lines::of(text))) == Reading::AsFile
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

/// Whether a word or a number goes on behind the old text, and the new one has another instead: it was not meant as a part.
fn is_cut_off(old: &str, new: &str, after: &str) -> bool {
    let word = &old[old.trim_end_matches(is_word).len()..];
    let is_kept = !old.contains('\n')
        && !word.ends_with(|one: char| one.is_ascii_digit())
        && !word.is_empty()
        && new.ends_with(word);
    splits(old, after) && !is_kept
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
