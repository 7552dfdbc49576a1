//! Where the lines of the old text are, compared at a level.
//!
//! Whole lines only: a part of a line is there to the letter, or it is not there. What is overlooked within a part could
//! make it one of a longer word, of another operator, or of something that was cut off.

use super::fold::{Level, fold};
use super::lines::{Lines, is_blank, split_indent};
use std::borrow::Cow;

/// Consecutive lines that fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Index of the first line.
    pub(super) first: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it begins at the very start of its first line, rather than behind its indentation.
    pub(super) starts_line: bool,
    /// Whether the new text may end with a newline: not where the file ends without one.
    pub(super) has_last_ending: bool,
}

/// Less than this many letters and digits could be anywhere.
const MIN_SUBSTANCE: usize = 3;

/// Every place where the lines of `old` are, overlapping ones included.
pub(super) fn places(lines: &Lines<'_>, old: &Lines<'_>, level: Level) -> Vec<Place> {
    let substance = old.text.chars().filter(|character| character.is_alphanumeric());
    if substance.take(MIN_SUBSTANCE).count() < MIN_SUBSTANCE {
        return Vec::new();
    }
    let wanted: Vec<Cow<'_, str>> = old.all.iter().map(|line| fold(line.text, level)).collect();
    let Some(last) = lines.all.len().checked_sub(wanted.len()) else { return Vec::new() };
    let fits = |first: &usize| {
        lines.all[*first..].iter().zip(&wanted).all(|(line, wanted)| fold(line.text, level) == *wanted)
    };
    (0..=last).filter(fits).filter_map(|first| place(lines, first, old, level)).collect()
}

fn place(lines: &Lines<'_>, first: usize, old: &Lines<'_>, level: Level) -> Option<Place> {
    let (first_line, last_line) = (&lines.all[first], &lines.all[first + old.all.len() - 1]);
    let indent = split_indent(first_line.text).0;
    // One line without its indentation is a part of a line, as it would be if it were there exactly.
    let is_part = old.all.len() == 1 && !old.text.starts_with(is_blank);
    let starts_line = level < Level::Indentation || !is_part || indent.is_empty();
    let start = first_line.start + if starts_line { 0 } else { indent.len() };
    let end = if old.ends_line() { last_line.end() } else { last_line.text_end() };
    // Far more than was asked for is not what was meant.
    if end - start > old.text.len() * 3 + 200 {
        return None;
    }
    let has_last_ending = !old.ends_line() || !last_line.ending.is_empty();
    Some(Place { first, start, end, starts_line, has_last_ending })
}
