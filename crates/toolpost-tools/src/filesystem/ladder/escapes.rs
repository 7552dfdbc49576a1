//! Text that was escaped once too often: `\"` for `"`, `\n` for a new line.

use super::fold::is_word;
use super::lines::{Lines, is_blank};
use super::literals;
use super::{Effort, Found, Step, Stop, bare};
use std::collections::HashSet;

const IN_LITERAL: &str = "newString has an escaped new line or tab within quotes, in a comment or in an expression, which may be \
                          meant as it is";
const HALF_ESCAPED: &str = "newString has escaped and plain characters of the same kind";

/// What follows the backslash, and what it stands for.
const KINDS: [(char, char); 7] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('n', '\n'), ('t', '\t'), ('r', '\r'), ('\\', '\\')];

/// Whether a new text of one line has the old line and others, with `\n` for the ends of lines: written so, none of them
/// would be a line. What stands in a string or in a comment is meant as it is.
pub(super) fn has_escaped_lines(text: &str, old: &str, new: &str) -> bool {
    let is_one_line = |text: &str| !text.contains('\n') && !text.trim().is_empty();
    if !new.contains("\\n") || old.contains("\\n") || !is_one_line(old) || !is_one_line(new) {
        return false;
    }
    let (plain, is_clear) = outside_literals(new);
    let pieces: Vec<&str> = plain.lines().map(str::trim).collect();
    // A file that has such lines, of a document or of another language, may get one more.
    let is_usual = || text.lines().any(|line| line.contains("\\n") && literals::in_quotes(line).is_empty());
    is_clear
        && pieces.len() > 1
        && plain.lines().any(|line| line.trim_start() == old.trim())
        && (!text.contains('\\') || pieces.iter().all(|piece| *piece == old.trim() || looks_like_code(piece)))
        && are_lines(old, &plain)
        && !is_usual()
}

/// The place of the old text without its escapes.
pub(super) fn without(effort: &Effort, lines: &Lines<'_>, old: &str, new: &str) -> Result<Vec<Found>, Stop> {
    if let Some(kinds) = kinds(old) {
        let found = throughout(effort, lines, old, new, kinds)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let unless_unclear = |found: Vec<Found>, is_clear: bool| match found.first() {
        Some(first) if !is_clear => {
            Err(Stop::Doubt { line: lines.at(first.range.start) + 1, why: IN_LITERAL })
        }
        _ => Ok(found),
    };
    // The ends of lines alone, or the tabs; other escapes are those of the text.
    if old.contains("\\n") && !old.contains('\n') {
        let bare_old = outside_literals(old).0;
        let (bare_new, is_clear) = match new.contains('\n') {
            true => (new.to_owned(), true),
            false => {
                let (bare_new, is_clear) = outside_literals(new);
                let are_lines = are_lines(&bare_old, &bare_new);
                // A backslash that is escaped, or one at the end of a line.
                (bare_new, is_clear && are_lines && !new.contains("\\\\n"))
            }
        };
        return unless_unclear(bare(effort, lines, &bare_old, &bare_new, Step::Escapes)?, is_clear);
    }
    if old.contains("\\t") && !old.contains('\t') && !new.contains('\t') {
        let plain = |text: &str| text.replace("\\t", "\t");
        let is_clear =
            !has_escaped_blank_in_literal(new, &[('t', '\t')]) && are_tabs_leading(&plain(old), &plain(new));
        return unless_unclear(bare(effort, lines, &plain(old), &plain(new), Step::Escapes)?, is_clear);
    }
    // Quotes of one kind.
    for (quote, _) in &KINDS[..3] {
        let escaped = format!("\\{quote}");
        if !old.contains(&escaped) || has_plain(old, *quote) {
            continue;
        }
        let plain = |text: &str| text.replace(&escaped, &quote.to_string());
        let found = bare(effort, lines, &plain(old), &plain(new), Step::Escapes)?;
        return match found.first() {
            Some(first) if new.contains(&escaped) && has_plain(new, *quote) => {
                Err(Stop::Doubt { line: lines.at(first.range.start) + 1, why: HALF_ESCAPED })
            }
            _ => Ok(found),
        };
    }
    Ok(Vec::new())
}

/// The place of the old text without escapes of these kinds, which it has throughout.
fn throughout(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &str,
    new: &str,
    mut kinds: Vec<(char, char)>,
) -> Result<Vec<Found>, Stop> {
    // Who escapes the lines may have escaped the quotes that only the new text has.
    let quote = KINDS[0];
    if new.contains("\\\"") && !kinds.contains(&quote) && !has_plain(new, '"') && !has_plain(old, '"') {
        kinds.push(quote);
    }
    // A text of several lines is not escaped, unless its quotes say so.
    let is_clean = has_plain(new, '\n')
        && kinds.iter().any(|(escape, _)| *escape == 'n')
        && (!new.contains("\\\"") || has_plain(new, '"'));
    if is_clean {
        return bare(effort, lines, &unescaped(old, &kinds), new, Step::Escapes);
    }
    let (bare_new, is_clear) = match is_breaks_alone(&kinds) {
        true => outside_literals(new),
        false => (unescaped(new, &kinds), true),
    };
    let bare_old = unescaped(old, &kinds);
    let found = bare(effort, lines, &bare_old, &bare_new, Step::Escapes)?;
    let Some(first) = found.first() else { return Ok(found) };
    let is_clear = is_clear
        && (has_plain(new, '\n') || are_lines(&bare_old, &bare_new))
        && (!kinds.contains(&('t', '\t')) || are_tabs_leading(&bare_old, &bare_new));
    let doubt = |why| Err(Stop::Doubt { line: lines.at(first.range.start) + 1, why });
    match is_escaped_alike(new, &kinds) {
        true if !is_clear || has_escaped_blank_in_literal(new, &kinds) => doubt(IN_LITERAL),
        true => Ok(found),
        false => doubt(HALF_ESCAPED),
    }
}

/// Whether every end of a line that was written as an escape is one: the lines around it are those of the old text, or look
/// like lines of their own. In a comment, an expression or a string it may be meant as it is.
fn are_lines(old: &str, new: &str) -> bool {
    let known: HashSet<&str> = old.lines().map(str::trim).collect();
    let lines: Vec<&str> = new.lines().collect();
    let is_known = |line: &str| known.contains(line.trim());
    lines.windows(2).all(|pair| {
        let (above, below) = (pair[0], pair[1]);
        let text = above.trim();
        match () {
            () if is_known(above) => true,
            // What stands before a break that is meant as it is: blanks, or the beginning of an expression.
            () if !text.is_empty() && above.ends_with(is_blank) => false,
            () if is_open_expression(above) || literals::opens_string(above) => false,
            () if is_known(below) || below.trim().is_empty() => true,
            // Indented by one blank, the line goes on with the one above.
            () if below.starts_with(' ') && !below.starts_with("  ") && !above.starts_with(' ') => {
                below.trim_start().starts_with('*')
            }
            () if comment(above).is_some() => comment(below).is_some() || looks_like_code(below),
            () => true,
        }
    })
}

/// Whether tabs stand only before what lines say, but in lines of the old text: anywhere else an escape may be meant as it is.
fn are_tabs_leading(old: &str, new: &str) -> bool {
    let known: HashSet<&str> = old.lines().map(str::trim).collect();
    new.lines().all(|line| known.contains(line.trim()) || !line.trim_start().contains('\t'))
}

/// Where a comment begins on a line.
fn comment(line: &str) -> Option<usize> {
    let marks = ["//", "#", "/*", "--", "<!--", ";;", "%"];
    let is_set_off = |at: usize| line[..at].chars().next_back().is_none_or(is_blank);
    let found = marks.iter().filter_map(|mark| line.find(mark).filter(|at| is_set_off(*at))).min();
    found.or_else(|| line.trim_start().starts_with('*').then_some(0))
}

fn looks_like_code(line: &str) -> bool {
    let text = line.trim();
    text.ends_with([';', '{', '}', ')', ']', ':', ',']) || text.contains(" = ") || text.contains('(')
}

/// Whether a line ends within an expression between slashes.
fn is_open_expression(line: &str) -> bool {
    let Some(at) = line.rfind('/').filter(|_| comment(line).is_none()) else { return false };
    let before = line[..at].trim_end().chars().next_back();
    before.is_none_or(|before| "(,=:[!&|?{};".contains(before)) || line[..at].trim_end().ends_with("return")
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
    // Where the line begins that is being written.
    let mut line = 0;
    while let Some(at) = rest.find(['"', '\'', '`', '\\']) {
        line = rest[..at].rfind('\n').map_or(line, |newline| plain.len() + newline + 1);
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
                line = plain.len();
                rest = &rest[2..];
            }
            '\\' => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                plain.push_str(&rest[..length]);
                line = if rest[..length].ends_with('\n') { plain.len() } else { line };
                rest = &rest[length..];
            }
            sign => {
                let before = plain.chars().next_back();
                let literal = literal(rest, sign);
                let has_break = literal.is_some_and(|literal| literal.contains("\\n"));
                let length = match literal {
                    Some(literal) if !has_break => literal.len(),
                    // Nothing but escapes: a character.
                    Some(literal)
                        if literal.trim_matches(sign).replace("\\r", "").replace("\\n", "").is_empty() =>
                    {
                        literal.len()
                    }
                    Some(literal) if sign == '"' || is_set_off(before, literal, &rest[literal.len()..]) => {
                        // What is indented behind it is more likely a line, and quotes in a comment or in prose may go on
                        // on the next one.
                        is_clear &= !literal.contains("\\n ")
                            && !literal.contains("\\n\t")
                            && is_code(&plain[line..]);
                        literal.len()
                    }
                    // An apostrophe or a lifetime has letters around it; anything else may be a literal.
                    Some(literal) => {
                        let after = rest[literal.len()..].chars().next();
                        let is_apostrophe = before.is_some_and(is_word) && literal.contains(' ');
                        let is_lifetime = matches!(before, Some('&' | '<')) || after.is_some_and(is_word);
                        is_clear &= sign == '\'' && (is_apostrophe || is_lifetime);
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

/// Whether a literal of the language may follow the beginning of a line: not in a comment, and behind a sign rather than a
/// word.
fn is_code(line: &str) -> bool {
    let line = line.trim();
    let is_comment = ["//", "#", "*", "/*", "--", "\"\"\""].iter().any(|mark| line.starts_with(mark));
    let is_behind_sign = line.is_empty() || line.ends_with(|last: char| "([{=,+:!?&|<>;".contains(last));
    !is_comment && (is_behind_sign || line.ends_with("return"))
}

/// Whether what stands in single quotes stands where a literal does: apostrophes and lifetimes have letters around them.
fn is_set_off(before: Option<char>, literal: &str, after: &str) -> bool {
    literal.starts_with('\'')
        && before.is_none_or(|before| before.is_whitespace() || "([{=,:+!?".contains(before))
        && after.chars().next().is_none_or(|after| after.is_whitespace() || ")]},;:.+".contains(after))
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
