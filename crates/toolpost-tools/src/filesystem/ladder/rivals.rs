//! Whether a place is the only one that can be meant, once anything at all is overlooked.
//!
//! Whoever writes a text otherwise than the file has it may have slipped in more ways than one. So a place that was not
//! found to the letter counts only if nothing else in the file says the same under the loosest reading: whatever the
//! blanks, quotes and dashes.

use super::Effort;
use super::fold::look_alike;
use super::indentation::Mapping;
use super::lines::{Lines, is_blank, is_filled, is_telling, split_indent};
use super::nearest::Pairs;
use super::places::Place;
use std::collections::HashMap;
use toolpost_core::ToolError;

/// Maximum number of places that are looked for: two are as ambiguous as a hundred.
const MOST_RIVALS: usize = 100;
/// Maximum number of lines that are compared by letters with the one that may have changed.
const MOST_COMPARED: usize = 20_000;
/// How alike a line has to be to one that may have become it.
const ALIKE: f64 = 0.75;
/// The same where all lines around it are to the letter.
const ALIKE_AMONG_OTHERS: f64 = 0.55;

/// The only place, or the only one whose lines are nested as those of the old text are.
pub(super) fn only<'a>(lines: &Lines<'_>, old: &Lines<'_>, places: &'a [Place]) -> Option<&'a Place> {
    if let [place] = places {
        return Some(place);
    }
    let mut even = places.iter().filter(|place| is_even(lines, old, place.first, is_filled));
    let only = even.next().filter(|_| even.next().is_none())?;
    // A line that says something may have been moved since; only brackets are told by their depth.
    let is_told = |place: &Place| place.first == only.first || is_even(lines, old, place.first, is_telling);
    places.iter().all(is_told).then_some(only)
}

/// Whether the lines from one on, as far as they count, are nested as those of the old text are.
fn is_even(lines: &Lines<'_>, old: &Lines<'_>, first: usize, counts: fn(&str) -> bool) -> bool {
    let pairs = old.all.iter().zip(&lines.all[first..]);
    let pairs = pairs.filter(|(old, _)| counts(old.text));
    Mapping::even(pairs.map(|(old, line)| (split_indent(old.text).0, split_indent(line.text).0)).collect())
        .is_ok()
}

/// The other lines on which something begins that says the same as `old`, counting from 1.
pub(super) fn rivals(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &Lines<'_>,
    place: &Place,
) -> Result<Vec<usize>, ToolError> {
    // Blanks at the end of a line that the file has and the old text does not show may be those of another place.
    let is_same = |at: usize| {
        let (asked, there) = (old.all[at].text, lines.all[place.first + at].text);
        bare(asked) == bare(there) && (bare(there) == there || asked == there)
    };
    // To the letter but for blanks at the ends of lines, it is this one.
    if (0..old.all.len()).all(is_same) {
        return Ok(Vec::new());
    }
    effort.spend(lines.text.len() * 2)?;
    let mut found = match old.all.len() {
        1 => within_lines(effort, lines, old.text)?,
        _ => of_lines(effort, lines, old)?,
    };
    let is_nested = is_even(lines, old, place.first, is_filled);
    found.retain(|line| *line != place.first + 1 && !(is_nested && is_uneven(lines, old, *line)));
    Ok(found)
}

/// Whether the lines from one on, counting from 1, are those of the old text, but for brackets at other depths.
fn is_uneven(lines: &Lines<'_>, old: &Lines<'_>, line: usize) -> bool {
    let first = line - 1;
    let is_there = lines.all.len() >= first + old.all.len()
        && old.all.iter().zip(&lines.all[first..]).all(|(old, line)| loosest(old.text) == loosest(line.text));
    is_there && !is_even(lines, old, first, is_filled) && is_even(lines, old, first, is_telling)
}

/// Where one line is, within lines and within words too.
fn within_lines(effort: &Effort, lines: &Lines<'_>, old: &str) -> Result<Vec<usize>, ToolError> {
    let wanted = loosest(old);
    if wanted.trim_matches('\n').is_empty() {
        return Ok(Vec::new());
    }
    let mut text = loosest(lines.text);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let finder = memchr::memmem::Finder::new(wanted.as_bytes());
    let mut found = Vec::new();
    let (mut from, mut line, mut counted) = (0, 1, 0);
    while let Some(at) = finder.find(&text.as_bytes()[from..]) {
        let at = from + at;
        effort.spend(at - from + wanted.len())?;
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..at]).count();
        counted = at;
        found.push(line);
        if found.len() == MOST_RIVALS {
            break;
        }
        from = at + wanted.chars().next().map_or(1, char::len_utf8);
    }
    Ok(found)
}

/// Where several lines are, each as a whole.
fn of_lines(effort: &Effort, lines: &Lines<'_>, old: &Lines<'_>) -> Result<Vec<usize>, ToolError> {
    let wanted: Vec<String> = old.all.iter().map(|line| loosest(line.text)).collect();
    let there: Vec<String> = lines.all.iter().map(|line| loosest(line.text)).collect();
    let longest = (0..wanted.len()).max_by_key(|at| wanted[*at].len()).unwrap_or(0);
    let mut found = Vec::new();
    for (first, window) in there.windows(wanted.len()).enumerate() {
        if window[longest] != wanted[longest] {
            continue;
        }
        effort.spend(wanted.len())?;
        if window == wanted {
            found.push(first + 1);
            if found.len() == MOST_RIVALS {
                break;
            }
        }
    }
    Ok(found)
}

/// Where the lines are more to the letter than at a place that was found by overlooking something: what is meant may be
/// there, and have changed.
pub(super) fn closer(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &Lines<'_>,
    place: &Place,
) -> Result<Option<usize>, ToolError> {
    let filled: Vec<usize> = (0..old.all.len()).filter(|at| is_filled(old.all[*at].text)).collect();
    let telling: Vec<usize> = filled.iter().copied().filter(|at| is_telling(old.all[*at].text)).collect();
    let mut wanted: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in &filled {
        wanted.entry(old.all[*at].text.trim_end_matches(is_blank)).or_default().push(*at);
    }
    // Each line of the file counts for the places where it would be one of those.
    let mut exact = vec![(0_u32, 0_u32); lines.all.len()];
    for (index, line) in lines.all.iter().enumerate() {
        effort.spend(line.text.len() + 8)?;
        let at = wanted.get(bare(line.text)).map_or(&[][..], Vec::as_slice);
        effort.spend(at.len())?;
        let says = u32::from(is_telling(line.text));
        for first in at.iter().filter_map(|at| index.checked_sub(*at)) {
            exact[first].0 += 1;
            exact[first].1 += says;
        }
    }
    let found = exact[place.first];
    if found.0 as usize == filled.len() {
        return Ok(None);
    }
    let others = || exact.iter().enumerate().filter(|(first, _)| *first != place.first);
    let most = |(_, (_, says)): &(usize, &(u32, u32))| *says > found.1 && *says as usize * 2 >= telling.len();
    if let Some((first, _)) = others().find(most) {
        return Ok(Some(first + 1));
    }
    let mut compared = 0;
    // One of them to the letter, and the rest alike and as deep, where the place that was found has none to the letter.
    for (first, (_, says)) in others() {
        if found.1 > 0 || *says == 0 || telling.len() < 2 || compared == MOST_COMPARED {
            continue;
        }
        effort.spend(filled.len())?;
        let mut is_like = true;
        for at in &telling {
            let (indent, asked) = split_indent(bare(old.all[*at].text));
            let Some((there, text)) = lines.all.get(first + at).map(|line| split_indent(bare(line.text)))
            else {
                is_like = false;
                break;
            };
            if (indent, asked) == (there, text) {
                continue;
            }
            compared += 1;
            effort.spend(text.len() + asked.len())?;
            is_like = indent == there && Pairs::of(asked).similarity(text) >= ALIKE_AMONG_OTHERS;
            if !is_like {
                break;
            }
        }
        if is_like {
            return Ok(Some(first + 1));
        }
    }
    // All but one line to the letter, and that one alike.
    for (first, (count, _)) in others().filter(|(_, (count, _))| *count >= found.0 || filled.len() == 1) {
        if *count as usize + 1 != filled.len() || compared == MOST_COMPARED {
            continue;
        }
        effort.spend(filled.len())?;
        let differs = |at: &&usize| {
            lines.all.get(first + **at).is_none_or(|line| bare(line.text) != bare(old.all[**at].text))
        };
        let Some(at) = filled.iter().find(differs) else { continue };
        let Some(line) = lines.all.get(first + at) else { continue };
        // Several lines to the letter and in one row, where the place that was found has few.
        let says = filled.iter().filter(|other| *other != at && has_letters(old.all[**other].text)).count();
        if filled.len() >= 3 && says >= 2 && *count > found.0 && found.0 as usize * 2 < filled.len() {
            return Ok(Some(first + 1));
        }
        // One that says something is to the letter there, and not at the place that was found.
        let is_there = |first: usize, at: usize| {
            lines.all.get(first + at).is_some_and(|line| bare(line.text) == bare(old.all[at].text))
        };
        effort.spend(filled.len() * 2)?;
        if telling.iter().any(|at| is_there(first, *at) && !is_there(place.first, *at)) {
            return Ok(Some(first + 1));
        }
        let (indent, asked) = split_indent(old.all[*at].text);
        let alike = if filled.len() > 1 { ALIKE_AMONG_OTHERS } else { ALIKE };
        if split_indent(line.text).0 == indent && is_telling(asked) {
            compared += 1;
            effort.spend(line.text.len() + asked.len())?;
            if Pairs::of(asked.trim_end()).similarity(split_indent(line.text).1.trim_end()) >= alike {
                return Ok(Some(first + 1));
            }
        }
    }
    Ok(None)
}

fn has_letters(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

/// A line without the blanks at its end.
fn bare(line: &str) -> &str {
    line.trim_end_matches(is_blank)
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
