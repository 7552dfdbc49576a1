//! New lines beside lines that the old text has at another depth than the file.
//!
//! There the depth of the new ones is a slip as well, or it is not: they are written only where the lines around them
//! leave no other depth.

use super::super::lines::{is_blank, is_filled, is_telling, split_indent};
use super::indenting::{self, Indenting, is_control, opens};
use super::{Merge, Written};
use similar::DiffOp;
use std::collections::HashSet;
use std::ops::Range;

impl Merge<'_> {
    /// Fails where a new line is written beside one that is overlooked, at a depth that nothing else tells.
    pub(super) fn check_touching(
        &self,
        indenting: &Indenting<'_>,
        written: &[Written<'_>],
    ) -> Result<(), &'static str> {
        let is_unsure = match indenting {
            Indenting::MostlyAsFile => true,
            Indenting::AsFile | Indenting::AsOld(_) => self.is_thin(),
            Indenting::FirstWithout(_) | Indenting::BelowFirst(..) => false,
        };
        if !is_unsure {
            return Ok(());
        }
        for op in self.ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. } | DiffOp::Delete { .. })) {
            let (old, new) = (op.old_range(), op.new_range());
            if self.touches_slip(&old) && !self.is_settled(&old, &new, written) {
                return Err(indenting::MIXED);
            }
        }
        Ok(())
    }

    /// Whether a single depth of the old text is another one in the file, among lines that are as they were: it may be one line
    /// that slipped, or a text in other steps.
    fn is_thin(&self) -> bool {
        let telling = self.filled().into_iter().filter(|at| is_telling(self.olds[*at]));
        let depths: HashSet<(&str, &str)> = telling.map(|at| self.indents(at)).collect();
        let slipped = depths.iter().filter(|(old, file)| old != file).count();
        slipped == 1 && depths.len() > 1
    }

    /// Whether one of these lines of the old text, or the next one on either side, is not as deep as in the file.
    fn touches_slip(&self, old: &Range<usize>) -> bool {
        let is_slipped = |at: usize| self.indents(at).0 != self.indents(at).1;
        let is_line = |at: &usize| is_filled(self.olds[*at]);
        let before = (0..old.start).rev().find(is_line);
        let behind = (old.end..self.olds.len()).find(is_line);
        old.clone().filter(is_line).chain(before).chain(behind).any(is_slipped)
    }

    /// Whether the lines around the new ones leave no other depth.
    fn is_settled(&self, old: &Range<usize>, new: &Range<usize>, written: &[Written<'_>]) -> bool {
        // A line is written for each line of the new text.
        let lines: Vec<&str> = written.iter().map(|(line, _)| &**line).collect();
        let is_in_place = |(old, new): (usize, usize)| {
            split_indent(self.parts[old]).0 == split_indent(lines[new]).0 || !is_filled(lines[new])
        };
        if old.len() == new.len() && old.clone().zip(new.clone()).all(is_in_place) {
            return true;
        }
        let mut filled = new.clone().filter(|at| is_filled(lines[*at])).map(|at| lines[at]);
        let Some(first) = filled.next() else { return true };
        let last = filled.next_back().unwrap_or(first);
        let above = lines[..new.start].iter().rev().find(|line| is_filled(line)).copied().or(self.above);
        let below = lines[new.end..].iter().find(|line| is_filled(line)).copied().or(self.below);
        let (first_depth, last_depth) = (split_indent(first).0, split_indent(last).0);
        let is_below = match above {
            Some(above) if opens(above) => {
                let deeper =
                    below.map(|line| split_indent(line).0).filter(|depth| *depth > split_indent(above).0);
                deeper.is_some_and(|deeper| deeper == first_depth)
            }
            Some(above) => split_indent(above).0 == first_depth,
            None => first_depth.is_empty(),
        };
        let is_above = match below {
            Some(below) if is_end(below) => {
                let outer = split_indent(below).0;
                last_depth.len() > outer.len() && last_depth.starts_with(outer)
            }
            Some(below) => split_indent(below).0 == last_depth,
            None => last_depth.is_empty(),
        };
        is_below && is_above && !opens(last) && !is_control(last) && !is_end(first)
    }
}

/// Whether a line ends a block, or begins its next part.
fn is_end(line: &str) -> bool {
    const WORDS: [&str; 12] = [
        "done", "elif", "else", "elsif", "end", "ensure", "esac", "except", "fi", "finally", "rescue",
        "catch",
    ];
    let text = line.trim_matches(is_blank);
    let word = text.split(|one: char| !one.is_alphanumeric() && one != '_').next().unwrap_or_default();
    text.starts_with(['}', ')', ']']) || text.starts_with("</") || WORDS.contains(&word)
}
