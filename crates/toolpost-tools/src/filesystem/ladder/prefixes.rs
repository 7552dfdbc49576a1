//! Line numbers that were copied along from `read`, or from another tool that shows them.
//!
//! Numbers are taken off only where they are those of the lines in the file: anything else may be the text itself.

use super::lines::Lines;
use super::{Effort, Found, Step, Stop, bare};

const SOME_PREFIXES: &str = "only some lines of newString begin with a line number";
const OTHER_NUMBERS: &str = "the line numbers in oldString are not those of these lines";

/// The signs that tools put between the number and the line.
const SIGNS: [&str; 12] = [": ", " | ", "| ", "→", "\t", ":", "|", " │ ", "│", ") ", ". ", " "];

/// The place of the old text without its line numbers.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    let mut doubt = None;
    for sign in SIGNS {
        let Some((first, bare_old)) = stripped(old, sign) else { continue };
        effort.spend(old.len() + new.len())?;
        let bare_new = new_text(old, new, sign, first);
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
        if !is_whole || !(first..=first + left_out as u64).contains(&(line as u64)) {
            doubt = doubt.or(Some(Stop::Doubt { line, why: OTHER_NUMBERS }));
            continue;
        }
        return match bare_new {
            Some(_) => Ok(found),
            None => Err(Stop::Doubt { line, why: SOME_PREFIXES }),
        };
    }
    doubt.map_or(Ok(Vec::new()), Err)
}

/// The old text without its numbers, if every line has one and they count up by one; and the first of them.
fn stripped(text: &str, sign: &str) -> Option<(u64, String)> {
    let lines = Lines::of(text);
    let mut bare = String::with_capacity(text.len());
    let mut first = None;
    for (at, line) in lines.all.iter().enumerate() {
        let (number, rest) = number(line.text, sign)?;
        if *first.get_or_insert(number) + at as u64 != number {
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
    let is_shared = |line: &str| old.all.iter().any(|old| old.text == line);
    // Numbers of lines that may be meant; a key of the text is rarely one of them.
    let last = first + (old.all.len() + lines.all.len()) as u64;
    let mut bare = String::with_capacity(new.len());
    for line in &lines.all {
        match number(line.text, sign) {
            Some((_, rest)) if is_shared(line.text) => bare.push_str(rest),
            Some((number, _)) if (first..=last).contains(&number) => return None,
            _ => bare.push_str(line.text),
        }
        bare.push_str(line.ending);
    }
    Some(bare)
}

fn number<'a>(line: &'a str, sign: &str) -> Option<(u64, &'a str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.len() - line.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (number, rest) = line.split_at(digits);
    let number = number.parse().ok()?;
    match rest.strip_prefix(sign) {
        Some(rest) => Some((number, rest)),
        // An empty line whose last blank was lost.
        None => (rest == sign.trim_end_matches(' ')).then_some((number, "")),
    }
}
