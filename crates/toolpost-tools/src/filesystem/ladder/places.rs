//! Where the lines of the old text are, compared at a level.
//!
//! Whole lines only: a part of a line is there to the letter, or it is not there. What is overlooked within a part could
//! make it one of a longer word, of another operator, or of something that was cut off.

use super::fold::{Level, fold};
use super::lines::{Line, Lines};
use super::{Effort, MOST_LISTED};
use crate::filesystem::sequence::Search;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use toolpost_core::ToolError;

/// Consecutive lines that fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Index of the first line.
    pub(super) first: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether the new text may end with a newline: not where the file ends without one.
    pub(super) has_last_ending: bool,
}

/// Less than this many letters and digits could be anywhere.
const MIN_SUBSTANCE: usize = 3;

/// Every place where the lines of `old` are, overlapping ones included, up to [`MOST_LISTED`].
pub(super) fn places(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &Lines<'_>,
    level: Level,
) -> Result<Vec<Place>, ToolError> {
    let substance = old.text.chars().filter(|character| character.is_alphanumeric());
    if substance.take(MIN_SUBSTANCE).count() < MIN_SUBSTANCE || lines.all.len() < old.all.len() {
        return Ok(Vec::new());
    }
    let wanted: Vec<Cow<'_, str>> = old.all.iter().map(|line| fold(line.text, level)).collect();
    // Far longer than all that is wanted, a line is none of it.
    let longest = longest(old);
    let fits = |line: &Line<'_>, index: usize| fold(line.text, level) == wanted[index];
    let keys: Vec<u64> = wanted.iter().map(|line| key(line)).collect();
    // Each line is looked at once, however often it is repeated.
    let mut search = Search::new(&keys);
    let mut found = Vec::new();
    for (index, line) in lines.all.iter().enumerate() {
        effort.spend(line.text.len() + 8)?;
        let own = (line.text.len() <= longest).then(|| key(&fold(line.text, level)));
        if !search.ends_with(own) {
            continue;
        }
        let first = index + 1 - keys.len();
        effort.spend(old.text.len())?;
        // Keys may be the same by chance.
        let is_there = (0..keys.len()).all(|at| fits(&lines.all[first + at], at));
        found.extend(is_there.then(|| place(lines, first, old)).flatten());
        if found.len() >= MOST_LISTED {
            break;
        }
    }
    Ok(found)
}

/// Maximum number of bytes of a place: far more than was asked for is not what was meant.
fn longest(old: &Lines<'_>) -> usize {
    old.text.len() * 3 + 200
}

fn key(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

fn place(lines: &Lines<'_>, first: usize, old: &Lines<'_>) -> Option<Place> {
    let (first_line, last_line) = (&lines.all[first], &lines.all[first + old.all.len() - 1]);
    let (start, end) =
        (first_line.start, if old.ends_line() { last_line.end() } else { last_line.text_end() });
    if end - start > longest(old) {
        return None;
    }
    let has_last_ending = !old.ends_line() || !last_line.ending.is_empty();
    Some(Place { first, start, end, has_last_ending })
}
