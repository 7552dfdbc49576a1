//! Blank lines that were lost or added, between lines that are there.
//!
//! The texts are written again with the blank lines that the file has; then they are looked for like any other.

use super::fold::Level;
use super::lines::{Lines, is_blank, is_filled, is_telling};
use super::{Effort, Found, MOST_LISTED, Step, Stop, merge, one};
use crate::filesystem::sequence::Search;
use std::collections::HashMap;

const UNCLEAR: &str =
    "oldString has other blank lines than the file, and it is unclear which of them newString is to have";

/// The place of the old text, whatever blank lines it has.
pub(super) fn without(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &str,
    new: &str,
    step: Step,
) -> Result<Vec<Found>, Stop> {
    let (old, new) = (Spaced::of(old), Spaced::of(new));
    if old.lines.is_empty() {
        return Ok(Vec::new());
    }
    let compared = |old: &str, new: &str| {
        for level in [Level::Exact, Level::Trailing, Level::Indentation] {
            let found = one(effort, lines, old, new, level, step)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    };
    let places = places(effort, lines, &old)?;
    let [first] = places.as_slice() else {
        return match places.is_empty() {
            true => Ok(Vec::new()),
            false => Err(Stop::Ambiguous(places.iter().map(|first| first + 1).collect())),
        };
    };
    let runs = runs(lines, *first, old.lines.len());
    let there: Vec<usize> = runs
        .iter()
        .enumerate()
        .map(|(at, run)| if at == 0 || at == old.lines.len() { (*run).min(old.runs[at]) } else { *run })
        .collect();
    let differ = (0..there.len()).filter(|at| there[*at] != old.runs[*at]).count();
    if differ == 0 || differ > 1 + old.lines.len() / 5 {
        return Ok(Vec::new());
    }
    // After a newline, one line shows its own depth and not that of those which take its place.
    let is_one = there[0] != old.runs[0] && old.lines.len() == 1 && new.lines.len() > 1;
    if is_one || repeats_neighbour(lines, *first, &runs, &old, &new) {
        return Err(Stop::Doubt { line: first + 1, why: UNCLEAR });
    }
    if continues_edge(&old, &new, &runs) {
        return Err(Stop::Doubt { line: first + 1, why: UNCLEAR });
    }
    if let Some((old, new)) = without_edges(&old, &new, &runs) {
        return compared(&old.text(), &new.text());
    }
    // Where nothing but blank lines changes, these are what is meant.
    if is_swapped(&old, &new, &runs, &there) || old.lines == new.lines {
        return Err(Stop::Doubt { line: first + 1, why: UNCLEAR });
    }
    effort.spend(old.lines.len() * new.lines.len() * 2)?;
    let Some(new) = respaced(&old, &new, &there) else {
        return Err(Stop::Doubt { line: first + 1, why: UNCLEAR });
    };
    let old = Spaced { runs: there, ..old };
    compared(&old.text(), &new.text())
}

/// A text as its filled lines, and how many blank ones stand before each and behind the last.
#[derive(Debug, Clone)]
struct Spaced<'a> {
    lines: Vec<&'a str>,
    runs: Vec<usize>,
    ends_line: bool,
}

impl<'a> Spaced<'a> {
    fn of(text: &'a str) -> Spaced<'a> {
        let mut spaced =
            Spaced { lines: Vec::new(), runs: vec![0], ends_line: text.is_empty() || text.ends_with('\n') };
        for line in Lines::of(text).all {
            match is_filled(line.text) {
                true => {
                    spaced.lines.push(line.text);
                    spaced.runs.push(0);
                }
                // There is always a last run.
                false => *spaced.runs.last_mut().unwrap_or(&mut 0) += 1,
            }
        }
        spaced
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (at, run) in self.runs.iter().enumerate() {
            (0..*run).for_each(|_| text.push('\n'));
            if let Some(line) = self.lines.get(at) {
                text.push_str(line);
                text.push('\n');
            }
        }
        if !self.ends_line {
            text.pop();
        }
        text
    }
}

/// The indices of the lines of the file from which the filled lines of the old text follow each other, blank ones apart.
fn places(effort: &Effort, lines: &Lines<'_>, old: &Spaced<'_>) -> Result<Vec<usize>, Stop> {
    let mut numbers: HashMap<&str, u64> = HashMap::new();
    let wanted: Vec<u64> = old
        .lines
        .iter()
        .map(|line| {
            let next = numbers.len() as u64;
            *numbers.entry(line.trim_matches(is_blank)).or_insert(next)
        })
        .collect();
    let mut search = Search::new(&wanted);
    let (mut filled, mut found) = (Vec::new(), Vec::new());
    for (index, line) in lines.all.iter().enumerate().filter(|(_, line)| is_filled(line.text)) {
        effort.spend(line.text.len() + 8)?;
        filled.push(index);
        if search.ends_with(numbers.get(line.text.trim_matches(is_blank)).copied()) {
            found.push(filled[filled.len() - wanted.len()]);
            if found.len() == MOST_LISTED {
                break;
            }
        }
    }
    Ok(found)
}

/// How many blank lines the file has before each of the filled lines from one on, and behind the last.
fn runs(lines: &Lines<'_>, first: usize, count: usize) -> Vec<usize> {
    let before = lines.all[..first].iter().rev().take_while(|line| !is_filled(line.text)).count();
    let mut runs = vec![before];
    let mut at = first;
    for _ in 0..count {
        at += 1;
        let run =
            lines.all[at.min(lines.all.len())..].iter().take_while(|line| !is_filled(line.text)).count();
        runs.push(run);
        at += run;
    }
    runs
}

/// Both texts without the blank lines that they begin and end with alike, where the file has fewer: what stands around the
/// text stays as it is. None where there are no such lines, or where the file has other blank lines within the text.
fn without_edges<'a>(old: &Spaced<'a>, new: &Spaced<'a>, runs: &[usize]) -> Option<(Spaced<'a>, Spaced<'a>)> {
    let (last, new_last) = (old.lines.len(), new.lines.len());
    let is_inner_same = (1..last).all(|at| old.runs[at] == runs[at]);
    if !is_inner_same || new.lines.is_empty() {
        return None;
    }
    let (mut bare_old, mut bare_new) = (old.clone(), new.clone());
    for (at, new_at) in [(0, 0), (last, new_last)] {
        if old.runs[at] > runs[at] {
            if new.runs[new_at] != old.runs[at] {
                return None;
            }
            (bare_old.runs[at], bare_new.runs[new_at]) = (0, 0);
        }
    }
    Some((bare_old, bare_new))
}

/// Whether the old text begins or ends with more blank lines than the file has there, and the new one goes on behind them: what
/// stands there may belong behind the line that the file has next, such as the end of a block.
fn continues_edge(old: &Spaced<'_>, new: &Spaced<'_>, runs: &[usize]) -> bool {
    let trimmed = |line: &'_ str| line.trim_matches(is_blank).to_owned();
    let (last, new_last) = (old.lines.len(), new.lines.len());
    if new.lines.is_empty() {
        return false;
    }
    let goes_on = |kept: Option<usize>, is_kept_last: bool, gap: usize| match kept {
        Some(_) if is_kept_last => false,
        Some(_) => gap > 0,
        None => new.lines.len() > old.lines.len() && new.runs[1..new_last].iter().any(|run| *run > 0),
    };
    let (old_first, old_last) = (trimmed(old.lines[0]), trimmed(old.lines[last - 1]));
    let end = new.lines.iter().rposition(|line| trimmed(line) == old_last);
    let start = new.lines.iter().position(|line| trimmed(line) == old_first);
    let behind = goes_on(end, end == Some(new_last - 1), end.map_or(0, |end| new.runs[end + 1]));
    let before = goes_on(start, start == Some(0), start.map_or(0, |start| new.runs[start]));
    (old.runs[last] > runs[last] && behind) || (old.runs[0] > runs[0] && before)
}

/// Whether a blank line is missing on one side of a line and too many on the other: the two may have changed places. Around
/// the text that does not matter where the new one begins or ends with the same line.
fn is_swapped(old: &Spaced<'_>, new: &Spaced<'_>, runs: &[usize], there: &[usize]) -> bool {
    let trimmed = |line: Option<&&str>| line.map(|line| line.trim_matches(is_blank).to_owned());
    let begins_alike = trimmed(old.lines.first()) == trimmed(new.lines.first());
    let ends_alike = trimmed(old.lines.last()) == trimmed(new.lines.last());
    let last = runs.len() - 1;
    let run = |at: usize| match at {
        0 if begins_alike => there[0],
        at if at == last && ends_alike => there[last],
        at => runs[at],
    };
    let differ = |at: usize| there[at] != old.runs[at];
    (1..runs.len()).any(|at| {
        let is_more = |at: usize| run(at) > old.runs[at];
        let is_less = |at: usize| run(at) < old.runs[at];
        (differ(at - 1) || differ(at)) && (is_more(at - 1) && is_less(at) || is_less(at - 1) && is_more(at))
    })
}

/// Whether the new text adds a line that the file has right above or below the place: it may be one that is missing in the
/// old text.
fn repeats_neighbour(
    lines: &Lines<'_>,
    first: usize,
    runs: &[usize],
    old: &Spaced<'_>,
    new: &Spaced<'_>,
) -> bool {
    let behind = first + old.lines.len() + runs[1..].iter().sum::<usize>();
    let above = lines.all[..first].iter().rev().find(|line| is_filled(line.text));
    let below = lines.all[behind.min(lines.all.len())..].iter().find(|line| is_filled(line.text));
    let trimmed = |line: &'_ str| line.trim_matches(is_blank).to_owned();
    let count = |lines: &[&str], line: &str| lines.iter().filter(|other| trimmed(other) == line).count();
    // A bracket above is not one of those that end what is new.
    above.into_iter().filter(|line| is_telling(line.text)).chain(below).any(|line| {
        let line = trimmed(line.text);
        count(&new.lines, &line) > count(&old.lines, &line)
    })
}

/// The new text with the blank lines of the file where it has those of the old text; `None` where that is unclear.
fn respaced<'a>(old: &Spaced<'_>, new: &Spaced<'a>, there: &[usize]) -> Option<Spaced<'a>> {
    let key = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| line.trim_matches(is_blank).to_owned()).collect()
    };
    let (old_keys, new_keys) = (key(&old.lines), key(&new.lines));
    let [one, other] = [merge::from_start(&old_keys, &new_keys), merge::from_end(&old_keys, &new_keys)]
        .map(|ops| with_runs(old, new, there, &merge::kept(&ops).collect()));
    // Of lines that are alike, which one stays is not told by the text.
    one.filter(|one| other.is_some_and(|other| other.runs == one.runs))
}

/// The same where it is known which lines of the old text are which of the new one.
fn with_runs<'a>(
    old: &Spaced<'_>,
    new: &Spaced<'a>,
    there: &[usize],
    kept: &HashMap<usize, usize>,
) -> Option<Spaced<'a>> {
    // Before and behind it, the new text has what the old one has or what the file has.
    let is_outer = |run: usize, at: usize| [old.runs[at], there[at]].contains(&new.runs[run]);
    if !is_outer(0, 0) || !is_outer(new.lines.len(), old.lines.len()) {
        return None;
    }
    let mut spaced = new.clone();
    let (count, new_count) = (old.lines.len(), new.lines.len());
    for at in (0..=count).filter(|at| there[*at] != old.runs[*at]) {
        let (asked, there) = (old.runs[at], there[at]);
        // The run before a line is the run behind the one before it; the text begins and ends where the other does.
        let (behind, before) = match at {
            0 => (Some(0), Some(0)),
            at if at == count => (Some(new_count), Some(new_count)),
            at => (kept.get(&(at - 1)).map(|new| new + 1), kept.get(&at).copied()),
        };
        match (behind, before) {
            (Some(run), Some(before)) if run == before => match new.runs[run] {
                own if own == asked => spaced.runs[run] = there,
                // Around the text, blank lines that the file has may be those of the new text, or too many in it as well.
                own if own == there && (there == 0 || (at > 0 && at < count)) => {}
                _ => return None,
            },
            // One of the two lines is gone: its blank lines may be gone with it.
            (Some(run), None) | (None, Some(run)) if new.runs[run] == there => {}
            // Both are gone, and nothing that takes their place has a blank line.
            (None, None) if asked > there && is_without_blanks(kept, new, at) => {}
            // Or something new stands between the two: the run may be on either side of it.
            _ => return None,
        }
    }
    Some(spaced)
}

/// Whether the lines of the new text that take the place of two that are gone have no blank lines between them.
fn is_without_blanks(kept: &HashMap<usize, usize>, new: &Spaced<'_>, at: usize) -> bool {
    let above = kept.iter().filter(|(old, _)| **old < at).map(|(_, new)| *new + 1).max().unwrap_or(0);
    let below =
        kept.iter().filter(|(old, _)| **old > at).map(|(_, new)| *new).min().unwrap_or(new.lines.len());
    (above + 1..below).all(|run| new.runs[run] == 0)
}
