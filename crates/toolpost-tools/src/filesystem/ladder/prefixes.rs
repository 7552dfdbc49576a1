//! Line numbers that were copied along from `read`, or from another tool that shows them.
//!
//! Numbers are taken off only where they are those of the lines in the file, or a few lines off and the rest is there to
//! the letter: anything else may be the text itself.

use super::fold::Level;
use super::lines::{Line, Lines, is_telling};
use super::places::Place;
use super::rivals::loosest;
use super::{Effort, Found, Step, Stop, bare, merge, undoing};
use std::collections::HashSet;

const SOME_PREFIXES: &str = "only some lines of newString begin with a line number";
const OTHER_NUMBERS: &str = "the line numbers in oldString are not those of these lines";

const NEXT_LINE: &str =
    "newString ends with the line that follows oldString in the file, so it would be there twice";

/// Maximum number of lines that the numbers may be off, where everything else is there to the letter and nowhere else.
const MOST_OFF: usize = 32;

/// The signs that tools put between the number and the line.
const SIGNS: [&str; 12] = [": ", " | ", "| ", "→", "\t", ":", "|", " │ ", "│", ") ", ". ", " "];

/// The place of the old text without its line numbers.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    let numbered = undoing::as_numbered(old, new);
    let (old, new) = numbered.as_ref().map_or((old, new), |(old, new)| (old.as_str(), new.as_str()));
    let mut doubt = None;
    for sign in SIGNS {
        let Some((first, bare_old)) = stripped(old, sign) else { continue };
        effort.spend(old.len() + new.len())?;
        let bare_new = new_text(old, new, sign, first);
        if sign.ends_with(' ') && has_one_space_more(&bare_old, bare_new.as_deref().unwrap_or(new)) {
            continue;
        }
        if let Some(found) = named(effort, lines, &bare_old, bare_new.as_deref(), first)? {
            return Ok(vec![found]);
        }
        let found =
            match bare(effort, lines, &bare_old, bare_new.as_deref().unwrap_or(new), Step::LinePrefixes) {
                Ok(found) => found,
                // With another sign it may be clear.
                Err(stop @ Stop::Effort(_)) => return Err(stop),
                Err(stop) => {
                    doubt = doubt.or(Some(stop));
                    continue;
                }
            };
        let Some(place) = found.first() else { continue };
        // Whoever copies a number copies the line from its start. Blank lines that were left out come before the place.
        let line = lines.at(place.range.start) + 1;
        let left_out = Lines::of(&bare_old).all.iter().take_while(|line| line.text.trim().is_empty()).count();
        let is_whole = lines.all[line - 1].start == place.range.start;
        let is_named = (first..=first.saturating_add(left_out as u64)).contains(&(line as u64));
        if !is_whole || !(is_named || is_a_few_off(lines, &bare_old, first, line)) {
            doubt = doubt.or(Some(Stop::Doubt { line, why: OTHER_NUMBERS }));
            continue;
        }
        match bare_new {
            Some(_) => return Ok(found),
            None => doubt = doubt.or(Some(Stop::Doubt { line, why: SOME_PREFIXES })),
        }
    }
    doubt.map_or(Ok(Vec::new()), Err)
}

/// Whether the new text has lines of the old one with a space before each: then the space behind a number belongs to the line.
fn has_one_space_more(old: &str, new: &str) -> bool {
    let (old, new) = (Lines::of(old), Lines::of(new));
    let shown: HashSet<&str> = new.all.iter().map(|line| line.text).collect();
    let telling: Vec<&str> = old.all.iter().map(|line| line.text).filter(|line| is_telling(line)).collect();
    telling.iter().any(|line| shown.contains(format!(" {line}").as_str()))
        && telling.iter().all(|line| !shown.contains(line))
}

/// The very lines that the numbers name, if they are the old text to the letter: then it does not matter where else it is.
fn named<'a>(
    effort: &Effort,
    lines: &Lines<'a>,
    old: &str,
    new: Option<&str>,
    first: u64,
) -> Result<Option<Found>, Stop> {
    let old = Lines::of(old);
    let Some(first) = usize::try_from(first).ok().and_then(|first| first.checked_sub(1)) else {
        return Ok(None);
    };
    let (Some(there), Some(new)) = (lines.all.get(first..first.saturating_add(old.all.len())), new) else {
        return Ok(None);
    };
    // A bracket is on many lines, so that a number may be off by one without anybody noticing.
    let is_there = old.all.iter().any(|line| is_telling(line.text))
        && there.iter().zip(&old.all).all(|(line, old)| line.text == old.text);
    let (Some(start), Some(last)) = (there.first().filter(|_| is_there), there.last()) else {
        return Ok(None);
    };
    // The new text begins or ends with the line of the file that is next to the old one: it may be missing there.
    let new_lines = Lines::of(new);
    let text = |line: Option<&Line<'a>>| line.map(|line| line.text);
    let above = first.checked_sub(1).and_then(|above| text(lines.all.get(above)));
    let below = text(lines.all.get(first + old.all.len()));
    let repeats = |ours: Option<&'_ str>, olds: Option<&'_ str>, next: Option<&'_ str>| {
        ours.is_some() && ours == next && ours != olds
    };
    let texts = |lines: &Lines<'_>| {
        (
            lines.all.first().map(|line| line.text.to_owned()),
            lines.all.last().map(|line| line.text.to_owned()),
        )
    };
    let ((new_first, new_last), (old_first, old_last)) = (texts(&new_lines), texts(&old));
    if repeats(new_first.as_deref(), old_first.as_deref(), above)
        || repeats(new_last.as_deref(), old_last.as_deref(), below)
    {
        return Err(Stop::Doubt { line: first + 1, why: NEXT_LINE });
    }
    let has_last_ending = !old.ends_line() || !last.ending.is_empty();
    let end = if old.ends_line() { last.end() } else { last.text_end() };
    let place = Place { first, start: start.start, end, has_last_ending };
    let replacement = merge::replacement(effort, lines, &place, &old, &new_lines, Level::Exact)?
        .map_err(|why| Stop::Doubt { line: first + 1, why })?;
    Ok(Some(Found {
        range: place.start..place.end,
        replacement: replacement.into(),
        step: Step::LinePrefixes,
    }))
}

/// Whether several lines of the old text are at a line to the letter, a few lines from where the numbers say, and nothing of
/// it is there.
fn is_a_few_off(lines: &Lines<'_>, old: &str, first: u64, line: usize) -> bool {
    let old = Lines::of(old);
    let Some(named) = usize::try_from(first).ok().and_then(|first| first.checked_sub(1)) else {
        return false;
    };
    let is_at = |at: usize, (index, old): (usize, &Line<'_>)| {
        lines.all.get(at + index).is_some_and(|line| line.text == old.text)
    };
    // Whatever the blanks and quotes, so that what has changed there only a little counts too.
    let is_like = |(index, old): (usize, &Line<'_>)| {
        lines.all.get(named + index).is_some_and(|line| loosest(line.text) == loosest(old.text))
    };
    let telling = || old.all.iter().enumerate().filter(|(_, line)| is_telling(line.text));
    // One line and its number contradict each other; of several, lines above may have come or gone.
    named.abs_diff(line - 1) <= MOST_OFF
        && named < lines.all.len()
        && telling().nth(1).is_some()
        && old.all.iter().enumerate().all(|one| is_at(line - 1, one))
        && telling().all(|one| !is_like(one))
}

/// The old text without its numbers, if every line has one and they count up by one; and the first of them.
fn stripped(text: &str, sign: &str) -> Option<(u64, String)> {
    let lines = Lines::of(text);
    let mut bare = String::with_capacity(text.len());
    let mut first = None;
    for (at, line) in lines.all.iter().enumerate() {
        let (number, rest) = number(line.text, sign)?;
        if number.checked_sub(*first.get_or_insert(number)) != Some(at as u64) {
            return None;
        }
        bare.push_str(rest);
        bare.push_str(line.ending);
    }
    first.map(|first| (first, bare))
}

/// The new text without the numbers that the old one has: all of them, if it counts up from the same line; those of the
/// lines that it shares with the old text, if no other line has one; `None` where that is unclear.
fn new_text(old: &str, new: &str, sign: &str, first: u64) -> Option<String> {
    if let Some((number, bare)) = stripped(new, sign)
        && number == first
    {
        return Some(bare);
    }
    let (old, lines) = (Lines::of(old), Lines::of(new));
    let shared: HashSet<&str> = old.all.iter().map(|line| line.text).collect();
    let is_shared = |line: &str| shared.contains(line);
    // Numbers of lines that may be meant; a key of the text is rarely one of them.
    let last = first.saturating_add((old.all.len() + lines.all.len()) as u64);
    let mut bare = String::with_capacity(new.len());
    for line in &lines.all {
        match number(line.text, sign) {
            Some((_, rest)) if is_shared(line.text) => bare.push_str(rest),
            Some((number, _)) if (first..=last).contains(&number) => return None,
            // A number that stands there otherwise than before the lines of the old text.
            None if number(line.text, sign.trim())
                .is_some_and(|(number, _)| (first..=last).contains(&number)) =>
            {
                return None;
            }
            _ => bare.push_str(line.text),
        }
        bare.push_str(line.ending);
    }
    Some(bare)
}

fn number<'a>(line: &'a str, sign: &str) -> Option<(u64, &'a str)> {
    let line = line.trim_start_matches(' ');
    let line = line.strip_prefix('L').unwrap_or(line);
    let digits = line.len() - line.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (number, rest) = line.split_at(digits);
    let number = number.parse().ok()?;
    match rest.strip_prefix(sign) {
        Some(rest) => Some((number, rest)),
        // An empty line whose last blank was lost.
        None => (rest == sign.trim_end_matches(' ')).then_some((number, "")),
    }
}
