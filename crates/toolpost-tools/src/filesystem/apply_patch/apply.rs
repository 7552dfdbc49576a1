//! The hunks of one file, applied to its text, or refused with what is needed to send them again. No files here.

use super::lines::{Breaks, Line, Lines};
use super::parse::shown;
use super::patch::Hunk;
use super::place::{self, Before, Miss, Piece, Placed};
use crate::filesystem::effort::Effort;
use crate::filesystem::ladder::{Failure, Near, Step};
use std::ops::Range;
use toolpost_core::{Code, ToolError};

const BOM: char = '\u{feff}';
/// So many places are named in a message.
const SHOWN_PLACES: usize = 10;

/// Maximum number of lines of a file that is patched.
const MOST_LINES: usize = 2_000_000;
/// Maximum number of lines that a header is compared with, to name those that are like it.
const MOST_COMPARED: usize = 20_000;
/// Maximum number of comparisons that are made to see whether a hunk is applied already.
const MOST_GLANCED: usize = 50_000_000;

/// A text with the hunks applied, and the most forgiving step that was needed.
#[derive(Debug)]
pub(super) struct Applied {
    pub(super) text: String,
    pub(super) step: Step,
}

/// Applies all hunks, or none. `name` is for messages.
pub(super) fn apply(effort: &Effort, name: &str, text: &str, hunks: &[Hunk]) -> Result<Applied, ToolError> {
    effort.spend(text.len())?;
    let lines = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).count();
    if lines > MOST_LINES {
        return Err(ToolError::new(
            Code::TooLarge,
            format!("`{name}` has {lines} lines; a file of at most {MOST_LINES} is patched: use a command"),
        )
        .with("path", name)
        .with("lines", lines));
    }
    // A diff of a file with a byte order mark shows it in the first line, and may move it or take it away. A patch that
    // does not show it leaves it alone.
    let shows_mark = |hunk: &Hunk| hunk.old().next().is_some_and(|line| line.text.starts_with(BOM));
    let body = match text.strip_prefix(BOM) {
        Some(body) if !hunks.iter().any(shows_mark) => body,
        _ => text,
    };
    let mark = &text[..text.len() - body.len()];
    let first = apply_to(effort, name, &Lines::of(body, Breaks::Newlines), hunks);
    let applied = match first {
        Err(_) if has_lone_return(body) => {
            apply_to(effort, name, &Lines::of(body, Breaks::Returns), hunks).or(first)?
        }
        first => first?,
    };
    // A new first line may have a mark of its own.
    let bare = if mark.is_empty() { &*applied.text } else { applied.text.trim_start_matches(BOM) };
    Ok(Applied { text: format!("{mark}{bare}"), step: applied.step })
}

fn has_lone_return(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'))
}

fn apply_to(effort: &Effort, name: &str, file: &Lines<'_>, hunks: &[Hunk]) -> Result<Applied, ToolError> {
    let mut placed: Vec<Placed> = Vec::with_capacity(hunks.len());
    let mut taken: Vec<Range<usize>> = Vec::with_capacity(hunks.len());
    let mut changed: Vec<Range<usize>> = Vec::with_capacity(hunks.len());
    let (mut drift, mut is_as_named, mut is_shown) = (0, true, false);
    // Where new lines without context go is told by the numbers, if the other hunks show that these are right.
    let is_by_number = |hunk: &Hunk| hunk.old().next().is_none() && hunk.old_start.is_some() && !hunk.at_end;
    let (later, first): (Vec<usize>, Vec<usize>) =
        (0..hunks.len()).partition(|index| is_by_number(&hunks[*index]));
    for index in first.into_iter().chain(later) {
        let hunk = &hunks[index];
        let before = Before {
            taken: &taken,
            changed: &changed,
            drift,
            is_as_named: is_shown && is_as_named,
            is_last: index + 1 == hunks.len(),
        };
        let found = place::place(effort, file, hunk, &before)
            .map_err(|miss| refusal(name, file, index + 1, hunk, &miss))?;
        if let Some(start) = hunk.old_start {
            let start = start.saturating_sub(1);
            let signed = |number: usize| isize::try_from(number).unwrap_or(isize::MAX);
            // Of no lines, the header names the one before them.
            let start = if hunk.old().next().is_none() { start + 1 } else { start };
            drift = signed(found.lines.start).saturating_sub(signed(start));
        }
        is_as_named &= drift == 0 && hunk.old_start.is_some() && found.step == Step::Exact;
        is_shown |= hunk.old().next().is_some();
        taken.push(found.lines.clone());
        let core = found.in_endings_of(file).core();
        changed.push(core.lines.clone());
        placed.push(core);
    }
    let step = placed.iter().map(|placed| placed.step).max().unwrap_or(Step::Exact);
    // Several at the end of the file stay in their order.
    placed.sort_by_key(|placed| (placed.lines.start, placed.lines.end));
    Ok(Applied { text: assemble(file, &placed), step })
}

/// One line of the new text.
struct Out<'a> {
    text: &'a str,
    ending: &'a str,
    is_new: bool,
}

fn assemble<'a>(file: &Lines<'a>, placed: &'a [Placed]) -> String {
    let keep = |at: usize| Out { text: file.all[at].text, ending: file.all[at].ending, is_new: false };
    let mut out: Vec<Out<'_>> = Vec::with_capacity(file.len());
    let mut next = 0;
    for hunk in placed {
        out.extend((next..hunk.lines.start).map(keep));
        next = hunk.lines.end;
        for piece in &hunk.pieces {
            out.push(match piece {
                Piece::Keep(at) => keep(*at),
                Piece::Put(text, ending) => Out { text, ending: ending.unwrap_or(file.ending), is_new: true },
            });
        }
    }
    out.extend((next..file.len()).map(keep));
    let count = out.len();
    // What was the last line, without an ending, may now be followed by others.
    for line in out.iter_mut().take(count.saturating_sub(1)).filter(|line| line.ending.is_empty()) {
        line.ending = file.ending;
    }
    let at_end = placed.iter().rfind(|hunk| hunk.lines.end == file.len());
    if let (Some(last), Some(hunk)) = (out.last_mut(), at_end) {
        let was_unended = file.all.last().is_some_and(|line| line.ending.is_empty());
        if hunk.new_unended || (last.is_new && was_unended && !hunk.old_unended) {
            last.ending = "";
        }
    }
    out.iter().flat_map(|line| [line.text, line.ending]).collect()
}

fn refusal(name: &str, file: &Lines<'_>, number: usize, hunk: &Hunk, miss: &Miss) -> ToolError {
    let what = format!("`{name}`, hunk {number} (line {} of the patch)", hunk.line);
    let error = match miss {
        Miss::Header(index) => no_header(&what, file, hunk, *index),
        Miss::NoContext => {
            let named = match (hunk.headers.last(), hunk.old_start) {
                (Some(header), _) => format!(
                    "it has only new lines, and its header {} does not say how far below that line they go",
                    shown(&header.text)
                ),
                (None, Some(line)) => format!(
                    "it has only new lines, and only the number {line} in its header says where they go, which nothing \
                     in the patch shows to be right"
                ),
                (None, None) => "it has only new lines, which go to the end of the file in the last hunk alone, and nothing \
                                 says where these go"
                    .to_owned(),
            };
            ToolError::new(
                Code::NoMatch,
                format!(
                    "{what}: {named}; put a line of the file that stands next to them into the hunk, behind a space, or, if \
                     they go to the end of the file, `*** End of File` below them"
                ),
            )
        }
        Miss::Ambiguous(step, lines) => ambiguous(&what, *step, lines),
        Miss::Named { fits, named } => ToolError::new(
            Code::NoMatch,
            format!(
                "{what}: its lines are at line {fits}, but its header names line {named}, where all but a few of them are: \
                 that may be what is meant, and have changed; read the lines from {named} on, and send the hunk with the \
                 lines and the number of the one that is meant"
            ),
        )
        .with("lines", vec![*named, *fits]),
        Miss::Applied(line) => ToolError::new(
            Code::NoMatch,
            format!(
                "{what}: its new lines are there already, from line {line} on; leave the hunk out, or, if it is meant for \
                 another place, name that by a line above it as `@@ that line`"
            ),
        )
        .with("alreadyApplied", true),
        Miss::Nowhere(failure, from) => no_match(&what, file, hunk, failure, *from),
        Miss::Stopped(error) => return error.clone().with("path", name),
    };
    error.with("path", name).with("hunk", number).with("patchLine", hunk.line)
}

fn no_header(what: &str, file: &Lines<'_>, hunk: &Hunk, index: usize) -> ToolError {
    let header = &hunk.headers[index];
    let texts = file.all.iter().map(|line| line.text.trim()).filter(|text| !text.is_empty());
    let texts = texts.take(MOST_COMPARED);
    let near = toolpost_core::text::nearest(&header.text, texts, 3);
    let near = match near.is_empty() {
        true => String::new(),
        false => {
            format!("; nearest: {}", near.iter().map(|line| shown(line)).collect::<Vec<_>>().join(", "))
        }
    };
    let below = if index > 0 { ", below the header before it" } else { "" };
    ToolError::new(
        Code::NoMatch,
        format!(
            "{what}: no line of the file is the header {} (line {} of the patch){below}{near}; \
             copy a line that stands above the change, or leave the header out and give more context",
            shown(&header.text),
            header.line
        ),
    )
}

fn ambiguous(what: &str, step: Step, lines: &[usize]) -> ToolError {
    let named: Vec<String> = lines.iter().take(SHOWN_PLACES).map(ToString::to_string).collect();
    let more = match lines.len().saturating_sub(SHOWN_PLACES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let step_note = if step == Step::Exact { String::new() } else { format!(" ({step})") };
    ToolError::new(
        Code::AmbiguousMatch,
        format!(
            "{what}: it fits at lines {}{more}{step_note}; give more lines of context, \
             or the line it stands below as `@@ that line`",
            named.join(", ")
        ),
    )
    .with("step", step.word())
    .with("lines", lines.to_vec())
}

fn no_match(what: &str, file: &Lines<'_>, hunk: &Hunk, failure: &Failure, from: usize) -> ToolError {
    let Failure::NoMatch { tried, nearest, doubt, .. } = failure else {
        return ToolError::new(
            Code::NoMatch,
            format!("{what}: its lines are not in the file; read it again"),
        );
    };
    let tried: Vec<&str> = tried.iter().map(|step| step.word()).collect();
    if is_applied(file, hunk) {
        let error = ToolError::new(
            Code::NoMatch,
            format!("{what}: its new lines are there already; leave the hunk out"),
        );
        return error.with("alreadyApplied", true).with("tried", tried);
    }
    let mut message = format!("{what}: its old lines are not in the file");
    if from > 0 {
        message.push_str(&format!(" from line {} on", from + 1));
    }
    if let Some(doubt) = doubt {
        message.push_str(&format!(
            "; line {} fits but for {}, and what the new text would be there is in doubt: {}",
            doubt.line + from,
            doubt.step,
            doubt.why
        ));
    }
    match nearest.first() {
        Some(near) => message.push_str(&nearest_place(near, hunk, from)),
        None => message.push_str("; nothing in it is like them: read it again and copy its lines"),
    }
    let places: Vec<serde_json::Value> = nearest
        .iter()
        .map(|near| {
            serde_json::json!({
                "line": near.line + from,
                "similarity": near.similarity,
                "divergingLine": near.diverging_line + from,
                "expected": near.expected,
                "found": near.found,
                "text": near.around,
                "textLine": near.around_line + from,
            })
        })
        .collect();
    ToolError::new(Code::NoMatch, message).with("tried", tried).with("nearest", places)
}

fn nearest_place(near: &Near, hunk: &Hunk, from: usize) -> String {
    let in_patch = hunk.old().find(|line| line.text.trim_end() == near.expected.trim_end());
    let in_patch = in_patch.map_or_else(String::new, |line| format!(" (line {} of the patch)", line.line));
    let first = near.around_line + from;
    let numbered: String = near
        .around
        .lines()
        .enumerate()
        .map(|(index, line)| {
            let line: String = line.chars().take(500).collect();
            format!("\n{}: {line}", first + index)
        })
        .collect();
    format!(
        "; nearest is line {}, where line {} differs: the patch has {}{in_patch}, the file {}; \
         send the hunk with the lines of the file, which are{numbered}",
        near.line + from,
        near.diverging_line + from,
        shown(&near.expected),
        shown(&near.found),
    )
}

/// Whether the new lines stand in the file, whatever the blanks around each.
fn is_applied(file: &Lines<'_>, hunk: &Hunk) -> bool {
    let new: Vec<&str> = hunk.new_lines().map(|line| line.text.trim()).collect();
    let has_new = hunk.lines.iter().any(|line| !line.is_old() && !line.text.trim().is_empty());
    let is_there = |lines: &[Line<'_>]| lines.iter().map(|line| line.text.trim()).eq(new.iter().copied());
    // Only a hint, so the search is limited.
    let is_short = file.len().saturating_mul(new.len()) < MOST_GLANCED;
    has_new && is_short && file.all.windows(new.len()).any(is_there)
}

#[cfg(test)]
mod tests;
