//! Slips that only the new text shows.
//!
//! Where the old text was not there exactly, the new one may have slipped too. What the file has nothing like of is not
//! written then; where the old text is exact, the new one is taken at its word.

use super::entities;
use super::fold::look_alike;
use super::lines::{Lines, split_indent};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};

const STRANGE_CHARACTERS: &str = "newString has quotes, dashes or spaces of a kind that the file has nowhere";
const STRANGE_INDENTATION: &str = "newString would be indented otherwise than anything in the file";
const ENTITY: &str = "newString has an entity such as `&lt;`, and the file has none";
const ESCAPED: &str = "newString has nothing but escaped quotes on a line";

/// Common in prose, and rarely a slip.
const LONG_DASH: char = '\u{2014}';

/// What a file has and what it has nowhere.
pub(super) struct Habits<'a> {
    text: &'a str,
    has_tabs: bool,
    has_spaces: bool,
    /// Whether it has spaces behind tabs, and tabs behind spaces.
    has_mixed: OnceCell<(bool, bool)>,
    typographic: OnceCell<HashSet<char>>,
    entities: OnceCell<bool>,
}

/// The quotes, dashes and spaces of a text that are taken for plain ones.
pub(super) fn typographic(text: &str) -> HashSet<char> {
    match text.is_ascii() {
        true => HashSet::new(),
        false => text.chars().filter(|character| look_alike(*character).is_some()).collect(),
    }
}

impl<'a> Habits<'a> {
    pub(super) fn of(file: &Lines<'a>) -> Habits<'a> {
        let has = |start: &str| file.all.iter().any(|line| line.text.starts_with(start));
        Habits {
            text: file.text,
            has_tabs: has("\t"),
            has_spaces: has("  "),
            has_mixed: OnceCell::new(),
            typographic: OnceCell::new(),
            entities: OnceCell::new(),
        }
    }

    fn has_entities(&self) -> bool {
        *self.entities.get_or_init(|| entities::has_entity(self.text))
    }

    fn has_mixed(&self) -> (bool, bool) {
        *self.has_mixed.get_or_init(|| (self.text.contains("\t  "), self.text.contains(" \t")))
    }

    fn has(&self, character: char) -> bool {
        self.typographic.get_or_init(|| typographic(self.text)).contains(&character)
    }
}

/// Fails where a line that is to be written looks like a slip.
pub(super) fn check(file: &Habits<'_>, line: &str) -> Result<(), &'static str> {
    let (indent, rest) = split_indent(line);
    let is_strange =
        |character: char| character != LONG_DASH && look_alike(character).is_some() && !file.has(character);
    if !line.is_ascii() && rest.chars().any(is_strange) {
        return Err(STRANGE_CHARACTERS);
    }
    let is_other = (indent.contains('\t') && !file.has_tabs && file.has_spaces)
        || (indent.starts_with("  ") && !file.has_spaces && file.has_tabs)
        || (indent.contains("\t  ") && !file.has_mixed().0)
        || (indent.contains(" \t") && !file.has_mixed().1);
    if !rest.is_empty() && is_other {
        return Err(STRANGE_INDENTATION);
    }
    if entities::has_entity(rest) && !file.has_entities() {
        return Err(ENTITY);
    }
    let is_escaped = rest.contains("\\\"") || rest.contains("\\'");
    let bare = rest.replace("\\\"", "").replace("\\'", "");
    match is_escaped && !bare.contains(['"', '\'', '`']) {
        true => Err(ESCAPED),
        false => Ok(()),
    }
}

/// By how much most lines of the file are deeper than the line above, where they are.
pub(super) fn usual_step(file: &Lines<'_>) -> Option<usize> {
    let filled = || file.all.iter().map(|line| split_indent(line.text)).filter(|(_, rest)| !rest.is_empty());
    let widths = || filled().map(|(indent, _)| indent.len());
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (before, after) in widths().zip(widths().skip(1)).filter(|(before, after)| before < after) {
        *counts.entry(after - before).or_default() += 1;
    }
    counts.iter().max_by_key(|(step, count)| (**count, usize::MAX - **step)).map(|(step, _)| *step)
}
