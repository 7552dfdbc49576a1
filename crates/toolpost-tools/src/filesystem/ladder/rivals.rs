//! Whether a place is the only one that can be meant, once anything at all is overlooked.
//!
//! Whoever writes a text otherwise than the file has it may have slipped in more ways than one. So a place that was not
//! found to the letter counts only if nothing else in the file says the same under the loosest reading: whatever the
//! blanks, quotes and dashes, at every offset, within lines and within words.

use super::Effort;
use super::fold::look_alike;
use super::lines::{Line, Lines, is_blank};
use super::places::Place;
use std::collections::HashMap;
use toolpost_core::ToolError;

/// Maximum number of places that are looked for: two are as ambiguous as a hundred.
const MOST_RIVALS: usize = 100;

/// The lines on which something begins that says the same as `old`, counting from 1.
pub(super) fn rivals(effort: &Effort, lines: &Lines<'_>, old: &str) -> Result<Vec<usize>, ToolError> {
    effort.spend(lines.text.len() * 2)?;
    let wanted = loosest(old);
    if wanted.trim_matches('\n').is_empty() {
        return Ok(Vec::new());
    }
    // Every line has an end and a beginning, the first and the last of the file too.
    let mut text = String::from("\n");
    text.push_str(&loosest(lines.text));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let finder = memchr::memmem::Finder::new(wanted.as_bytes());
    let mut found = Vec::new();
    // The newline in front makes the first line the first.
    let (mut from, mut line, mut counted) = (0, 0, 0);
    while let Some(at) = finder.find(&text.as_bytes()[from..]) {
        let at = from + at;
        effort.spend(at - from + wanted.len())?;
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..at]).count();
        counted = at;
        found.push(line.max(1));
        if found.len() == MOST_RIVALS {
            break;
        }
        from = at + wanted.chars().next().map_or(1, char::len_utf8);
    }
    Ok(found)
}

/// Where more of the lines are to the letter than at a place that was found by overlooking something, and half of them
/// at least: what is meant may be there, and have changed.
pub(super) fn closer(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &Lines<'_>,
    place: &Place,
) -> Result<Option<usize>, ToolError> {
    let is_filled = |line: &Line<'_>| !line.text.trim_matches(is_blank).is_empty();
    let filled = old.all.iter().filter(|line| is_filled(line)).count();
    let mut wanted: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in old.all.iter().enumerate().filter(|(_, line)| is_filled(line)) {
        wanted.entry(line.text).or_default().push(at);
    }
    // Each line of the file counts for the places where it would be one of those.
    let mut exact = vec![0_u32; lines.all.len()];
    for (index, line) in lines.all.iter().enumerate() {
        effort.spend(line.text.len() + 8)?;
        let at = wanted.get(line.text).map_or(&[][..], Vec::as_slice);
        effort.spend(at.len())?;
        for first in at.iter().filter_map(|at| index.checked_sub(*at)) {
            exact[first] += 1;
        }
    }
    let found = exact[place.first];
    let is_closer = |(first, count): &(usize, &u32)| {
        *first != place.first && **count > found && **count as usize * 2 >= filled
    };
    Ok(exact.iter().enumerate().find(is_closer).map(|(first, _)| first + 1))
}

/// A text without blanks, its quotes and dashes plain, its lines ended alike.
pub(super) fn loosest(text: &str) -> String {
    let mut loose = String::with_capacity(text.len());
    for character in text.chars() {
        let plain = look_alike(character).unwrap_or(character);
        if !is_blank(plain) && plain != '\r' {
            loose.push(plain);
        }
    }
    loose
}
