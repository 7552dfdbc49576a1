//! Text that was escaped once too often: `\"` for `"`, `\n` for a new line.

use super::fold::Level;
use super::lines::Lines;
use super::{Effort, Found, Step, Stop, one};

const HALF_ESCAPED: &str = "newString has escaped and plain characters of the same kind";

/// What follows the backslash, and what it stands for.
const KINDS: [(char, char); 7] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('n', '\n'), ('t', '\t'), ('r', '\r'), ('\\', '\\')];

/// The place of the old text without its escapes.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    let Some(kinds) = kinds(old) else { return Ok(Vec::new()) };
    let bare_old = unescaped(old, &kinds);
    let bare_new = unescaped(new, &kinds);
    for level in [Level::Exact, Level::Trailing, Level::Indentation] {
        let found = one(effort, lines, &bare_old, &bare_new, level, Step::Escapes)?;
        if let Some(first) = found.first() {
            let line = lines.at(first.range.start) + 1;
            return match is_escaped_alike(new, &kinds) {
                true => Ok(found),
                false => Err(Stop::Doubt { line, why: HALF_ESCAPED }),
            };
        }
    }
    Ok(Vec::new())
}

/// The kinds of escapes in a text that is escaped throughout; `None` where it is not.
fn kinds(text: &str) -> Option<Vec<(char, char)>> {
    let mut kinds: Vec<(char, char)> = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            let next = characters.next()?;
            let kind = *KINDS.iter().find(|(escape, _)| *escape == next)?;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    let is_throughout = kinds.iter().all(|kind| !has_plain(text, kind.1));
    (!kinds.is_empty() && is_throughout).then_some(kinds)
}

/// Whether the character is there without a backslash before it.
fn has_plain(text: &str, wanted: char) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            _ if character == wanted => return true,
            _ => {}
        }
    }
    false
}

/// Whether the new text is escaped as the old one is, or has nothing that would be.
fn is_escaped_alike(new: &str, kinds: &[(char, char)]) -> bool {
    if !new.contains('\\') {
        // Nothing is escaped, and what would have been is plain: that is as the file has it.
        return true;
    }
    let mut characters = new.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            let next = characters.next();
            if !kinds.iter().any(|(escape, _)| Some(*escape) == next) {
                return false;
            }
        }
    }
    kinds.iter().all(|kind| !has_plain(new, kind.1))
}

fn unescaped(text: &str, kinds: &[(char, char)]) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let kind = kinds.iter().find(|(escape, _)| character == '\\' && Some(escape) == characters.peek());
        match kind {
            Some((_, stands_for)) => {
                plain.push(*stands_for);
                characters.next();
            }
            None => plain.push(character),
        }
    }
    plain
}
