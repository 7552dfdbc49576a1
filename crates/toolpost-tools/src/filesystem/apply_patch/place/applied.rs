//! Whether a hunk was applied before: its new lines are there already, at its place or at the one that is meant.

use super::super::lines::{Lines, key};
use super::super::patch::{Hunk, HunkLine};
use super::{Before, MOST_PLACES, Miss, Placed};
use crate::filesystem::effort::Effort;
use crate::filesystem::ladder::Step;

/// New lines of so many lines that say something, or of so many letters, are at another place only if the hunk was
/// applied there.
const TELLING_LINES: usize = 3;
const TELLING_CHARACTERS: usize = 48;

/// Fails where a hunk that has a place would be applied for the second time.
pub(super) fn check(
    effort: &Effort,
    file: &Lines<'_>,
    hunk: &Hunk,
    placed: &Placed,
    before: &Before<'_>,
) -> Result<(), Miss> {
    let new: Vec<&str> = hunk.new_lines().map(|line| line.text.trim()).collect();
    // What only changes blanks is there already in this sense, and still has to be done.
    let old: Vec<&str> = hunk.old().map(|line| line.text.trim()).collect();
    let comes = |line: &&HunkLine| !line.is_old() && !line.text.trim().is_empty();
    if !hunk.lines.iter().any(|line| comes(&line)) || new.len() > file.len() || old == new {
        return Ok(());
    }
    effort.spend(new.len() * 8)?;
    let is_at = |first: usize| {
        file.all
            .get(first..first + new.len())
            .is_some_and(|lines| lines.iter().map(|line| line.text.trim()).eq(new.iter().copied()))
    };
    let first = placed.lines.start;
    // New lines right below a place that shows nothing below them.
    let is_open =
        hunk.lines.last().is_some_and(|line| !line.is_old()) && hunk.lines.iter().all(HunkLine::is_new);
    if is_open && is_at(first) {
        return Err(Miss::Applied(first + 1));
    }
    let is_telling = |line: &&&str| line.chars().filter(|one| one.is_alphanumeric()).nth(2).is_some();
    let characters: usize =
        new.iter().map(|line| line.chars().filter(|one| one.is_alphanumeric()).count()).sum();
    let is_long = new.iter().filter(is_telling).count() >= TELLING_LINES && characters >= TELLING_CHARACTERS;
    let named = before.expected(hunk);
    if named == Some(first) || (placed.step == Step::Exact && !is_long && named.is_none()) {
        return Ok(());
    }
    let overlaps = |at: usize| at < placed.lines.end && placed.lines.start < at + new.len();
    let is_meant = |at: &usize| match named {
        Some(named) => {
            *at == named || overlaps(*at) || (is_long && at.abs_diff(named) < first.abs_diff(named))
        }
        None => is_long || (placed.step > Step::LineEndings && overlaps(*at)),
    };
    // Around the place whatever the blanks, and elsewhere where the longest line is to the letter.
    let lines: Vec<&HunkLine> = hunk.new_lines().collect();
    let longest = (0..new.len()).max_by_key(|at| new[*at].len()).unwrap_or(0);
    let places = file.bare().places.get(&key(&lines[longest].text, false)).map_or(&[][..], Vec::as_slice);
    let elsewhere =
        places.iter().take(MOST_PLACES).filter_map(|place| (*place as usize).checked_sub(longest));
    let around = first.saturating_sub(new.len())..placed.lines.end;
    effort.spend((placed.lines.end - around.start + places.len().min(MOST_PLACES)) * 8)?;
    match around.chain(elsewhere).filter(|at| is_at(*at)).find(is_meant) {
        Some(at) => Err(Miss::Applied(at + 1)),
        None => Ok(()),
    }
}
