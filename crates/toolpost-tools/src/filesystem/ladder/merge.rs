//! What is to stand at a place that was found by overlooking something.
//!
//! What the edit does not change stays as the file has it: only lines that differ between the old and the new text are
//! written, in the indentation, line endings and characters of the place. Where it cannot be told what they have to
//! become, there is no replacement but a reason.

use super::fold::{self, Level, look_alike};
use super::indentation::Mapping;
use super::lines::{Lines, is_blank, split_indent};
use super::places::Place;
use super::suspicion;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::borrow::Cow;

const MIXED: &str = "newString is not indented like oldString throughout, nor like the file";
const PART_OF_LINE: &str =
    "oldString begins within a line, so it is unclear how the lines of newString are to be indented";
const TRAILING: &str =
    "newString changes the blanks at the end of a line, and oldString is not there exactly";
const LOOK_ALIKES: &str = "oldString has plain characters for some of the file's and others for the rest";

/// The replacement for a place.
pub(super) fn replacement(
    lines: &Lines<'_>,
    place: &Place,
    old: &Lines<'_>,
    new: &Lines<'_>,
    level: Level,
) -> Result<String, &'static str> {
    let parts = parts(lines, place, old.all.len());
    let olds: Vec<&str> = old.all.iter().map(|line| line.text).collect();
    let news: Vec<&str> = new.all.iter().map(|line| line.text).collect();
    let trimmed = |line: &&'_ str| -> String {
        match level {
            Level::Exact => (*line).to_owned(),
            Level::Trailing => line.trim_end_matches(is_blank).to_owned(),
            _ => line.trim_matches(is_blank).to_owned(),
        }
    };
    let (old_keys, new_keys): (Vec<String>, Vec<String>) =
        (olds.iter().map(trimmed).collect(), news.iter().map(trimmed).collect());
    let ops = capture_diff_slices(Algorithm::Myers, &old_keys, &new_keys);
    let all = Merge { file: lines.text, olds: &olds, parts: &parts, news: &news, ops: &ops, level };
    all.check_trailing()?;
    let indenting = all.indenting(place.starts_line)?;
    let written = all.lines(&indenting)?;
    for (line, _) in written.iter().filter(|(line, _)| !parts.contains(&&**line)) {
        suspicion::check(lines, line)?;
    }
    Ok(joined(lines, place, new, written))
}

/// The lines of the file at the place, the first and the last as far as they belong to it.
fn parts<'a>(lines: &Lines<'a>, place: &Place, count: usize) -> Vec<&'a str> {
    let part = |index: usize| {
        let line = &lines.all[place.first + index];
        let from = if index == 0 { place.start } else { line.start };
        let to = if index == count - 1 { place.end.min(line.text_end()) } else { line.text_end() };
        &lines.text[from..to.max(from)]
    };
    (0..count).map(part).collect()
}

struct Merge<'a> {
    file: &'a str,
    olds: &'a [&'a str],
    parts: &'a [&'a str],
    news: &'a [&'a str],
    ops: &'a [DiffOp],
    level: Level,
}

/// How the lines of the new text are indented.
enum Indenting<'a> {
    /// As the file is.
    AsFile,
    /// As the old text is, which is not as the file is.
    AsOld(Mapping<'a>),
    /// As the file is but for the first line, whose indentation stands before the old text.
    FirstWithout(&'a str),
}

/// A line to write, and the line of the place whose ending it takes.
type Written<'a> = (Cow<'a, str>, Option<usize>);

impl<'a> Merge<'a> {
    /// The pairs of lines that are the same in the old and the new text.
    fn kept(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.ops.iter().flat_map(|op| match *op {
            DiffOp::Equal { old_index, new_index, len } => {
                (0..len).map(|at| (old_index + at, new_index + at)).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        })
    }

    /// A line that is the same but for the blanks at its end stays as the file has it: right where those of the old
    /// text are a slip, a change that would get lost where those of the new one are meant.
    fn check_trailing(&self) -> Result<(), &'static str> {
        let trailing = |line: &'a str| &line[line.trim_end_matches(is_blank).len()..];
        let is_lost = |(old, new): (usize, usize)| {
            let wanted = trailing(self.news[new]);
            wanted != trailing(self.olds[old]) && wanted != trailing(self.parts[old])
        };
        if self.kept().any(is_lost) { Err(TRAILING) } else { Ok(()) }
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

    fn indenting(&self, starts_line: bool) -> Result<Indenting<'a>, &'static str> {
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
        for line in telling() {
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
        let mapping = Mapping::new(filled.iter().map(|index| indents(*index)).collect());
        let is_told = |index: &usize| indents(*index).0 == indents(*index).1 || is_telling(self.olds[*index]);
        if let Err(why) = &mapping
            && !filled.iter().all(is_told)
        {
            return Err(why);
        }
        // What the new text shares with the old one and its first line tell how it is indented; failing that, whether
        // its indentations occur in the one or in the other. Where they tell different things, nothing is told.
        let (mut as_old, mut as_file, mut is_unclear) = (false, false, false);
        for (old, new) in self.kept().filter(|(old, _)| filled.contains(old)) {
            let (in_old, in_file) = indents(old);
            let in_new = split_indent(self.news[new]).0;
            // Shifted by itself, like a text cut out and moved to the margin: by how much, nobody can tell.
            if in_new != in_old && in_new != in_file {
                return Err(MIXED);
            }
            // Of several lines that are alike nobody knows which is which.
            let key = self.news[new].trim_matches(is_blank);
            let is_only = self.news.iter().filter(|line| line.trim_matches(is_blank) == key).count() == 1;
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
        if old_first != file_first {
            let first = new_filled().next().map_or(old_first, |line| split_indent(line).0);
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
                let first = new_filled().next().map_or(file_first, |line| split_indent(line).0);
                let is_left_out = first.is_empty() && !old_first.is_empty() && !file_first.is_empty();
                match new_filled().all(is_same) && !is_left_out {
                    true => Ok(Indenting::AsFile),
                    false => Err(MIXED),
                }
            }
        }
    }

    fn lines(&self, indenting: &Indenting<'a>) -> Result<Vec<Written<'a>>, &'static str> {
        let characters = Characters::new(self);
        let mut written: Vec<Written<'a>> = Vec::new();
        for op in self.ops {
            match *op {
                DiffOp::Equal { old_index, new_index, len } => {
                    for at in 0..len {
                        let (old, new) = (old_index + at, new_index + at);
                        written.push((self.kept_line(old, new, indenting)?, Some(old)));
                    }
                }
                DiffOp::Delete { .. } => {}
                DiffOp::Insert { new_index, new_len, .. } => {
                    for line in &self.news[new_index..new_index + new_len] {
                        written.push((self.new_line(line, &characters, indenting, written.len())?, None));
                    }
                }
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    for at in 0..new_len {
                        let line = self.news[new_index + at];
                        let old = (at < old_len).then_some(old_index + at);
                        let text = match old {
                            Some(old) if old_len == new_len && self.level == Level::LookAlikes => {
                                let indent = self.indent(line, indenting, written.len())?;
                                Cow::Owned(format!("{indent}{}", characters.changed(self, old, line)?))
                            }
                            _ => self.new_line(line, &characters, indenting, written.len())?,
                        };
                        written.push((text, old));
                    }
                }
            }
        }
        Ok(written)
    }

    /// A line that the edit leaves as it is, but perhaps for its depth.
    fn kept_line(
        &self,
        old: usize,
        new: usize,
        indenting: &Indenting<'a>,
    ) -> Result<Cow<'a, str>, &'static str> {
        let (part, line) = (self.parts[old], self.news[new]);
        let (in_old, in_file, in_new) =
            (split_indent(self.olds[old]).0, split_indent(part).0, split_indent(line).0);
        let is_as_it_was = match indenting {
            Indenting::AsFile => in_new == in_file || in_new == in_old,
            Indenting::AsOld(_) | Indenting::FirstWithout(_) => in_new == in_old,
        };
        if is_as_it_was || self.level < Level::Indentation || line.trim_matches(is_blank).is_empty() {
            return Ok(Cow::Borrowed(part));
        }
        let indent = self.indent(line, indenting, new)?;
        Ok(Cow::Owned(format!("{indent}{}", split_indent(part).1)))
    }

    fn new_line(
        &self,
        line: &'a str,
        characters: &Characters<'_>,
        indenting: &Indenting<'a>,
        index: usize,
    ) -> Result<Cow<'a, str>, &'static str> {
        let text = match self.level {
            Level::LookAlikes => characters.plain(line)?,
            _ => Cow::Borrowed(line),
        };
        if let (Indenting::AsFile, Cow::Borrowed(_)) = (indenting, &text) {
            return Ok(text);
        }
        let indent = self.indent(line, indenting, index)?;
        Ok(Cow::Owned(format!("{indent}{}", split_indent(&text).1)))
    }

    fn indent(
        &self,
        line: &'a str,
        indenting: &Indenting<'a>,
        index: usize,
    ) -> Result<Cow<'a, str>, &'static str> {
        let (indent, rest) = split_indent(line);
        match indenting {
            Indenting::FirstWithout(before) if index == 0 => Ok(Cow::Owned(format!("{before}{indent}"))),
            Indenting::AsOld(_) if rest.is_empty() => Ok(Cow::Borrowed("")),
            Indenting::AsOld(mapping) => mapping.apply(indent).map(Cow::Owned),
            Indenting::AsFile | Indenting::FirstWithout(_) => Ok(Cow::Borrowed(indent)),
        }
    }
}

/// Which typographic characters of the old text are plain ones in the file.
struct Characters<'a> {
    /// Plain characters, and whether the file has every one of them plain.
    seen: Vec<(char, bool)>,
    file: &'a str,
}

impl<'a> Characters<'a> {
    fn new(merge: &Merge<'a>) -> Characters<'a> {
        let mut seen: Vec<(char, bool)> = Vec::new();
        if merge.level == Level::LookAlikes {
            for (old, part) in merge.olds.iter().zip(merge.parts) {
                for (asked, there) in raw(old).into_iter().zip(raw(part)) {
                    let Some(plain) = look_alike(asked) else { continue };
                    match seen.iter_mut().find(|entry| entry.0 == plain) {
                        Some(entry) => entry.1 &= there == plain,
                        None => seen.push((plain, there == plain)),
                    }
                }
            }
        }
        Characters { seen, file: merge.file }
    }

    /// A line that is new, with plain characters where the old text should have had them.
    fn plain<'b>(&self, line: &'b str) -> Result<Cow<'b, str>, &'static str> {
        if line.is_ascii() || self.seen.is_empty() {
            return Ok(Cow::Borrowed(line));
        }
        let plain = |character: char| match look_alike(character) {
            Some(plain) => match self.seen.iter().find(|entry| entry.0 == plain) {
                // Where the file has both, either may be meant.
                Some((_, true)) if !self.file.contains(character) => Ok(plain),
                Some(_) => Err(LOOK_ALIKES),
                // Who slips with one kind may have slipped with another.
                None if self.seen.iter().any(|entry| entry.1) => Err(LOOK_ALIKES),
                None => Ok(character),
            },
            None => Ok(character),
        };
        Ok(Cow::Owned(line.chars().map(plain).collect::<Result<String, _>>()?))
    }

    /// A changed line without its indentation: what it shares with the old one is as the file has it.
    fn changed(&self, merge: &Merge<'_>, old: usize, line: &str) -> Result<String, &'static str> {
        let (asked, there) = (raw(merge.olds[old]), raw(merge.parts[old]));
        let new: Vec<char> = line.trim_matches(is_blank).chars().collect();
        if asked.len() != there.len() {
            return Ok(self.plain(line.trim_start_matches(is_blank))?.into_owned());
        }
        let head = asked.iter().zip(&new).take_while(|(one, other)| one == other).count();
        let most = asked.len().min(new.len()) - head;
        let tail = asked
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take_while(|(one, other)| one == other)
            .count()
            .min(most);
        let middle: String = new[head..new.len() - tail].iter().collect();
        let mut text: String = there[..head].iter().collect();
        text.push_str(&self.plain(&middle)?);
        text.extend(&there[there.len() - tail..]);
        Ok(text)
    }
}

/// The characters of a line between its outer blanks, as they are.
fn raw(line: &str) -> Vec<char> {
    fold::mapped(line, Level::LookAlikes)
        .into_iter()
        .filter_map(|(_, from, to)| line[from..to].chars().next())
        .collect()
}

/// The lines with the endings of the place.
fn joined(lines: &Lines<'_>, place: &Place, new: &Lines<'_>, written: Vec<Written<'_>>) -> String {
    let mut last = lines.ending_near(place.first);
    let count = written.len();
    let mut text = String::new();
    for (index, (line, from)) in written.into_iter().enumerate() {
        text.push_str(&line);
        let own = from.map(|from| lines.all[place.first + from].ending).filter(|ending| !ending.is_empty());
        last = own.unwrap_or(last);
        if index + 1 < count || (new.ends_line() && place.has_last_ending) {
            text.push_str(last);
        }
    }
    text
}
