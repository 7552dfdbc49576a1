//! The exact steps: the text as it stands, and as it stands but for line endings.

use super::lines::Lines;
use super::{Effort, Found, MOST_BYTES, MOST_LISTED, MOST_REPLACED, Step, Stop, Wanted};
use std::ops::Range;
use std::sync::Arc;
use toolpost_core::{Code, ToolError};

/// Bytes that are compared to list places where one is wanted.
const LISTING: usize = 100_000_000;
/// Bytes that are searched before the call is asked whether it still runs.
const PIECE: usize = 4 << 20;

/// Places that are the same to the byte.
pub(super) fn exact(
    effort: &Effort,
    text: &str,
    old: &str,
    new: &str,
    wanted: Wanted,
) -> Result<Vec<Found>, Stop> {
    // Half of a line ending is no place: what is left of it would stand alone.
    let is_whole = |range: &Range<usize>| {
        let begins_within = old.starts_with('\n') && text[..range.start].ends_with('\r');
        let ends_within = old.ends_with('\r') && text[range.end..].starts_with('\n');
        !begins_within && !ends_within
    };
    let ranges = occurrences(effort, text, old, wanted, is_whole)?;
    if ranges.is_empty() {
        return Ok(if wanted == Wanted::One { at_end(text, old, new) } else { Vec::new() });
    }
    // `read` does not show line endings: places that differ in nothing else are the same to whoever asks.
    if old.contains('\n') && text.contains("\r\n") && (wanted == Wanted::All || !old.contains('\r')) {
        let alike = any_endings(effort, text, old, new, wanted)?;
        if wanted == Wanted::All {
            return Ok(alike.into_iter().map(|found| Found { step: Step::Exact, ..found }).collect());
        }
    }
    found(effort, text, ranges, new, wanted, Step::Exact)
}

/// The last lines of a text that ends without a newline, where `old` ends with one: nowhere else does it end a line.
fn at_end(text: &str, old: &str, new: &str) -> Vec<Found> {
    let Some(bare) = old.strip_suffix('\n').filter(|bare| !bare.trim().is_empty()) else { return Vec::new() };
    let Some(before) = text.strip_suffix(bare) else { return Vec::new() };
    if !before.is_empty() && !before.ends_with('\n') {
        return Vec::new();
    }
    let range = before.len()..text.len();
    let replacement = adapted(text, &range, new.strip_suffix('\n').unwrap_or(new)).into();
    vec![Found { range, replacement, step: Step::LineEndings }]
}

/// Places that are there but for line endings, where only the old text ends with a newline. That one is the file's, so it
/// stays, unless a blank line follows: no two lines become one.
pub(super) fn ended(text: &str, old: &str, new: &str, found: Vec<Found>) -> Vec<Found> {
    if !old.ends_with('\n') || new.is_empty() || new.ends_with('\n') {
        return found;
    }
    let kept = |found: Found| {
        if text[found.range.end..].starts_with(['\n', '\r']) {
            return found;
        }
        let ending = if text[..found.range.end].ends_with("\r\n") { "\r\n" } else { "\n" };
        Found { replacement: format!("{}{ending}", found.replacement).into(), ..found }
    };
    found.into_iter().map(kept).collect()
}

/// Places that differ in line endings only.
pub(super) fn any_endings(
    effort: &Effort,
    text: &str,
    old: &str,
    new: &str,
    wanted: Wanted,
) -> Result<Vec<Found>, Stop> {
    if !old.contains('\n') || !(text.contains("\r\n") || old.contains("\r\n")) {
        return Ok(Vec::new());
    }
    let plain = with_newlines(effort, text)?;
    let old = old.replace("\r\n", "\n");
    let ranges = occurrences(effort, &plain, &old, wanted, |_| true)?;
    let starts = in_original(text, ranges.iter().map(|range| range.start));
    let ends = in_original(text, ranges.iter().map(|range| range.end));
    let ranges = starts.into_iter().zip(ends).map(|(start, end)| start..end).collect();
    found(effort, text, ranges, new, wanted, Step::LineEndings)
}

/// The text with every line ended by a newline alone, made in pieces, so that a call that has ended stops.
fn with_newlines(effort: &Effort, text: &str) -> Result<String, Stop> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.floor_char_boundary(PIECE.min(rest.len()));
        // No line ending is cut in two.
        if rest[..end].ends_with('\r') && rest[end..].starts_with('\n') {
            end += 1;
        }
        effort.spend(end)?;
        plain.push_str(&rest[..end].replace("\r\n", "\n"));
        rest = &rest[end..];
    }
    Ok(plain)
}

/// Where positions of a text without carriage returns are in the text itself. They come in order, so that those before
/// them are counted in one pass. A position on a newline stands before its carriage return.
fn in_original(text: &str, positions: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut dropped = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").enumerate().peekable();
    let mut count = 0;
    let original = |at: usize| {
        while let Some((before, _)) = dropped.next_if(|(before, place)| place - before < at) {
            count = before + 1;
        }
        at + count
    };
    positions.map(original).collect()
}

/// Where `old` is. Where one place is wanted, overlapping ones count, and no more are looked for than can be listed;
/// where all are, none overlaps another.
fn occurrences(
    effort: &Effort,
    text: &str,
    old: &str,
    wanted: Wanted,
    is_whole: impl Fn(&Range<usize>) -> bool,
) -> Result<Vec<Range<usize>>, Stop> {
    let finder = memchr::memmem::Finder::new(old.as_bytes());
    // A long text that repeats itself costs its length at each place; two are enough to know that there are several.
    let most = match wanted {
        Wanted::One => (LISTING / old.len().max(1)).clamp(2, MOST_LISTED),
        Wanted::All => MOST_REPLACED,
    };
    let one = old.chars().next().map_or(1, char::len_utf8);
    let mut found = Vec::new();
    let mut from = 0;
    // In pieces, so that a search through a large text can be ended.
    while from + old.len() <= text.len() {
        let to = text.len().min(from + old.len() + PIECE);
        let Some(at) = finder.find(&text.as_bytes()[from..to]) else {
            // Many bytes are searched in one step.
            effort.spend((to - from) / 8)?;
            from = to + 1 - old.len();
            continue;
        };
        let at = from + at;
        effort.spend((at - from + old.len()) / 8 + 8)?;
        let range = at..at + old.len();
        // Past one character, not past the whole match.
        from = at + one;
        if is_whole(&range) {
            if wanted == Wanted::All {
                from = range.end;
            }
            if found.len() == most && wanted == Wanted::All {
                return Err(too_many(most).into());
            }
            found.push(range);
            if found.len() == most && wanted == Wanted::One {
                break;
            }
        }
    }
    Ok(found)
}

fn too_many(most: usize) -> ToolError {
    ToolError::new(
        Code::TooLarge,
        format!("the text is there more than {most} times, which is as many as are replaced at once: use a command"),
    )
    .with("places", most)
}

fn found(
    effort: &Effort,
    text: &str,
    ranges: Vec<Range<usize>>,
    new: &str,
    wanted: Wanted,
    step: Step,
) -> Result<Vec<Found>, Stop> {
    if wanted == Wanted::One && ranges.len() > 1 {
        return Err(Stop::Ambiguous(line_numbers(text, &ranges)));
    }
    let mut all: Vec<Found> = Vec::with_capacity(ranges.len());
    // The size of what comes out is known before it is made.
    let mut size = text.len();
    let is_plain = !new.contains('\n');
    let plain: Arc<str> = if is_plain { new.into() } else { "".into() };
    for range in ranges {
        if all.last().is_some_and(|last| last.range.end > range.start) {
            continue;
        }
        effort.spend(8)?;
        let grown = (size - range.len()).checked_add(new.len()).filter(|size| *size <= MOST_BYTES);
        size = grown.ok_or_else(|| too_large(text, new, range.len(), wanted))?;
        let replacement = match is_plain {
            true => Arc::clone(&plain),
            false => {
                effort.spend(new.len() + range.len())?;
                let adapted = adapted(text, &range, new);
                // Its line endings may be longer than they were given.
                size = size - new.len() + adapted.len();
                adapted.into()
            }
        };
        all.push(Found { range, replacement, step });
    }
    Ok(all)
}

fn too_large(text: &str, new: &str, old: usize, wanted: Wanted) -> ToolError {
    let what = match wanted {
        Wanted::One => String::new(),
        Wanted::All => format!(" (each of many places of {old} bytes becomes {} bytes)", new.len()),
    };
    ToolError::new(
        Code::TooLarge,
        format!(
            "the file has {} bytes and would have more than {MOST_BYTES} after this{what}; replace fewer places, or use \
             a command",
            text.len()
        ),
    )
    .with("size", text.len())
    .with("most", MOST_BYTES)
}

/// The lines on which the ranges begin, counting from 1. The ranges come in order.
fn line_numbers(text: &str, ranges: &[Range<usize>]) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let mut number = |at: usize| {
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..at]).count();
        counted = at;
        line
    };
    ranges.iter().map(|range| number(range.start)).collect()
}

/// The ending that a new line at a place gets: that of the line that is there, of the one before it, or that of most Unix
/// files.
fn ending_at(text: &str, at: usize) -> &'static str {
    let bytes = text.as_bytes();
    let own = memchr::memchr(b'\n', &bytes[at..]).map(|next| at + next);
    match own.or_else(|| memchr::memrchr(b'\n', &bytes[..at])) {
        Some(newline) if newline > 0 && bytes[newline - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// The new text with the line endings of the place.
fn adapted(text: &str, range: &Range<usize>, new: &str) -> String {
    let place = Lines::of(&text[range.clone()]);
    let new = Lines::of(new);
    let same = |(one, other): &(&super::lines::Line<'_>, &super::lines::Line<'_>)| one.text == other.text;
    let head = place.all.iter().zip(&new.all).take_while(same).count();
    let most = place.all.len().min(new.all.len()) - head;
    let tail = place.all.iter().rev().zip(new.all.iter().rev()).take_while(same).count().min(most);
    let usual = ending_at(text, range.start);
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
