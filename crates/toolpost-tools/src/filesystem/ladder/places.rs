//! Where the lines of the old text are, compared at a level.

use super::fold::{self, Level, fold, is_word};
use super::lines::{Lines, is_blank};
use std::borrow::Cow;

/// Consecutive lines that fit, the first and the last perhaps in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Index of the first line.
    pub(super) first: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it begins at the very start of its first line.
    pub(super) starts_line: bool,
    /// Whether the new text may end with a newline: not where the file ends without one.
    pub(super) has_last_ending: bool,
}

/// Less than this many letters and digits could be anywhere.
const MIN_SUBSTANCE: usize = 3;

/// Every place where `old` is, overlapping ones included.
pub(super) fn places(lines: &Lines<'_>, old: &Lines<'_>, level: Level) -> Vec<Place> {
    if old.text.chars().filter(|character| character.is_alphanumeric()).take(MIN_SUBSTANCE).count()
        < MIN_SUBSTANCE
    {
        return Vec::new();
    }
    let wanted: Vec<Cow<'_, str>> = old.all.iter().map(|line| fold(line.text, level)).collect();
    let count = wanted.len();
    let mut found = Vec::new();
    if lines.all.len() < count {
        return found;
    }
    for first in 0..=lines.all.len() - count {
        let fits = |index: usize| {
            let line = fold(lines.all[first + index].text, level);
            match index {
                _ if count == 1 => line.contains(&*wanted[0]),
                0 => line.ends_with(&*wanted[0]),
                _ if index == count - 1 => line.starts_with(&*wanted[index]),
                _ => line == wanted[index],
            }
        };
        if (0..count).all(fits) {
            parts(lines, first, old, &wanted, level, &mut found);
        }
    }
    found
}

/// The exact extent of what fits from line `first` on; within one line there may be several.
fn parts(
    lines: &Lines<'_>,
    first: usize,
    old: &Lines<'_>,
    wanted: &[Cow<'_, str>],
    level: Level,
    found: &mut Vec<Place>,
) {
    let last = first + wanted.len() - 1;
    let (head, tail) =
        (fold::mapped(lines.all[first].text, level), fold::mapped(lines.all[last].text, level));
    let length = |index: usize| wanted[index].chars().count();
    if wanted.len() == 1 {
        let want: Vec<char> = wanted[0].chars().collect();
        for from in 0..=head.len().saturating_sub(want.len()) {
            if head[from..].iter().map(|entry| entry.0).take(want.len()).eq(want.iter().copied()) {
                found.extend(part(lines, (first, &head, from), (last, &head, from + want.len()), old, level));
            }
        }
    } else {
        let from = head.len() - length(0);
        found.extend(part(lines, (first, &head, from), (last, &tail, length(wanted.len() - 1)), old, level));
    }
}

type Mapped = [(char, usize, usize)];

fn part(
    lines: &Lines<'_>,
    (first, head, from): (usize, &Mapped, usize),
    (last, tail, to): (usize, &Mapped, usize),
    old: &Lines<'_>,
    level: Level,
) -> Option<Place> {
    let (first_line, last_line) = (&lines.all[first], &lines.all[last]);
    let (old_first, old_last) = (old.all.first()?.text, old.all.last()?.text);
    let is_at_end = to == tail.len();
    // Blanks that were overlooked are only so at the edge of a line; elsewhere they separate things.
    if !is_at_end && (old.ends_line() || old_last.ends_with(is_blank)) {
        return None;
    }
    // And a blank line is one, not the end of any other.
    if from > 0 && (old_first.is_empty() || old_first.starts_with(is_blank)) {
        return None;
    }
    // The end of one line and the start of another are only told by what they say: a bracket ends many lines.
    let is_telling =
        |line: &str| line.chars().filter(|character| character.is_alphanumeric()).count() >= MIN_SUBSTANCE;
    let is_one = old.all.len() == 1;
    if (!is_one && from > 0 && !is_telling(old_first)) || (!is_one && !is_at_end && !is_telling(old_last)) {
        return None;
    }
    // A part of a word is another word.
    let splits = |one: Option<&(char, usize, usize)>, other: Option<&(char, usize, usize)>| matches!((one, other), (Some(one), Some(other)) if is_word(one.0) && is_word(other.0));
    if (from > 0 && splits(head.get(from - 1), head.get(from)))
        || (to > 0 && splits(tail.get(to - 1), tail.get(to)))
    {
        return None;
    }
    // One line without its indentation is a part of a line, as it would be if it were there exactly.
    let is_part = old.all.len() == 1 && !old_first.starts_with(is_blank);
    let is_indent_overlooked = level >= Level::Indentation && !is_part;
    let starts_line = from == 0 && (is_indent_overlooked || head.first().is_none_or(|entry| entry.1 == 0));
    let start = match head.get(from) {
        _ if starts_line => first_line.start,
        Some(entry) => first_line.start + entry.1,
        None => first_line.text_end(),
    };
    let text_end = match to.checked_sub(1).and_then(|at| tail.get(at)) {
        // What trails belongs to the place only where the line does.
        _ if is_at_end => last_line.text_end(),
        Some(entry) => last_line.start + entry.2,
        None => last_line.start,
    };
    let end = if old.ends_line() { last_line.end() } else { text_end };
    // Far more than was asked for is not what was meant.
    if end - start > old.text.len() * 3 + 200 {
        return None;
    }
    let has_last_ending = !old.ends_line() || !last_line.ending.is_empty();
    Some(Place { first, start, end, starts_line, has_last_ending })
}
