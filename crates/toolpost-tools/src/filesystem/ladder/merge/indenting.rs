//! How the lines of a new text are indented: as the file is, or as an old text that is indented otherwise.

use super::super::fold::{Level, look_alike};
use super::super::indentation::Mapping;
use super::super::lines::{Lines, is_blank, split_indent};
use super::super::suspicion;
use super::Merge;
use similar::DiffOp;
use std::collections::HashSet;

pub(super) const MIXED: &str = "newString is not indented like oldString throughout, nor like the file";
const PART_OF_LINE: &str =
    "oldString begins within a line, so it is unclear how the lines of newString are to be indented";

/// How the lines of the new text are indented.
pub(super) enum Indenting<'a> {
    /// As the file is.
    AsFile,
    /// As the old text is, which is not as the file is.
    AsOld(Mapping<'a>),
    /// As the file is but for the first line, whose indentation stands before the old text.
    FirstWithout(&'a str),
}

impl<'a> Merge<'a> {
    pub(super) fn indenting(&self, starts_line: bool) -> Result<Indenting<'a>, &'static str> {
        let is_filled = |line: &str| !line.trim_matches(is_blank).is_empty();
        let indents = |index: usize| (split_indent(self.olds[index]).0, split_indent(self.parts[index]).0);
        let filled: Vec<usize> = (usize::from(!starts_line)..self.olds.len())
            .filter(|index| is_filled(self.olds[*index]))
            .collect();
        let new_filled = || self.news.iter().filter(|line| is_filled(line));
        // A bracket alone is on many lines.
        let is_telling =
            |line: &str| line.chars().filter(|character| character.is_alphanumeric()).count() > 2;
        let telling = || new_filled().filter(|line| is_telling(line));
        if !starts_line {
            // The indentation stands before the place: one in the new text would come on top of it.
            let is_indented = self.news.first().is_some_and(|line| line.starts_with(is_blank));
            let is_spread = self.olds.len() == 1 && new_filled().count() > 1;
            if is_indented || is_spread {
                return Err(PART_OF_LINE);
            }
        }
        // A line of the old text that stands further out in the new one: a text moved to the margin by itself.
        for line in new_filled() {
            let is_same = |old: &&usize| self.is_same(self.olds[**old], line);
            let depth = split_indent(line).0.len();
            let mut same = filled.iter().filter(is_same).peekable();
            let is_moved =
                |old: &usize| indents(*old).0.len() > depth && indents(*old).1 != split_indent(line).0;
            if same.peek().is_some() && same.all(is_moved) {
                return Err(MIXED);
            }
        }
        if self.level < Level::Indentation || (!starts_line && self.olds.len() == 1) {
            return Ok(Indenting::AsFile);
        }
        if filled.iter().all(|index| indents(*index).0 == indents(*index).1) {
            return Ok(Indenting::AsFile);
        }
        let (old_first, file_first) = filled.first().map_or(("", ""), |index| indents(*index));
        let rest_is_same = filled.len() > 1
            && filled.first() == Some(&0)
            && is_telling(self.olds[0])
            && filled[1..].iter().all(|index| indents(*index).0 == indents(*index).1)
            && filled[1..].iter().any(|index| !indents(*index).0.is_empty());
        if old_first.is_empty() && rest_is_same {
            return match self.news.first() {
                Some(line) if line.starts_with(is_blank) => Err(PART_OF_LINE),
                _ => Ok(Indenting::FirstWithout(file_first)),
            };
        }
        // Where the new text is indented as the file is, it needs no rule for the old one. But of brackets the indentation
        // is all that tells one from the next.
        let (says, brackets): (Vec<usize>, Vec<usize>) =
            filled.iter().partition(|index| is_telling(self.olds[**index]));
        let pairs = |lines: &[usize]| lines.iter().map(|index| indents(*index)).collect();
        let step = suspicion::usual_step(&Lines::of(self.file));
        let mapping = Mapping::new(pairs(&says), pairs(&brackets), step);
        let is_there = |index: &usize| indents(*index).0 == indents(*index).1;
        let (told, other): (Vec<usize>, Vec<usize>) = says.iter().partition(|index| is_there(index));
        // Nor is a line that slipped told by itself: the rest of what says something has to be there to the letter.
        let is_told = filled.iter().all(|index| is_there(index) || is_telling(self.olds[*index]));
        if let Err(why) = &mapping
            && !(is_told && told.len() > other.len())
        {
            return Err(why);
        }
        // What the new text shares with the old one and its first line tell how it is indented; failing that, whether
        // its indentations occur in the one or in the other. Where they tell different things, nothing is told.
        let (mut as_old, mut as_file, mut is_unclear) = (false, false, false);
        for (old, new) in self.kept().filter(|(old, _)| filled.contains(old)) {
            let (in_old, in_file) = indents(old);
            let in_new = split_indent(self.news[new]).0;
            // Below a new line that opens a block, it may have been made deeper from where the old text has it.
            let above = new.checked_sub(1).map(|above| self.news[above]);
            let is_opened = above.is_some_and(|above| {
                above.ends_with(['{', '(', '[', ':']) && split_indent(above).0.len() >= in_new.len()
            });
            if in_old != in_file && in_new == in_file && is_opened {
                return Err(MIXED);
            }
            // Shifted by itself, like a text cut out and moved to the margin: by how much, nobody can tell.
            if in_new != in_old && in_new != in_file {
                return Err(MIXED);
            }
            // Of several lines that are alike nobody knows which is which.
            let key = self.news[new].trim_matches(is_blank);
            let count =
                |lines: &[&str]| lines.iter().filter(|line| line.trim_matches(is_blank) == key).count();
            let is_only = count(self.olds) == 1 && count(self.news) == 1;
            is_unclear |= !is_only;
            as_old |= is_only && in_new == in_old && in_old != in_file;
            as_file |= is_only && in_new == in_file && in_old != in_file;
        }
        if is_unclear && !as_old && !as_file {
            return Err(MIXED);
        }
        for line in telling() {
            let indent = split_indent(line).0;
            for old in filled.iter().filter(|old| self.is_same(self.olds[**old], line)) {
                let (in_old, in_file) = indents(*old);
                as_old |= in_old == indent && in_file != indent;
                as_file |= in_file == indent && in_old != indent;
            }
        }
        // So does a line that takes the place of one.
        for op in self.ops {
            let &DiffOp::Replace { old_index, old_len, new_index, new_len } = op else { continue };
            for at in 0..if old_len == new_len { old_len } else { 0 } {
                let ((in_old, in_file), line) = (indents(old_index + at), self.news[new_index + at]);
                let is_compared = in_old != in_file && filled.contains(&(old_index + at)) && is_filled(line);
                as_old |= is_compared && split_indent(line).0 == in_old;
                as_file |= is_compared && split_indent(line).0 == in_file;
            }
        }
        // A line that is new here and stands in the file elsewhere is indented as it is there.
        let is_kept = |line: &str| self.kept().any(|(_, new)| self.news[new] == line);
        let new: HashSet<&str> = telling().copied().collect();
        let in_file: HashSet<&str> = self.file.lines().filter(|there| new.contains(there)).collect();
        let is_in_file = |line: &&&str| in_file.contains(**line);
        for line in telling().filter(|line| !is_kept(line)).filter(is_in_file) {
            let indent = split_indent(line).0;
            as_file |= mapping.as_ref().is_ok_and(|mapping| mapping.apply(indent).as_deref() != Ok(indent));
        }
        let first = new_filled().next();
        if old_first != file_first && first.is_none_or(|line| is_telling(line)) {
            let first = first.map_or(old_first, |line| split_indent(line).0);
            as_old |= first == old_first;
            as_file |= first == file_first;
        }
        if !as_old && !as_file {
            let mapping = mapping.as_ref().map_err(|why| *why)?;
            for line in new_filled() {
                let indent = split_indent(line).0;
                as_old |= mapping.knows_old(indent) && !mapping.knows_file(indent);
                as_file |= mapping.knows_file(indent) && !mapping.knows_old(indent);
            }
        }
        match (as_old, as_file) {
            (true, false) => Ok(Indenting::AsOld(mapping?)),
            (false, true) => Ok(Indenting::AsFile),
            (true, true) => Err(MIXED),
            // Nothing to go by, but also nothing to change.
            (false, false) => {
                let mapping = mapping?;
                let is_same = |line: &&str| {
                    mapping.apply(split_indent(line).0).is_ok_and(|indent| indent == split_indent(line).0)
                };
                // At the margin, where neither the old text nor the file is: it was left out, or is meant.
                let first = first.map_or(file_first, |line| split_indent(line).0);
                let is_left_out = first.is_empty() && !old_first.is_empty() && !file_first.is_empty();
                match new_filled().all(is_same) && !is_left_out {
                    true => Ok(Indenting::AsFile),
                    false => Err(MIXED),
                }
            }
        }
    }

    /// Whether two lines say the same, whatever blanks they have, and whatever quotes where those are overlooked.
    fn is_same(&self, one: &str, other: &str) -> bool {
        let plain = |word: &str| -> String {
            word.chars().map(|character| look_alike(character).unwrap_or(character)).collect()
        };
        match self.level {
            Level::LookAlikes => plain(one).split_whitespace().eq(plain(other).split_whitespace()),
            _ => one.split_whitespace().eq(other.split_whitespace()),
        }
    }
}
