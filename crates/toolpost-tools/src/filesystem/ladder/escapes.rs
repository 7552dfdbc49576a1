//! Text that was escaped once too often: `\"` for `"`, `\n` for a new line.

use super::lines::Lines;
use super::{Effort, Found, Step, Stop, bare};

const IN_LITERAL: &str =
    "newString has an escaped new line or tab within quotes, which may be meant as it is";
const HALF_ESCAPED: &str = "newString has escaped and plain characters of the same kind";

/// What follows the backslash, and what it stands for.
const KINDS: [(char, char); 7] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('n', '\n'), ('t', '\t'), ('r', '\r'), ('\\', '\\')];

/// The place of the old text without its escapes.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    let Some(kinds) = kinds(old) else { return Ok(Vec::new()) };
    let bare_old = unescaped(old, &kinds);
    let bare_new = unescaped(new, &kinds);
    let found = bare(effort, lines, &bare_old, &bare_new, Step::Escapes)?;
    let Some(first) = found.first() else { return Ok(found) };
    let doubt = |why| Err(Stop::Doubt { line: lines.at(first.range.start) + 1, why });
    match is_escaped_alike(new, &kinds) {
        true if has_escaped_break_in_literal(new, &kinds) => doubt(IN_LITERAL),
        true => Ok(found),
        false => doubt(HALF_ESCAPED),
    }
}

/// Whether a new line is escaped between two quotes that are not: there it may be meant as it is.
fn has_escaped_break_in_literal(text: &str, kinds: &[(char, char)]) -> bool {
    if kinds.iter().any(|(escape, _)| matches!(escape, '"' | '\'' | '\\')) || !text.contains('\\') {
        return false;
    }
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', _) => {
                let escaped = characters.next();
                if quote.is_some() && matches!(escaped, Some('n' | 't' | 'r')) {
                    // Where a line ends with an open quote it was no quote, or a literal of several lines.
                    return true;
                }
            }
            ('\n', _) => quote = None,
            ('"' | '\'' | '`', None) => quote = Some(character),
            (_, Some(open)) if open == character => quote = None,
            _ => {}
        }
    }
    false
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
