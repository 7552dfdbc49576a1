//! What is to stand at a place that was found by overlooking something.
//!
//! What the edit does not change stays as the file has it: only lines that differ between the old and the new text are
//! written, in the indentation, line endings and characters of the place. Where it cannot be told what they have to
//! become, there is no replacement but a reason.

mod characters;
mod indenting;

use super::Effort;
use super::fold::Level;
use super::lines::{Lines, is_blank, split_indent};
use super::places::Place;
use super::rivals::loosest;
use super::suspicion;
use characters::Characters;
use indenting::Indenting;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use toolpost_core::ToolError;

const REPEATED: &str =
    "newString repeats a line of oldString with other blanks or quotes, and oldString is not there exactly";
const TRAILING: &str =
    "newString changes the blanks at the end of a line, and oldString is not there exactly";

/// The replacement for a place.
///
/// The inner result says why there is none; the outer one, that the call has ended or has taken too many steps.
pub(super) fn replacement(
    effort: &Effort,
    lines: &Lines<'_>,
    place: &Place,
    old: &Lines<'_>,
    new: &Lines<'_>,
    level: Level,
) -> Result<Result<String, &'static str>, ToolError> {
    effort.spend(old.all.len() * new.all.len() + lines.text.len())?;
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
    let (written, indenting) = match all.written(place) {
        Ok(written) => written,
        Err(why) => return Ok(Err(why)),
    };
    let (known, repeated) = (parts.iter().copied().collect::<HashSet<&str>>(), all.repeated());
    let is_indent_overlooked = all.is_indent_overlooked();
    for (line, _) in written.iter().filter(|(line, _)| !known.contains(&**line)) {
        // Each looks through the whole file.
        effort.spend(lines.all.len() * 8)?;
        let checked =
            suspicion::check(lines, line).and_then(|()| check_repeated(&repeated, line)).and_then(|()| {
                match is_indent_overlooked {
                    true => suspicion::check_known(lines, line),
                    false => Ok(()),
                }
            });
        if let Err(why) = checked {
            return Ok(Err(why));
        }
    }
    if let Indenting::AsOld(_) = &indenting {
        effort.spend(lines.text.len() / 16 * written.len())?;
        let texts = written.iter().map(|(line, _)| &**line);
        if let Err(why) = suspicion::check_depth(lines, split_indent(parts[0]).0, texts) {
            return Ok(Err(why));
        }
    }
    Ok(Ok(joined(lines, place, new, written)))
}

/// Lines of the old text that the file has otherwise, by what they say: the line, and that of the file.
type Repeated<'a> = HashMap<String, Vec<(&'a str, &'a str)>>;

/// A line of the old text that the new one repeats with other blanks or quotes than either text has them: whether these
/// are meant, or one more slip, nobody can tell.
fn check_repeated(repeated: &Repeated<'_>, line: &str) -> Result<(), &'static str> {
    let asked = line.trim_matches(is_blank);
    let alike = repeated.get(&loosest(line)).map_or(&[][..], Vec::as_slice);
    match alike.iter().any(|(_, part)| asked != *part) {
        true => Err(REPEATED),
        false => Ok(()),
    }
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

    /// Whether a line of the old text is indented otherwise than that of the file.
    fn is_indent_overlooked(&self) -> bool {
        let differ = |(old, part): (&&str, &&str)| split_indent(old).0 != split_indent(part).0;
        self.olds.iter().zip(self.parts).filter(|(old, _)| !old.trim_matches(is_blank).is_empty()).any(differ)
    }

    /// The lines to write, and how they are indented.
    fn written(&self, place: &Place) -> Result<(Vec<Written<'a>>, Indenting<'a>), &'static str> {
        self.check_trailing()?;
        let indenting = self.indenting(place.starts_line)?;
        Ok((self.lines(&indenting)?, indenting))
    }

    fn repeated(&self) -> Repeated<'a> {
        let mut repeated = Repeated::new();
        for (old, part) in self.olds.iter().zip(self.parts) {
            let (old, part) = (old.trim_matches(is_blank), part.trim_matches(is_blank));
            let said = loosest(old);
            if old != part && !said.is_empty() {
                repeated.entry(said).or_default().push((old, part));
            }
        }
        repeated
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
        let key = |line: &str| line.trim_matches(is_blank).to_owned();
        let is_only = |lines: &[&str]| lines.iter().filter(|other| key(other) == key(line)).count() == 1;
        let is_as_it_was = match indenting {
            // A slip that both texts have. Of several lines that are alike, only the indentation tells which is meant.
            Indenting::AsFile if in_new == in_old && in_new != in_file => {
                let mut alike = self.parts.iter().filter(|other| key(other) == key(line));
                let is_there = alike.any(|other| split_indent(other).0 == in_new);
                match is_only(self.olds) && is_only(self.news) {
                    true => true,
                    false if is_there => false,
                    false => return Err(indenting::MIXED),
                }
            }
            Indenting::AsFile => in_new == in_file,
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
