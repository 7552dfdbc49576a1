//! Line numbers that were copied along from `read`, or from another tool that shows them.

use super::fold::Level;
use super::lines::Lines;
use super::{Effort, Found, Step, Stop, one};

const SOME_PREFIXES: &str = "only some lines of newString begin with a line number";

/// The signs that tools put between the number and the line.
const SIGNS: [&str; 5] = [": ", " | ", "| ", "→", "\t"];

/// The place of the old text without its line numbers.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    for sign in SIGNS {
        let Some(bare_old) = stripped(old, sign) else { continue };
        let (bare_new, doubt) = match stripped(new, sign) {
            Some(bare) => (bare, false),
            None => (new.to_owned(), Lines::of(new).all.iter().any(|line| number(line.text, sign).is_some())),
        };
        for level in [Level::Exact, Level::Trailing, Level::Indentation] {
            let found = one(effort, lines, &bare_old, &bare_new, level, Step::LinePrefixes)?;
            // Whoever copies a number copies the line from its start.
            let is_whole = |found: &Found| {
                let first = &lines.all[lines.at(found.range.start)];
                lines.text[first.start..found.range.start].is_empty()
            };
            match found.first() {
                Some(found) if doubt => {
                    let line = lines.at(found.range.start) + 1;
                    return Err(Stop::Doubt { line, why: SOME_PREFIXES });
                }
                Some(first) if is_whole(first) => return Ok(found),
                _ => {}
            }
        }
    }
    Ok(Vec::new())
}

/// The text without its numbers, if every line has one and they count up by one.
fn stripped(text: &str, sign: &str) -> Option<String> {
    let lines = Lines::of(text);
    let mut bare = String::with_capacity(text.len());
    let mut last = None;
    for line in &lines.all {
        let (number, rest) = number(line.text, sign)?;
        if last.is_some_and(|last: u64| number != last + 1) {
            return None;
        }
        last = Some(number);
        bare.push_str(rest);
        bare.push_str(line.ending);
    }
    last.map(|_| bare)
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
