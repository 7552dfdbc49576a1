//! Whether a place is the only one that can be meant, once anything at all is overlooked.
//!
//! Whoever writes a text otherwise than the file has it may have slipped in more ways than one. So a place that was not
//! found to the letter counts only if nothing else in the file says the same under the loosest reading: whatever the
//! blanks, quotes and dashes, at every offset, within lines and within words.

use super::fold::look_alike;
use super::lines::{Line, Lines, is_blank};
use super::places::Place;

/// The lines on which something begins that says the same as `old`, counting from 1.
pub(super) fn rivals(lines: &Lines<'_>, old: &str) -> Vec<usize> {
    let wanted = loosest(old);
    if wanted.trim_matches('\n').is_empty() {
        return Vec::new();
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
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..at]).count();
        counted = at;
        found.push(line.max(1));
        from = at + wanted.chars().next().map_or(1, char::len_utf8);
    }
    found
}

/// Where more of the lines are to the letter than at a place that was found by overlooking something, and half of them
/// at least: what is meant may be there, and have changed.
pub(super) fn closer(lines: &Lines<'_>, old: &Lines<'_>, place: &Place) -> Option<usize> {
    let is_filled = |line: &&Line<'_>| !line.text.trim_matches(is_blank).is_empty();
    let filled = old.all.iter().filter(is_filled).count();
    let exact = |first: usize| {
        let pairs = old.all.iter().zip(lines.all.iter().skip(first)).filter(|(old, _)| is_filled(old));
        pairs.filter(|(old, line)| old.text == line.text).count()
    };
    let found = exact(place.first);
    let is_closer = |first: &usize| {
        let count = exact(*first);
        *first != place.first && count > found && count * 2 >= filled
    };
    (0..lines.all.len()).find(is_closer).map(|first| first + 1)
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
