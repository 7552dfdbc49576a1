//! A code fence that was put around the text.

use super::fold::Level;
use super::lines::{Lines, is_blank};
use super::{Effort, Found, Step, Stop, bare, one};

const SEVERAL: &str =
    "newString has several code fences, so it is unclear what of it is to stand in the file";

/// The place of the old text without the fence around it.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    let Some(bare_old) = inside(old) else { return Ok(Vec::new()) };
    // A fence of its own is taken off too; the new text may be empty between the two.
    let (bare_old, bare_new) = match inside(new) {
        // Nothing, or one blank line: both are written so.
        Some("\n") => return Ok(Vec::new()),
        Some(bare_new) => (bare_old, bare_new),
        // The fence stands on a line of its own, so that the newline before it is not a part of the text. Where the new
        // text ends with other newlines than the old one, it is unclear whether one of them is a blank line.
        None => {
            let bare_old = bare_old.strip_suffix('\n').unwrap_or(bare_old);
            let newlines = |text: &str| text.len() - text.trim_end_matches('\n').len();
            if new.is_empty() || newlines(bare_old) != newlines(new) {
                return Ok(Vec::new());
            }
            (bare_old, new)
        }
    };
    effort.spend(old.len() + new.len())?;
    let found = bare(effort, lines, bare_old, bare_new, Step::CodeFences)?;
    let found = match found.is_empty() {
        true => one(effort, lines, bare_old, bare_new, Level::Blanks, Step::CodeFences)?,
        false => found,
    };
    match found.first() {
        // Several blocks, and perhaps what is said between them.
        Some(first) if has_fence(bare_new) && !has_fence(bare_old) => {
            Err(Stop::Doubt { line: lines.at(first.range.start) + 1, why: SEVERAL })
        }
        _ => Ok(found),
    }
}

/// Whether a line of a text begins or ends a block of code.
fn has_fence(text: &str) -> bool {
    text.lines()
        .any(|line| ["```", "~~~"].iter().any(|fence| line.trim_start_matches(is_blank).starts_with(fence)))
}

/// What stands between two fences, one at the beginning and one at the end.
fn inside(text: &str) -> Option<&str> {
    let lines = Lines::of(text);
    let is_blank_line = |text: &str| text.trim_matches(is_blank).is_empty();
    let first = lines.all.iter().position(|line| !is_blank_line(line.text))?;
    let last = lines.all.iter().rposition(|line| !is_blank_line(line.text))?;
    let (open, close) = (lines.all[first].text.trim(), lines.all[last].text.trim());
    let fence = ["```", "~~~"].into_iter().find(|fence| open.starts_with(fence))?;
    let width = open.len() - open.trim_start_matches(&fence[..1]).len();
    let is_language = |text: &str| !text.contains(|one: char| one.is_whitespace() || one == '`');
    let is_fence = last > first && is_language(&open[width..]) && close == &open[..width];
    is_fence.then(|| &text[lines.all[first].end()..lines.all[last].start])
}
