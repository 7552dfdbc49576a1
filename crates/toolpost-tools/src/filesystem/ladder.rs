//! Where in a text an edit is meant: exact first, then a fixed ladder of ever more forgiving comparisons.
//!
//! Pure: no files, no errors for models. An edit at another place than the one meant is the one thing that must never
//! happen, so beyond the exact steps a place counts only if
//!
//! - it is whole lines: a part of a line is there to the letter or not at all;
//! - it is the only one at its own step, and the only one under the loosest reading of all, at every offset of the file
//!   ([`rivals`]);
//! - nowhere else is more of the old text to the letter: that may be what is meant, and have changed;
//! - it is plain what the new text has to become there ([`merge`]).
//!
//! Everything else is a [`Failure`] with what is needed to ask again.

mod anchors;
mod applied;
mod blank_lines;
mod edges;
mod endings;
mod entities;
mod escapes;
mod fences;
mod fold;
mod further;
mod indentation;
mod lines;
mod literals;
mod merge;
mod nearest;
mod places;
mod prefixes;
mod rivals;
mod stray;
mod suspicion;
#[cfg(test)]
mod tests;
mod undoing;

pub(crate) use undoing::{without_code_points, without_colours};

pub(crate) use entities::{has_plain, kinds as entity_kinds, plain as without_entities};

use super::canonical;
use super::effort::Effort;
use applied::Applied;
use fold::Level;
use lines::Lines;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use toolpost_core::ToolError;

/// How many places are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Exactly one; more are ambiguous.
    One,
    /// Every one, compared exactly but for line endings.
    All,
}

/// A rung of the ladder: what was overlooked to find the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Exact,
    LineEndings,
    TrailingWhitespace,
    Indentation,
    Blanks,
    LookAlikes,
    BlankLines,
    LinePrefixes,
    Escapes,
    CodeFences,
    Wrapping,
    AnchoredBlock,
}

impl Step {
    /// Every step, in the order in which they are tried.
    pub(crate) const ALL: [Step; 12] = [
        Step::Exact,
        Step::LineEndings,
        Step::TrailingWhitespace,
        Step::Indentation,
        Step::Blanks,
        Step::LookAlikes,
        Step::BlankLines,
        Step::LinePrefixes,
        Step::Escapes,
        Step::CodeFences,
        Step::Wrapping,
        Step::AnchoredBlock,
    ];

    /// The word for it, in messages and data.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Step::Exact => "exact",
            Step::LineEndings => "line endings",
            Step::TrailingWhitespace => "trailing whitespace",
            Step::Indentation => "indentation",
            Step::Blanks => "blanks within lines",
            Step::LookAlikes => "look-alike characters",
            Step::BlankLines => "blank lines",
            Step::LinePrefixes => "line-number prefixes",
            Step::Escapes => "over-escaped text",
            Step::CodeFences => "code fences",
            Step::Wrapping => "wrapping",
            Step::AnchoredBlock => "anchored block",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One place, and what is to stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Bytes of the text that are replaced.
    pub(crate) range: Range<usize>,
    /// The new text, in the line endings, indentation and characters of the place.
    pub(crate) replacement: Arc<str>,
    /// How it was found.
    pub(crate) step: Step,
}

/// Why there is no place to use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// Nothing is like it, or what is like it could not be used safely.
    NoMatch {
        /// The steps that were tried.
        tried: Vec<Step>,
        /// The most similar places, best first, three at most.
        nearest: Vec<Near>,
        /// Whether the new text is there already.
        already_applied: bool,
        /// The line on which it is, counting from 1, where that is why nothing is done.
        applied_at: Option<usize>,
        /// Why the one place that was found was not used.
        doubt: Option<Doubt>,
    },
    /// More than one place fits equally well.
    Ambiguous {
        /// The step that found them.
        step: Step,
        /// The lines on which they begin, counting from 1: the first [`MOST_LISTED`] at most.
        lines: Vec<usize>,
    },
    /// The call has ended, or has taken too many steps.
    Stopped(ToolError),
}

impl Failure {
    /// The same with the places that are like the old text in what is shown of the text.
    pub(crate) fn of(self, effort: &Effort, shown: &str, old: &str) -> Failure {
        match self {
            Failure::NoMatch { tried, nearest, already_applied, applied_at, doubt }
                if !nearest.is_empty() =>
            {
                let nearest = nearest::nearest(effort, &Lines::of(shown), old).unwrap_or_default();
                Failure::NoMatch { tried, nearest, already_applied, applied_at, doubt }
            }
            failure => failure,
        }
    }
}

/// Maximum number of places that are looked for where one is wanted.
pub(crate) const MOST_LISTED: usize = 1_000;
/// Maximum number of places that are replaced at once.
const MOST_REPLACED: usize = 2_000_000;
/// Maximum number of bytes that a text may have after all of them are replaced.
const MOST_BYTES: usize = 50_000_000;
/// Larger texts are compared exactly only: what is overlooked costs many passes, and an edit of more lines than this is
/// a new file.
const TOLERANT_TEXT: usize = 16 << 20;
const TOLERANT_EDIT: usize = 256 << 10;
const TOLERANT_LINES: usize = 1_000;

/// One place fits, but what the new text has to become there cannot be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// The step that found the place.
    pub(crate) step: Step,
    /// The line on which it begins, counting from 1.
    pub(crate) line: usize,
    /// What is in doubt.
    pub(crate) why: Cow<'static, str>,
}

/// A place that is similar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Near {
    /// Its first line, counting from 1.
    pub(crate) line: usize,
    /// From 0 to 1.
    pub(crate) similarity: f64,
    /// The first line that differs, counting from 1.
    pub(crate) diverging_line: usize,
    /// What was asked for there.
    pub(crate) expected: String,
    /// What is there.
    pub(crate) found: String,
    /// The place and a few lines around it, as they are; the first of them is `around_line`.
    pub(crate) around: String,
    /// The number of the first line of `around`.
    pub(crate) around_line: usize,
}

/// What is said of an exact place that begins or ends within a word or a number.
pub(crate) fn cut_word(text: &str, found: &Found) -> Option<String> {
    let what = match edges::cuts(text, &found.range) {
        _ if found.step != Step::Exact || found.range.is_empty() => return None,
        (false, false) => return None,
        (true, false) => "begins",
        (false, true) => "ends",
        (true, true) => "begins and ends",
    };
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..found.range.start]).map_or(0, |at| at + 1);
    let number = memchr::memchr_iter(b'\n', &text.as_bytes()[..start]).count() + 1;
    Some(format!("the match {what} inside a word, on line {number}"))
}

/// Finds where `old` is meant in `text` and what to put there.
///
/// An empty `old` is found nowhere. The ranges come in order and do not overlap.
pub(crate) fn find(
    effort: &Effort,
    text: &str,
    old: &str,
    new: &str,
    wanted: Wanted,
) -> Result<Vec<Found>, Failure> {
    if let Some((bare_old, bare_new)) = stray::without(text, old, new) {
        let found = find(effort, text, &bare_old, &bare_new, wanted)?;
        return Ok(found
            .into_iter()
            .map(|found| Found { step: found.step.max(Step::Wrapping), ..found })
            .collect());
    }
    let mut tried = Vec::new();
    let mut doubt = None;
    let ended = |step: Step, stop: Stop| match stop {
        Stop::Ambiguous(lines) => Err(Failure::Ambiguous { step, lines }),
        Stop::Effort(error) => Err(Failure::Stopped(error)),
        Stop::Doubt { line, why } => Ok(Doubt { step, line, why: why.into() }),
        Stop::Elsewhere { line, changed } => {
            let why =
                format!("line {changed} is more like it, so that may be what is meant, and have changed");
            Ok(Doubt { step, line, why: why.into() })
        }
    };
    let exact = [Step::Exact, Step::LineEndings];
    for step in exact.into_iter().filter(|_| !old.is_empty()) {
        tried.push(step);
        let found = match step {
            Step::Exact => endings::exact(effort, text, old, new, wanted),
            _ => endings::any_endings(effort, text, old, new, wanted)
                .map(|found| endings::ended(text, old, new, found)),
        };
        let found = match found {
            Ok(found) if wanted == Wanted::One => edges::settled(effort, text, old, new, found),
            found => found,
        };
        match found {
            Ok(found) if found.is_empty() => {}
            Ok(found) => return Ok(found),
            Err(stop) => {
                doubt = Some(ended(step, stop)?);
                break;
            }
        }
    }
    if !is_comparable(text, old, new) {
        let already_applied = !new.trim().is_empty() && !old.contains(new) && text.contains(new);
        return Err(Failure::NoMatch {
            tried,
            nearest: Vec::new(),
            already_applied,
            applied_at: None,
            doubt,
        });
    }
    effort
        .spend(old.len() + new.len() + if old.is_ascii() { 0 } else { text.len() })
        .map_err(Failure::Stopped)?;
    if let Some((old, new)) = canonical::in_form_of(text, old, new).filter(|_| doubt.is_none()) {
        let found = find(effort, text, &old, &new, wanted)?;
        return Ok(found
            .into_iter()
            .map(|found| Found { step: found.step.max(Step::LookAlikes), ..found })
            .collect());
    }
    let lines = Lines::of(text);
    let mut applied_at = None;
    // What was found by overlooking something, unless the edit was made before.
    let mut checked = |found: Vec<Found>| -> Result<Vec<Found>, Failure> {
        let [one] = found.as_slice() else { return Ok(found) };
        let applied = Applied::find(effort, &lines, old, new).map_err(Failure::Stopped)?;
        applied_at = applied.and_then(|applied| applied.repeated_at(&lines, &one.range));
        Ok(if applied_at.is_some() { Vec::new() } else { found })
    };
    let mut is_over = old.is_empty() || wanted == Wanted::All || doubt.is_some();
    if !is_over {
        match undoing::without(effort, &lines, old, new) {
            Ok(found) if found.is_empty() => {}
            Ok(found) => match checked(found)? {
                found if found.is_empty() => is_over = true,
                found => return Ok(found),
            },
            Err((step, stop)) => doubt = Some(ended(step, stop)?),
        }
    }
    for step in Step::ALL.into_iter().filter(|step| *step > Step::LineEndings) {
        if is_over || doubt.is_some() {
            break;
        }
        tried.push(step);
        match attempt(effort, &lines, old, new, step) {
            Ok(found) if found.is_empty() => {}
            Ok(found) => match checked(found)? {
                found if found.is_empty() => is_over = true,
                found => return Ok(found),
            },
            Err(stop) => doubt = Some(ended(step, stop)?),
        }
    }
    let nearest = nearest::nearest(effort, &lines, old).map_err(Failure::Stopped)?;
    let already_applied = applied_at.is_some() || nearest::is_applied(text, old, new);
    Err(Failure::NoMatch { tried, nearest, already_applied, applied_at, doubt })
}

/// Whether a text and an edit are small enough to be compared by overlooking something.
pub(crate) fn is_comparable(text: &str, old: &str, new: &str) -> bool {
    let is_small = |edit: &str| {
        edit.len() <= TOLERANT_EDIT && memchr::memchr_iter(b'\n', edit.as_bytes()).count() <= TOLERANT_LINES
    };
    text.len() <= TOLERANT_TEXT && is_small(old) && is_small(new)
}

/// What ends the climb.
enum Stop {
    Ambiguous(Vec<usize>),
    /// The lines are at a place, counting from 1, but what they are to become is unclear.
    Doubt {
        line: usize,
        why: &'static str,
    },
    /// The lines are at a place but for what is overlooked, and nearly to the letter at another one.
    Elsewhere {
        line: usize,
        changed: usize,
    },
    Effort(ToolError),
}

impl From<ToolError> for Stop {
    fn from(error: ToolError) -> Stop {
        Stop::Effort(error)
    }
}

fn attempt(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str, step: Step) -> Result<Vec<Found>, Stop> {
    match step {
        // Tried before, on the text itself.
        Step::Exact | Step::LineEndings => Ok(Vec::new()),
        Step::TrailingWhitespace => one(effort, lines, old, new, Level::Trailing, step),
        Step::Indentation => one(effort, lines, old, new, Level::Indentation, step),
        Step::Blanks => one(effort, lines, old, new, Level::Blanks, step),
        Step::LookAlikes => one(effort, lines, old, new, Level::LookAlikes, step),
        Step::BlankLines => blank_lines::without(effort, lines, old, new, step),
        Step::LinePrefixes => prefixes::without(effort, lines, old, new),
        Step::Escapes => match escapes::without(effort, lines, old, new)? {
            found if !found.is_empty() => Ok(found),
            _ => entities::without(effort, lines, old, new),
        },
        Step::CodeFences => fences::without(effort, lines, old, new),
        // Undone before anything was overlooked.
        Step::Wrapping => Ok(Vec::new()),
        Step::AnchoredBlock => anchors::block(effort, lines, old, new),
    }
}

/// The one place of whole lines, as they are or but for blanks around them, for texts that something was taken off.
fn bare(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str, step: Step) -> Result<Vec<Found>, Stop> {
    for level in [Level::Exact, Level::Trailing, Level::Indentation] {
        let found = one(effort, lines, old, new, level, step)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    blank_lines::without(effort, lines, old, new, step)
}

/// The one place at a level, with its replacement.
fn one(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &str,
    new: &str,
    level: Level,
    step: Step,
) -> Result<Vec<Found>, Stop> {
    let whole = Lines::of(old);
    let all = places::places(effort, lines, &whole, level)?;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let (place, others) = match rivals::only(lines, &whole, &all) {
        Some(place) => (place, rivals::rivals(effort, lines, &whole, place)?),
        None => return Err(Stop::Ambiguous(all.iter().map(|place| place.first + 1).collect())),
    };
    if !others.is_empty() {
        let mut lines = vec![place.first + 1];
        lines.extend(others);
        lines.sort_unstable();
        return Err(Stop::Ambiguous(lines));
    }
    if let Some(line) = rivals::closer(effort, lines, &whole, place)? {
        return Err(Stop::Elsewhere { line: place.first + 1, changed: line });
    }
    let replacement = merge::replacement(effort, lines, place, &whole, &Lines::of(new), level)?
        .map_err(|why| Stop::Doubt { line: place.first + 1, why })?;
    Ok(vec![Found { range: place.start..place.end, replacement: replacement.into(), step }])
}
