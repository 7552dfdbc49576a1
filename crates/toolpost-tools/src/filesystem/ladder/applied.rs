//! Whether an edit whose old text is not there exactly was made before: its new text is there, whatever the blanks.
//!
//! What is made twice is doubled, or another place that is like the first one is changed.

use super::Effort;
use super::lines::{Lines, is_filled, is_telling};
use super::rivals::loosest;
use std::ops::Range;
use toolpost_core::ToolError;

/// A new text of so many lines that say something, or of so many letters and digits, is at another place only if the edit
/// was made there.
const TELLING_LINES: usize = 3;
const TELLING_CHARACTERS: usize = 48;

/// The lines of a file on which the new text of an edit stands already, counting from 0.
pub(super) struct Applied {
    lines: Range<usize>,
    is_long: bool,
}

impl Applied {
    /// Looks for the new text; `None` where it is not there, or where the old text has all of it.
    pub(super) fn find(
        effort: &Effort,
        lines: &Lines<'_>,
        old: &str,
        new: &str,
    ) -> Result<Option<Applied>, ToolError> {
        let filled = |text: &str| -> Vec<String> {
            Lines::of(text)
                .all
                .iter()
                .filter(|line| is_filled(line.text))
                .map(|line| loosest(line.text))
                .collect()
        };
        let (olds, news) = (filled(old), filled(new));
        let is_within_old = news.is_empty() || olds.windows(news.len()).any(|window| window == news);
        if is_within_old || !news.iter().any(|line| is_telling(line)) {
            return Ok(None);
        }
        effort.spend(lines.text.len() * 2)?;
        let there: Vec<(usize, String)> = lines
            .all
            .iter()
            .enumerate()
            .filter(|(_, line)| is_filled(line.text))
            .map(|(at, line)| (at, loosest(line.text)))
            .collect();
        let is_there =
            |window: &[(usize, String)]| window.iter().zip(&news).all(|((_, line), new)| line == new);
        let mut windows = there.windows(news.len()).filter(|window| is_there(window));
        let Some(first) = windows.next() else { return Ok(None) };
        let characters: usize =
            news.iter().map(|line| line.chars().filter(|one| one.is_alphanumeric()).count()).sum();
        let is_long = news.iter().filter(|line| is_telling(line)).count() >= TELLING_LINES
            && characters >= TELLING_CHARACTERS
            && windows.next().is_none();
        let range = first[0].0..first[news.len() - 1].0 + 1;
        Ok(Some(Applied { lines: range, is_long }))
    }

    /// The line of the new text, counting from 1, if an edit at a place would be made for the second time.
    pub(super) fn repeated_at(&self, lines: &Lines<'_>, place: &Range<usize>) -> Option<usize> {
        let (first, last) = (lines.at(place.start), lines.at(place.end.saturating_sub(1).max(place.start)));
        let overlaps = first < self.lines.end && self.lines.start <= last;
        (overlaps || self.is_long).then_some(self.lines.start + 1)
    }
}
