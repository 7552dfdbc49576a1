//! What is to stand at a place that was found by overlooking something.
//!
//! What the edit does not change stays as the file has it: only lines that differ between the old and the new text are
//! written, in the indentation, line endings and characters of the place. Where it cannot be told what they have to
//! become, there is no replacement but a reason.

mod characters;
mod gaps;
mod indenting;
mod touching;
mod witnesses;

use super::Effort;
use super::fold::Level;
use super::lines::{Line, Lines, is_blank, is_filled, is_telling, split_indent};
use super::literals;
use super::places::Place;
use super::rivals::loosest;
use super::suspicion;
use characters::Characters;
use gaps::Gaps;
use indenting::Indenting;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use toolpost_core::ToolError;

const REPEATED: &str =
    "newString repeats a line of oldString with other blanks or quotes, and oldString is not there exactly";
const TRAILING: &str =
    "newString changes the blanks at the end of a line, and oldString is not there exactly";
const LITERAL: &str = "newString has a string or a here-document of several lines, and oldString is indented otherwise than \
                       the file, so it is unclear how deep the lines of that are";

const BLANK_BELOW: &str = "oldString ends with a newline and newString does not, and a blank line follows in the file, so it is \
                           unclear whether that one stays";

const ALIKE: &str = "lines of oldString are alike, and the file has them otherwise and not all in the same way, so it is \
                     unclear which of them newString keeps";

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
    let is_same = |(old, new): &(usize, usize)| olds[*old] == news[*new];
    let support = |ops: &[DiffOp]| kept(ops).filter(is_same).count();
    let (mut ops, mut others) = (from_start(&old_keys, &new_keys), from_end(&old_keys, &new_keys));
    if support(&others) > support(&ops) {
        std::mem::swap(&mut ops, &mut others);
    }
    let (above, below) = around(lines, place, old.all.len());
    let (file, olds, parts, news) = (lines.text, &*olds, &*parts, &*news);
    let all = Merge { file, start: place.start, above, below, olds, parts, news, ops: &ops, level };
    let written = match all.written() {
        Ok(written) => written,
        Err(why) => return Ok(Err(why)),
    };
    // Of lines that are alike, which one stays is not told by the text.
    if ops != others && support(&ops) == support(&others) {
        effort.spend(old.all.len() * new.all.len())?;
        let other = Merge { file, start: place.start, above, below, olds, parts, news, ops: &others, level }
            .written();
        let text = |written: &[Written<'_>]| -> Vec<String> {
            written.iter().map(|(line, _)| line.trim_end_matches(is_blank).to_owned()).collect()
        };
        if other.is_ok_and(|other| text(&other) != text(&written)) {
            return Ok(Err(ALIKE));
        }
    }
    let (known, repeated) = (parts.iter().copied().collect::<HashSet<&str>>(), all.repeated());
    let file = suspicion::Habits::of(lines);
    for (line, _) in written.iter().filter(|(line, _)| !known.contains(&**line)) {
        effort.spend(line.len() * 8)?;
        let checked = suspicion::check(&file, line).and_then(|()| check_repeated(&repeated, line));
        if let Err(why) = checked {
            return Ok(Err(why));
        }
    }
    // What was overlooked may be at the edge of the place, so the newline there is the file's: no two lines become one.
    // Before a blank line none would, and the newline may be that of an empty line at the end of the old text.
    let is_before_blank = lines.text[place.end..].starts_with(['\n', '\r']);
    let blank = |lines: &Lines<'_>| lines.all.iter().filter(|line| !is_filled(line.text)).count();
    let is_open = is_before_blank && old.ends_line() && !new.ends_line() && !new.all.is_empty();
    if is_open && level != Level::Exact && blank(new) <= blank(old) {
        return Ok(Err(BLANK_BELOW));
    }
    let ends_line = new.ends_line() || (old.ends_line() && !is_before_blank);
    Ok(Ok(joined(lines, place, ends_line, written)))
}

/// The pairs of lines that are the same in the old and the new text.
pub(super) fn kept(ops: &[DiffOp]) -> impl Iterator<Item = (usize, usize)> + '_ {
    ops.iter().flat_map(|op| match *op {
        DiffOp::Equal { old_index, new_index, len } => {
            (0..len).map(|at| (old_index + at, new_index + at)).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    })
}

/// What has changed, where the first of lines that are alike stay.
pub(super) fn from_start(old: &[String], new: &[String]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, old, new)
}

/// What has changed, where the last of lines that are alike stay.
pub(super) fn from_end(old: &[String], new: &[String]) -> Vec<DiffOp> {
    let turned = |lines: &'_ [String]| -> Vec<String> { lines.iter().rev().cloned().collect() };
    let (old_count, new_count) = (old.len(), new.len());
    let turn = |op: DiffOp| match op {
        DiffOp::Equal { old_index, new_index, len } => DiffOp::Equal {
            old_index: old_count - old_index - len,
            new_index: new_count - new_index - len,
            len,
        },
        DiffOp::Delete { old_index, old_len, new_index } => DiffOp::Delete {
            old_index: old_count - old_index - old_len,
            old_len,
            new_index: new_count - new_index,
        },
        DiffOp::Insert { old_index, new_index, new_len } => DiffOp::Insert {
            old_index: old_count - old_index,
            new_index: new_count - new_index - new_len,
            new_len,
        },
        DiffOp::Replace { old_index, old_len, new_index, new_len } => DiffOp::Replace {
            old_index: old_count - old_index - old_len,
            old_len,
            new_index: new_count - new_index - new_len,
            new_len,
        },
    };
    capture_diff_slices(Algorithm::Myers, &turned(old), &turned(new)).into_iter().rev().map(turn).collect()
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
    /// Where the place begins in the file.
    start: usize,
    /// The lines of the file before and behind the place that are not blank.
    above: Option<&'a str>,
    below: Option<&'a str>,
    olds: &'a [&'a str],
    parts: &'a [&'a str],
    news: &'a [&'a str],
    ops: &'a [DiffOp],
    level: Level,
}

fn around<'a>(lines: &Lines<'a>, place: &Place, count: usize) -> (Option<&'a str>, Option<&'a str>) {
    let is_there = |line: &&Line<'_>| is_filled(line.text);
    let above = lines.all[..place.first].iter().rev().find(is_there);
    let below = lines.all[(place.first + count).min(lines.all.len())..].iter().find(is_there);
    (above.map(|line| line.text), below.map(|line| line.text))
}

/// A line to write, and the line of the place whose ending it takes.
type Written<'a> = (Cow<'a, str>, Option<usize>);

impl<'a> Merge<'a> {
    /// The pairs of lines that are the same in the old and the new text.
    fn kept(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        kept(self.ops)
    }

    /// The end of a line that both texts have: blanks at the end that are as the file has them are taken away or added
    /// where the new text says so.
    fn end(&self, old: usize, new: usize) -> &'a str {
        let (asked, there, wanted) = (self.olds[old], self.parts[old], self.news[new]);
        if trailing(asked) == trailing(there) { trailing(wanted) } else { trailing(there) }
    }

    /// A line that is the same but for the blanks at its end stays as the file has it: right where those of the old
    /// text are a slip, a change that would get lost where those of the new one are meant.
    fn check_trailing(&self) -> Result<(), &'static str> {
        let is_lost = |(old, new): (usize, usize)| {
            let wanted = trailing(self.news[new]);
            trailing(self.olds[old]) != trailing(self.parts[old])
                && wanted != trailing(self.olds[old])
                && wanted != trailing(self.parts[old])
        };
        if self.kept().any(is_lost) { Err(TRAILING) } else { Ok(()) }
    }

    /// The lines to write.
    fn written(&self) -> Result<Vec<Written<'a>>, &'static str> {
        self.check_trailing()?;
        let indenting = self.indenting()?;
        self.check_literals(&indenting)?;
        let mut written = self.lines(&indenting)?;
        if self.level >= Level::Indentation {
            self.check_touching(&indenting, &written)?;
        }
        if self.has_added_trailing() {
            for (line, _) in written.iter_mut().filter(|(line, _)| !self.parts.contains(&&**line)) {
                let bare = line.trim_end_matches(is_blank).len();
                *line = Cow::Owned(line[..bare].to_owned());
            }
        }
        Ok(written)
    }

    /// Fails where lines of a literal would be moved, unless it is plain that they were moved with the code around them.
    fn check_literals(&self, indenting: &Indenting<'a>) -> Result<(), &'static str> {
        if !matches!(indenting, Indenting::AsOld(_) | Indenting::BelowFirst(..)) {
            return Ok(());
        }
        // What both texts have stays as the file has it.
        let stays: HashSet<usize> =
            self.kept().filter(|(old, new)| self.olds[*old] == self.news[*new]).map(|(_, new)| new).collect();
        let is_moved = |at: usize| is_filled(self.news[at]) && !stays.contains(&at);
        let is_unclear =
            |one: &literals::Several| one.inner.clone().any(is_moved) && !one.is_moved_along(self.news);
        match literals::several(self.news).iter().any(is_unclear) {
            true => Err(LITERAL),
            false => Ok(()),
        }
    }

    /// Whether the old text has blanks at the ends of lines, and the file has none at this place: then those of the new
    /// text are the same slip.
    fn has_added_trailing(&self) -> bool {
        let is_trailing = |line: &&'a str| is_filled(line) && line.ends_with(is_blank);
        self.level >= Level::Trailing
            && self.olds.iter().any(is_trailing)
            && !self.parts.iter().any(is_trailing)
    }

    /// The first line of the new text that is not blank.
    fn first(&self) -> Option<usize> {
        self.news.iter().position(|line| is_filled(line))
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
        let (characters, gaps) = (Characters::new(self), Gaps::new(self)?);
        let first = self.first().map(|first| self.news[first].as_ptr());
        let is_first = |line: &str| first == Some(line.as_ptr());
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
                        let text = self.new_line(line, None, &characters, &gaps)?;
                        written.push((self.indented(line, text, indenting, is_first(line))?, None));
                    }
                }
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    for at in 0..new_len {
                        let line = self.news[new_index + at];
                        let old = (at < old_len).then_some(old_index + at);
                        let text =
                            self.new_line(line, old.filter(|_| old_len == new_len), &characters, &gaps)?;
                        written.push((self.indented(line, text, indenting, is_first(line))?, old));
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
        // Brackets are told from each other by their depth.
        let is_only_so = |lines: &[&str]| {
            !is_telling(line) && lines.iter().filter(|other| **other == self.olds[old]).count() == 1
        };
        let is_one = |lines: &[&str]| is_only(lines) || is_only_so(lines);
        let is_as_it_was = match indenting {
            // A slip that both texts have. Of several lines that are alike, it is unclear which one is meant.
            Indenting::MostlyAsFile if in_new == in_old && in_new != in_file => {
                match is_one(self.olds) && is_one(self.news) {
                    true => true,
                    false => return Err(indenting::MIXED),
                }
            }
            Indenting::AsFile | Indenting::MostlyAsFile => in_new == in_file,
            Indenting::AsOld(_) => in_new == in_old,
            Indenting::FirstWithout(_) => in_new == if Some(new) == self.first() { in_old } else { in_file },
            Indenting::BelowFirst(_, before) => match Some(new) == self.first() {
                true => in_new == in_old,
                false => in_file.strip_prefix(before) == Some(in_new),
            },
        };
        let text = match self.end(old, new) {
            end if end == trailing(part) => Cow::Borrowed(part),
            end => Cow::Owned(part.trim_end_matches(is_blank).to_owned() + end),
        };
        if is_as_it_was || self.level < Level::Indentation || !is_filled(line) {
            return Ok(text);
        }
        let text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(split_indent(text).1),
            Cow::Owned(text) => Cow::Owned(split_indent(&text).1.to_owned()),
        };
        self.indented(line, text, indenting, Some(new) == self.first())
    }

    /// What a line of the new text says, in the characters and with the gaps of the file, without its indentation.
    fn new_line(
        &self,
        line: &'a str,
        old: Option<usize>,
        characters: &Characters<'_>,
        gaps: &Gaps<'_>,
    ) -> Result<Cow<'a, str>, &'static str> {
        let text = split_indent(line).1;
        match (self.level, old) {
            (Level::LookAlikes, Some(old)) => characters.changed(self, old, line).map(Cow::Owned),
            (Level::LookAlikes, None) => characters.plain(text),
            (Level::Blanks, old) => gaps.plain(text, old.map(|old| (self.olds[old], self.parts[old]))),
            _ => Ok(Cow::Borrowed(text)),
        }
    }

    /// A text behind the indentation that a line of the new text gets.
    fn indented(
        &self,
        line: &'a str,
        text: Cow<'a, str>,
        indenting: &Indenting<'a>,
        is_first: bool,
    ) -> Result<Cow<'a, str>, &'static str> {
        let (indent, rest) = split_indent(line);
        match indenting {
            Indenting::FirstWithout(before) | Indenting::BelowFirst(before, _) if is_first => {
                Ok(Cow::Owned(format!("{before}{indent}{text}")))
            }
            Indenting::BelowFirst(..) if rest.is_empty() => Ok(Cow::Borrowed("")),
            Indenting::BelowFirst(_, before) => Ok(Cow::Owned(format!("{before}{indent}{text}"))),
            Indenting::AsOld(_) if rest.is_empty() => Ok(Cow::Borrowed("")),
            Indenting::AsOld(mapping) => Ok(Cow::Owned(mapping.apply(indent)? + &text)),
            _ if text == rest => Ok(Cow::Borrowed(line)),
            Indenting::AsFile | Indenting::MostlyAsFile | Indenting::FirstWithout(_) => {
                Ok(Cow::Owned(format!("{indent}{text}")))
            }
        }
    }
}

/// The blanks at the end of a line.
fn trailing(line: &str) -> &str {
    &line[line.trim_end_matches(is_blank).len()..]
}

/// The lines with the endings of the place.
fn joined(lines: &Lines<'_>, place: &Place, ends_line: bool, written: Vec<Written<'_>>) -> String {
    let mut last = lines.ending_near(place.first);
    let count = written.len();
    let mut text = String::new();
    for (index, (line, from)) in written.into_iter().enumerate() {
        text.push_str(&line);
        let own = from.map(|from| lines.all[place.first + from].ending).filter(|ending| !ending.is_empty());
        last = own.unwrap_or(last);
        if index + 1 < count || (ends_line && place.has_last_ending) {
            text.push_str(last);
        }
    }
    text
}
