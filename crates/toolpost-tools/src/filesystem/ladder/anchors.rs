//! A block whose first and last lines are there, and whose lines between differ by a slip of the pen.
//!
//! The block has as many lines as the old text: a line that nobody has seen is never replaced, one that is missing never
//! assumed.

use super::fold::Level;
use super::lines::{Lines, is_blank};
use super::places::Place;
use super::rivals::loosest;
use super::{Found, Step, Stop, merge};
use similar::{Algorithm, DiffOp, capture_diff_slices};

const KEPT: &str = "newString repeats a line of oldString that the file does not have";

/// Characters that may be missing or too many in a line.
const MOST_CHARACTERS: usize = 2;

pub(super) fn block(lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    let old = Lines::of(old);
    let count = old.all.len();
    if count < 4 || lines.all.len() < count {
        return Ok(Vec::new());
    }
    let trimmed = |line: &str| line.trim_matches(is_blank).to_owned();
    let wanted: Vec<String> = old.all.iter().map(|line| trimmed(line.text)).collect();
    let is_anchor = |line: &str| line.chars().any(|character| !character.is_whitespace());
    if !is_anchor(&wanted[0]) || !is_anchor(&wanted[count - 1]) {
        return Ok(Vec::new());
    }
    let there: Vec<&str> = lines.all.iter().map(|line| line.text.trim_matches(is_blank)).collect();
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    for first in 0..=there.len() - count {
        if there[first] == wanted[0]
            && there[first + count - 1] == wanted[count - 1]
            && let Some(drifted) = drifted(&wanted, &there[first..first + count])
        {
            found.push((first, drifted));
        }
    }
    let alike = rivals(lines, &old);
    match found.as_slice() {
        [] => Ok(Vec::new()),
        [_] if alike.len() > 1 => Err(Stop::Ambiguous(alike)),
        [(first, drifted)] => {
            let new = Lines::of(new);
            let doubt = |why| Stop::Doubt { line: first + 1, why };
            // Kept, the slip would get into the file.
            let is_kept =
                |index: &usize| new.all.iter().any(|line| line.text.trim_matches(is_blank) == wanted[*index]);
            if drifted.iter().any(is_kept) {
                return Err(doubt(KEPT));
            }
            let (start, last) = (lines.all[*first].start, &lines.all[first + count - 1]);
            let place = Place {
                first: *first,
                start,
                end: if old.ends_line() { last.end() } else { last.text_end() },
                starts_line: true,
                has_last_ending: !old.ends_line() || !last.ending.is_empty(),
            };
            let replacement =
                merge::replacement(lines, &place, &old, &new, Level::Indentation).map_err(doubt)?;
            Ok(vec![Found { range: place.start..place.end, replacement, step: Step::AnchoredBlock }])
        }
        many => Err(Stop::Ambiguous(many.iter().map(|(first, _)| first + 1).collect())),
    }
}

/// The lines on which a block begins that is like the old text, whatever blanks, quotes and dashes it has.
fn rivals(lines: &Lines<'_>, old: &Lines<'_>) -> Vec<usize> {
    let wanted: Vec<String> = old.all.iter().map(|line| loosest(line.text)).collect();
    let there: Vec<String> = lines.all.iter().map(|line| loosest(line.text)).collect();
    let is_like = |there: &[String]| {
        let there: Vec<&str> = there.iter().map(String::as_str).collect();
        there[0] == wanted[0] && (there == wanted || drifted(&wanted, &there).is_some())
    };
    let all = there.windows(wanted.len()).enumerate();
    all.filter(|(_, there)| is_like(there)).map(|(first, _)| first + 1).collect()
}

/// The lines that differ, if they are few and differ little.
fn drifted(wanted: &[String], there: &[&str]) -> Option<Vec<usize>> {
    let differ: Vec<usize> = (0..wanted.len()).filter(|index| wanted[*index] != there[*index]).collect();
    let same = wanted[1..wanted.len() - 1].len() - differ.len();
    let is_few = !differ.is_empty() && differ.len() <= (wanted.len() / 5).max(1) && same > 0;
    (is_few && differ.iter().all(|index| is_slip(&wanted[*index], there[*index]))).then_some(differ)
}

/// Whether a few letters or a separator are missing in one of the two. Other digits or operators are another meaning.
fn is_slip(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() < other.len() { (&one, &other) } else { (&other, &one) };
    let more = long.len() - short.len();
    if more == 0 || more > MOST_CHARACTERS || short.len() < 10 * more - 1 {
        return false;
    }
    let is_harmless = |character: &char| character.is_alphabetic() || matches!(character, ',' | ';');
    capture_diff_slices(Algorithm::Myers, short, long).iter().all(|op| match *op {
        DiffOp::Equal { .. } => true,
        DiffOp::Insert { new_index, new_len, .. } => {
            long[new_index..new_index + new_len].iter().all(is_harmless)
        }
        DiffOp::Delete { .. } | DiffOp::Replace { .. } => false,
    })
}
