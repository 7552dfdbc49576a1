//! Text that was escaped once too often: `\"` for `"`, `\n` for a new line.

use super::fold::is_word;
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
    let Some(mut kinds) = kinds(old) else { return Ok(Vec::new()) };
    // Who escapes the lines may have escaped the quotes that only the new text has.
    let quote = KINDS[0];
    if new.contains("\\\"") && !kinds.contains(&quote) && !has_plain(new, '"') && !has_plain(old, '"') {
        kinds.push(quote);
    }
    let (bare_new, is_clear) = match is_breaks_alone(&kinds) {
        true => outside_literals(new),
        false => (unescaped(new, &kinds), true),
    };
    let mut found = bare(effort, lines, &unescaped(old, &kinds), &bare_new, Step::Escapes)?;
    if found.is_empty() && is_breaks_alone(&kinds) {
        found = bare(effort, lines, &outside_literals(old).0, &bare_new, Step::Escapes)?;
    }
    let Some(first) = found.first() else { return Ok(found) };
    let doubt = |why| Err(Stop::Doubt { line: lines.at(first.range.start) + 1, why });
    match is_escaped_alike(new, &kinds) {
        true if !is_clear || has_escaped_blank_in_literal(new, &kinds) => doubt(IN_LITERAL),
        true => Ok(found),
        false => doubt(HALF_ESCAPED),
    }
}

/// Whether nothing but the ends of lines is escaped.
fn is_breaks_alone(kinds: &[(char, char)]) -> bool {
    kinds.iter().all(|(escape, _)| *escape == 'n')
}

/// The text with its lines ended, but for what stands in a literal in double quotes, which cannot go on on the next line;
/// and whether that is clear.
fn outside_literals(text: &str) -> (String, bool) {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_clear = true;
    while let Some(at) = rest.find(['"', '\'', '`', '\\']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let sign = rest.chars().next().unwrap_or_default();
        // Three of them begin or end a text of several lines.
        if let Some(after) = rest.strip_prefix(&sign.to_string().repeat(3)) {
            plain.push_str(&rest[..3]);
            rest = after;
            continue;
        }
        match sign {
            '\\' if rest.starts_with("\\n") => {
                plain.push('\n');
                rest = &rest[2..];
            }
            '\\' => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                plain.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            sign => {
                let before = plain.chars().next_back();
                let literal = literal(rest, sign);
                let has_break = literal.is_some_and(|literal| literal.contains("\\n"));
                let length = match literal {
                    Some(literal) if !has_break => literal.len(),
                    Some(literal) if sign == '"' => {
                        // What is indented behind it is more likely a line.
                        is_clear &= !literal.contains("\\n ") && !literal.contains("\\n\t");
                        literal.len()
                    }
                    // An apostrophe, a lifetime, or a literal with an escape: a short one is more likely that.
                    Some(literal) => {
                        let is_apostrophe = sign == '\'' && before.is_some_and(is_word);
                        let is_short = !literal.contains(['{', '}', ';', '(']) && !literal.contains("  ");
                        is_clear &= is_apostrophe || !is_short;
                        1
                    }
                    // A quote that nothing closes: of those before it, too, nobody knows which belong together.
                    None => {
                        is_clear &= sign != '"';
                        1
                    }
                };
                plain.push_str(&rest[..length]);
                rest = &rest[length..];
            }
        }
    }
    plain.push_str(rest);
    (plain, is_clear)
}

/// The literal that a text begins with, up to its closing quote.
fn literal(text: &str, quote: char) -> Option<&str> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return None,
            character if character == quote => return Some(&text[..=at]),
            _ => {}
        }
    }
    None
}

/// Whether a tab or a carriage return is escaped between two quotes that are not: there it may be meant as it is.
fn has_escaped_blank_in_literal(text: &str, kinds: &[(char, char)]) -> bool {
    if kinds.iter().any(|(escape, _)| matches!(escape, '"' | '\'' | '\\')) || !text.contains('\\') {
        return false;
    }
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', _) => match characters.next() {
                Some('t' | 'r') if quote.is_some() => return true,
                Some('n') if quote.is_some() && !is_breaks_alone(kinds) => return true,
                _ => {}
            },
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
