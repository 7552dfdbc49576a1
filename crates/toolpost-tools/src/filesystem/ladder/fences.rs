//! A code fence that was put around the text.

use super::fold::Level;
use super::lines::{Lines, is_blank};
use super::{Effort, Found, Step, Stop, bare, one};

/// The place of the old text without the fence around it.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    let Some(bare_old) = inside(old) else { return Ok(Vec::new()) };
    // A fence of its own is taken off too; the new text may be empty between the two.
    let mut bare_new = inside(new).unwrap_or(new).to_owned();
    let ends = |text: &str| text.ends_with('\n');
    // The fence stands on a line of its own, so that the text before it always ends with a newline.
    if ends(bare_old) && !ends(&bare_new) && !bare_new.is_empty() {
        bare_new.push('\n');
    }
    // Nothing, or one blank line: both are written so. Nor is it told whether the newline before the fence belongs to a
    // blank line at the end.
    let is_open = bare_old.ends_with("\n\n") && !bare_new.ends_with("\n\n");
    if inside(new).is_some() && bare_new == "\n" || inside(new).is_none() && is_open {
        return Ok(Vec::new());
    }
    effort.spend(old.len() + new.len())?;
    let found = bare(effort, lines, bare_old, &bare_new, Step::CodeFences)?;
    if !found.is_empty() {
        return Ok(found);
    }
    one(effort, lines, bare_old, &bare_new, Level::Blanks, Step::CodeFences)
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
