//! A block whose first and last lines are there, and whose lines between differ in a separator.
//!
//! The block has as many lines as the old text: a line that nobody has seen is never replaced, one that is missing never
//! assumed.

use super::fold::{Level, is_word};
use super::lines::{Lines, is_blank};
use super::places::Place;
use super::rivals::{closer, loosest};
use super::{Effort, Found, MOST_LISTED, Step, Stop, merge};
use toolpost_core::ToolError;

const KEPT: &str = "newString repeats a line of oldString that the file does not have";

pub(super) fn block(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
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
        effort.spend(8)?;
        if there[first] == wanted[0]
            && there[first + count - 1] == wanted[count - 1]
            && let Some(drifted) = drifted(effort, &wanted, &there[first..first + count])?
        {
            found.push((first, drifted));
            if found.len() == MOST_LISTED {
                break;
            }
        }
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let alike = rivals(effort, lines, &old)?;
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
                has_last_ending: !old.ends_line() || !last.ending.is_empty(),
            };
            if let Some(changed) = closer(effort, lines, &old, &place)? {
                return Err(Stop::Elsewhere { line: first + 1, changed });
            }
            let replacement =
                merge::replacement(effort, lines, &place, &old, &new, Level::Indentation)?.map_err(doubt)?;
            let (range, step) = (place.start..place.end, Step::AnchoredBlock);
            Ok(vec![Found { range, replacement: replacement.into(), step }])
        }
        many => Err(Stop::Ambiguous(many.iter().map(|(first, _)| first + 1).collect())),
    }
}

/// The lines on which a block begins that is like the old text, whatever blanks, quotes and dashes it has.
fn rivals(effort: &Effort, lines: &Lines<'_>, old: &Lines<'_>) -> Result<Vec<usize>, ToolError> {
    effort.spend(lines.text.len() * 2)?;
    let wanted: Vec<String> = old.all.iter().map(|line| loosest(line.text)).collect();
    let there: Vec<String> = lines.all.iter().map(|line| loosest(line.text)).collect();
    let mut rivals = Vec::new();
    for (first, there) in there.windows(wanted.len()).enumerate() {
        if there[0] != wanted[0] {
            continue;
        }
        let there: Vec<&str> = there.iter().map(String::as_str).collect();
        effort.spend(there.len())?;
        if there == wanted || drifted(effort, &wanted, &there)?.is_some() {
            rivals.push(first + 1);
            if rivals.len() == MOST_LISTED {
                break;
            }
        }
    }
    Ok(rivals)
}

/// The lines that differ, if they are few and differ little.
fn drifted(effort: &Effort, wanted: &[String], there: &[&str]) -> Result<Option<Vec<usize>>, ToolError> {
    let most = (wanted.len() / 5).max(1);
    let mut differ = Vec::new();
    for index in 0..wanted.len() {
        effort.spend(8)?;
        if wanted[index] != there[index] {
            effort.spend(wanted[index].len())?;
            if differ.len() == most || !is_slip(&wanted[index], there[index]) {
                return Ok(None);
            }
            differ.push(index);
        }
    }
    let same = wanted[1..wanted.len() - 1].len().saturating_sub(differ.len());
    Ok((!differ.is_empty() && same > 0).then_some(differ))
}

/// Whether a separator at the end is missing in one of the two. Any other difference is one in meaning.
fn is_slip(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let rest = long.strip_prefix(short);
    rest.is_some_and(|rest| matches!(rest, "," | ";"))
        && short.ends_with(|last: char| is_word(last) || ")]}\"'".contains(last))
}
