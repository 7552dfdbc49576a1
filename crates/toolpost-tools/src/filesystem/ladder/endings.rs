//! The exact steps: the text as it stands, and as it stands but for line endings.

use super::lines::Lines;
use super::{Found, Step, Stop, Wanted};
use std::ops::Range;

/// Places that are the same to the byte.
pub(super) fn exact(lines: &Lines<'_>, old: &str, new: &str, wanted: Wanted) -> Result<Vec<Found>, Stop> {
    let text = lines.text;
    let ranges: Vec<Range<usize>> = occurrences(text, old)
        .map(|at| at..at + old.len())
        // Half of a line ending is no place: what is left of it would stand alone.
        .filter(|range| !(text[..range.start].ends_with('\r') && old.starts_with('\n')))
        .filter(|range| !(old.ends_with('\r') && text[range.end..].starts_with('\n')))
        .collect();
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    // `read` does not show line endings: places that differ in nothing else are the same to whoever asks.
    if old.contains('\n') && text.contains("\r\n") && (wanted == Wanted::All || !old.contains('\r')) {
        let alike = any_endings(lines, old, new, wanted)?;
        if wanted == Wanted::All {
            return Ok(alike.into_iter().map(|found| Found { step: Step::Exact, ..found }).collect());
        }
    }
    found(lines, ranges, new, wanted, Step::Exact)
}

/// Places that differ in line endings only.
pub(super) fn any_endings(
    lines: &Lines<'_>,
    old: &str,
    new: &str,
    wanted: Wanted,
) -> Result<Vec<Found>, Stop> {
    let text = lines.text;
    if !old.contains('\n') || !(text.contains("\r\n") || old.contains("\r\n")) {
        return Ok(Vec::new());
    }
    let plain = text.replace("\r\n", "\n");
    let old = old.replace("\r\n", "\n");
    // Where each dropped carriage return stood, in the plain text.
    let dropped: Vec<usize> =
        text.match_indices("\r\n").enumerate().map(|(count, (at, _))| at - count).collect();
    // A position on a newline stands before its carriage return.
    let original = |at: usize| at + dropped.partition_point(|place| *place < at);
    let ranges = occurrences(&plain, &old).map(|at| original(at)..original(at + old.len())).collect();
    found(lines, ranges, new, wanted, Step::LineEndings)
}

/// Where `old` is, overlapping places included.
fn occurrences<'a>(text: &'a str, old: &'a str) -> impl Iterator<Item = usize> + 'a {
    let finder = memchr::memmem::Finder::new(old.as_bytes()).into_owned();
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(text.as_bytes().get(from..)?)?;
        // Past one character, not past the whole match.
        from = at + old.chars().next().map_or(1, char::len_utf8);
        Some(at)
    })
}

fn found(
    lines: &Lines<'_>,
    ranges: Vec<Range<usize>>,
    new: &str,
    wanted: Wanted,
    step: Step,
) -> Result<Vec<Found>, Stop> {
    if wanted == Wanted::One && ranges.len() > 1 {
        return Err(Stop::Ambiguous(ranges.iter().map(|range| lines.at(range.start) + 1).collect()));
    }
    let mut all: Vec<Found> = Vec::new();
    for range in ranges {
        if all.last().is_none_or(|last| last.range.end <= range.start) {
            let replacement = adapted(lines, &range, new);
            all.push(Found { range, replacement, step });
        }
    }
    Ok(all)
}

/// The new text with the line endings of the place.
fn adapted(lines: &Lines<'_>, range: &Range<usize>, new: &str) -> String {
    if !new.contains('\n') {
        return new.to_owned();
    }
    let place = Lines::of(&lines.text[range.clone()]);
    let new = Lines::of(new);
    let same = |(one, other): &(&super::lines::Line<'_>, &super::lines::Line<'_>)| one.text == other.text;
    let head = place.all.iter().zip(&new.all).take_while(same).count();
    let most = place.all.len().min(new.all.len()) - head;
    let tail = place.all.iter().rev().zip(new.all.iter().rev()).take_while(same).count().min(most);
    let usual = lines.ending_near(lines.at(range.start));
    let mut last = usual;
    let mut text = String::with_capacity(new.text.len());
    for (index, line) in new.all.iter().enumerate() {
        let own = match index {
            index if index < head => place.all.get(index),
            index if index >= new.all.len() - tail => {
                place.all.get(place.all.len() - (new.all.len() - index))
            }
            // A line that takes the place of one has its ending.
            index => place.all.get(index).filter(|_| index < place.all.len() - tail),
        };
        last = own.map(|line| line.ending).filter(|ending| !ending.is_empty()).unwrap_or(last);
        text.push_str(line.text);
        text.push_str(if line.ending.is_empty() { "" } else { last });
    }
    text
}
