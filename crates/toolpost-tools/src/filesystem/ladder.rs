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
mod endings;
mod escapes;
mod fold;
mod indentation;
mod lines;
mod merge;
mod nearest;
mod places;
mod prefixes;
mod rivals;
mod suspicion;
#[cfg(test)]
mod tests;

use super::effort::Effort;
use fold::Level;
use lines::Lines;
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
    LinePrefixes,
    Escapes,
    AnchoredBlock,
}

impl Step {
    /// Every step, in the order in which they are tried.
    pub(crate) const ALL: [Step; 9] = [
        Step::Exact,
        Step::LineEndings,
        Step::TrailingWhitespace,
        Step::Indentation,
        Step::Blanks,
        Step::LookAlikes,
        Step::LinePrefixes,
        Step::Escapes,
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
            Step::LinePrefixes => "line-number prefixes",
            Step::Escapes => "over-escaped text",
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
    pub(crate) why: &'static str,
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
    let mut tried = Vec::new();
    let mut doubt = None;
    let ended = |step: Step, stop: Stop| match stop {
        Stop::Ambiguous(lines) => Err(Failure::Ambiguous { step, lines }),
        Stop::Effort(error) => Err(Failure::Stopped(error)),
        Stop::Doubt { line, why } => Ok(Doubt { step, line, why }),
    };
    let exact = [Step::Exact, Step::LineEndings];
    for step in exact.into_iter().filter(|_| !old.is_empty()) {
        tried.push(step);
        let found = match step {
            Step::Exact => endings::exact(effort, text, old, new, wanted),
            _ => endings::any_endings(effort, text, old, new, wanted),
        };
        match found {
            Ok(found) if found.is_empty() => {}
            Ok(found) => return Ok(found),
            Err(stop) => doubt = Some(ended(step, stop)?),
        }
    }
    if !is_comparable(text, old, new) {
        let already_applied = !new.trim().is_empty() && !old.contains(new) && text.contains(new);
        return Err(Failure::NoMatch { tried, nearest: Vec::new(), already_applied, doubt });
    }
    let lines = Lines::of(text);
    for step in Step::ALL.into_iter().filter(|step| *step > Step::LineEndings) {
        if old.is_empty() || wanted == Wanted::All || doubt.is_some() {
            break;
        }
        tried.push(step);
        match attempt(effort, &lines, old, new, step) {
            Ok(found) if found.is_empty() => {}
            Ok(found) => return Ok(found),
            Err(stop) => doubt = Some(ended(step, stop)?),
        }
    }
    let nearest = nearest::nearest(effort, &lines, old).map_err(Failure::Stopped)?;
    let already_applied = nearest::is_applied(text, old, new);
    Err(Failure::NoMatch { tried, nearest, already_applied, doubt })
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
    Doubt { line: usize, why: &'static str },
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
        Step::Indentation => match one(effort, lines, old, new, Level::Indentation, step)? {
            found if !found.is_empty() => Ok(found),
            _ => without_outer_blank_lines(effort, lines, old, new, step),
        },
        Step::Blanks => one(effort, lines, old, new, Level::Blanks, step),
        Step::LookAlikes => one(effort, lines, old, new, Level::LookAlikes, step),
        Step::LinePrefixes => prefixes::without(effort, lines, old, new),
        Step::Escapes => escapes::without(effort, lines, old, new),
        Step::AnchoredBlock => anchors::block(effort, lines, old, new),
    }
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
    let places = places::places(effort, lines, &whole, level)?;
    match places.as_slice() {
        [] => Ok(Vec::new()),
        [place] => {
            let rivals = rivals::rivals(effort, lines, old)?;
            if rivals.len() > 1 {
                return Err(Stop::Ambiguous(rivals));
            }
            if let Some(line) = rivals::closer(effort, lines, &whole, place)? {
                return Err(Stop::Ambiguous(vec![place.first + 1, line]));
            }
            let replacement = merge::replacement(effort, lines, place, &whole, &Lines::of(new), level)?
                .map_err(|why| Stop::Doubt { line: place.first + 1, why })?;
            Ok(vec![Found { range: place.start..place.end, replacement: replacement.into(), step }])
        }
        many => Err(Stop::Ambiguous(many.iter().map(|place| place.first + 1).collect())),
    }
}

/// Blank lines around a text that the file begins or ends with are overlooked: nothing else can be meant by them.
fn without_outer_blank_lines(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &str,
    new: &str,
    step: Step,
) -> Result<Vec<Found>, Stop> {
    let (old_head, old_body, old_tail) = lines::split_outer_blank_lines(old);
    if (old_head.is_empty() && old_tail.is_empty()) || old_body.is_empty() {
        return Ok(Vec::new());
    }
    let (new_head, new_body, new_tail) = lines::split_outer_blank_lines(new);
    // Only what the new text has as well, or leaves out where it replaces everything: anything else would change blank
    // lines unasked, or not change them where just that is meant.
    let has = |line: &str| new_body.lines().any(|new| new.trim() == line.trim());
    let is_all_new = !old_body.lines().filter(|line| !line.trim().is_empty()).any(has);
    let fits = |old: &str, new: &str| old == new || (new.is_empty() && is_all_new);
    if new_body.is_empty() || !fits(old_head, new_head) || !fits(old_tail, new_tail) {
        return Ok(Vec::new());
    }
    let mut found = one(effort, lines, old_body, new_body, Level::Indentation, step)?;
    found.retain(|found| {
        (old_head.is_empty() || found.range.start == 0)
            && (old_tail.is_empty() || found.range.end == lines.text.len())
    });
    Ok(found)
}
