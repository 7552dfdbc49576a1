//! Quotes, dashes and spaces of a new text, written as the file writes them.

use super::super::fold::{self, Level, look_alike};
use super::super::lines::is_blank;
use super::super::suspicion;
use super::Merge;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

const LOOK_ALIKES: &str = "oldString has plain characters for some of the file's and others for the rest";

/// Which typographic characters of the old text are plain ones in the file.
pub(super) struct Characters<'a> {
    /// Plain characters, and whether the file has every one of them plain.
    seen: Vec<(char, bool)>,
    /// Whether a line of the old text begins with a typographic space where the file does not.
    is_indented_otherwise: bool,
    file: &'a str,
    /// The typographic characters of the file.
    typographic: OnceCell<HashSet<char>>,
}

impl<'a> Characters<'a> {
    pub(super) fn new(merge: &Merge<'a>) -> Characters<'a> {
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
        let mut pairs = merge.olds.iter().zip(merge.parts);
        let is_indented_otherwise =
            pairs.any(|(old, part)| begins_typographic(old) && !begins_typographic(part));
        Characters { seen, is_indented_otherwise, file: merge.file, typographic: OnceCell::new() }
    }

    fn file_has(&self, character: char) -> bool {
        self.typographic.get_or_init(|| suspicion::typographic(self.file)).contains(&character)
    }

    /// A line that is new, with plain characters where the old text should have had them.
    pub(super) fn plain<'b>(&self, line: &'b str) -> Result<Cow<'b, str>, &'static str> {
        if self.is_indented_otherwise && begins_typographic(line) {
            return Err(LOOK_ALIKES);
        }
        if line.is_ascii() || self.seen.is_empty() {
            return Ok(Cow::Borrowed(line));
        }
        let plain = |character: char| match look_alike(character) {
            Some(plain) => match self.seen.iter().find(|entry| entry.0 == plain) {
                // Where the file has both, either may be meant.
                Some((_, true)) if !self.file_has(character) => Ok(plain),
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
    pub(super) fn changed(&self, merge: &Merge<'_>, old: usize, line: &str) -> Result<String, &'static str> {
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

/// Whether a line begins with a space that is not a plain one.
fn begins_typographic(line: &str) -> bool {
    let text = line.trim_start_matches(is_blank);
    text.chars().next().and_then(look_alike) == Some(' ')
}

/// The characters of a line between its outer blanks, as they are.
fn raw(line: &str) -> Vec<char> {
    fold::mapped(line, Level::LookAlikes)
        .into_iter()
        .filter_map(|(_, from, to)| line[from..to].chars().next())
        .collect()
}
