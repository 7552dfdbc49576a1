//! What stands in a literal: a string of one line or of several, or a here-document.
//!
//! Read from the signs that most languages share. Where a sign may be one thing or another, the text counts as a literal:
//! what is in one is never written otherwise than it was given.

use super::lines::{is_blank, is_filled, split_indent};
use std::ops::Range;

/// The parts of a line that stand in quotes, the quotes with them. A quote that nothing on the line closes reaches to its
/// end, but an apostrophe or a lifetime is none.
pub(super) fn in_quotes(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut before: Option<char> = None;
    let mut from = 0;
    while let Some((at, sign)) = line[from..].char_indices().map(|(at, sign)| (from + at, sign)).next() {
        let rest = &line[at..];
        let length = match sign {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '"' | '`' => closed(rest, sign).unwrap_or(rest.len()),
            '\'' if !before.is_some_and(char::is_alphanumeric) => closed(rest, sign).unwrap_or(1),
            _ => sign.len_utf8(),
        };
        if matches!(sign, '"' | '`' | '\'') && length > 1 {
            found.push(at..at + length);
        }
        before = line[at..at + length].chars().next_back();
        from = at + length;
    }
    found
}

/// The length of the literal that a text begins with.
fn closed(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            character if character == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Whether a line leaves a string open.
pub(super) fn opens_string(line: &str) -> bool {
    opened(line).is_some_and(|sign| sign.len() == 1)
}

/// Whether a text ends within a string of several lines.
pub(super) fn is_open(text: &str) -> bool {
    ["\"\"\"", "'''"].iter().any(|sign| text.matches(sign).count() % 2 == 1)
}

/// A literal of several lines: the line it begins on, and those that begin within it, the one that ends it too.
pub(super) struct Several {
    pub(super) first: usize,
    pub(super) inner: Range<usize>,
    /// Whether its end has to stand at the margin.
    is_document: bool,
}

/// The literals that begin and end in these lines, and go over several of them.
pub(super) fn several(lines: &[&str]) -> Vec<Several> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let end = document(line)
            .and_then(|name| end_of_document(lines, at, name).map(|end| (end, true)))
            .or_else(|| opened(line).and_then(|sign| end_of(lines, at, &sign)).map(|end| (end, false)));
        match end {
            Some((end, is_document)) => {
                found.push(Several { first: at, inner: at + 1..end + 1, is_document });
                at = end + 1;
            }
            None => at += 1,
        }
    }
    found
}

impl Several {
    /// Whether it is plain that its lines were moved with the one it begins on: they are all as deep.
    pub(super) fn is_moved_along(&self, lines: &[&str]) -> bool {
        let indent = split_indent(lines[self.first]).0;
        let mut inner = lines[self.inner.clone()].iter().filter(|line| is_filled(line));
        !indent.is_empty() && !self.is_document && inner.all(|line| line.starts_with(indent))
    }
}

/// The word that ends the here-document which begins on a line. One with `~` may be moved.
fn document(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest
        .strip_prefix('-')
        .unwrap_or(rest)
        .trim_start_matches(is_blank)
        .trim_start_matches(['"', '\'', '\\']);
    let length = rest.len() - rest.trim_start_matches(|one: char| one.is_alphanumeric() || one == '_').len();
    Some(&rest[..length]).filter(|word| word.starts_with(|one: char| one.is_alphabetic() || one == '_'))
}

fn end_of_document(lines: &[&str], first: usize, name: &str) -> Option<usize> {
    (first + 1..lines.len())
        .find(|at| lines[*at].trim_matches(is_blank).trim_end_matches([';', ')', ',']) == name)
}

/// What closes the string that a line leaves open.
fn opened(line: &str) -> Option<String> {
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let sign = rest[at..].chars().next().unwrap_or_default();
        let three = sign.to_string().repeat(3);
        // The hashes of a raw string of Rust.
        let before = rest[..at].trim_end_matches('#');
        let hashes = "#".repeat(at - before.len());
        let end = match () {
            () if sign == '"' && before.ends_with('r') => format!("\"{hashes}"),
            () if rest[at..].starts_with(&three) => three.clone(),
            () => sign.to_string(),
        };
        let length = if end == three { 3 } else { 1 };
        let inside = &rest[at + length..];
        let is_apostrophe = end == "'" && rest[..at].ends_with(char::is_alphanumeric);
        let close = match () {
            () if end.len() > 1 => inside.find(&end).map(|close| close + end.len()),
            () => closed(&rest[at..], sign).map(|length| length - 1),
        };
        match close {
            Some(close) if !is_apostrophe => rest = &inside[close..],
            // A single quote that nothing closes is an apostrophe or a lifetime.
            _ if is_apostrophe || end == "'" => rest = inside,
            // The fence of a block of code.
            _ if end == "```" => return None,
            _ => return Some(end),
        }
    }
    None
}

fn end_of(lines: &[&str], first: usize, sign: &str) -> Option<usize> {
    (first + 1..lines.len()).find(|at| match sign {
        "\"" | "`" => {
            let line = lines[*at];
            line.char_indices().any(|(at, one)| sign.starts_with(one) && !line[..at].ends_with('\\'))
        }
        sign => lines[*at].contains(sign),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_within_a_line() {
        let inside = |line: &'static str| -> Vec<&str> {
            in_quotes(line).into_iter().map(|part| &line[part]).collect()
        };
        assert_eq!(inside("log(\"a: %d\", x)"), ["\"a: %d\""]);
        assert_eq!(inside(r#"a("x\"y", 'z')"#), [r#""x\"y""#, "'z'"]);
        assert_eq!(inside("don't fn f<'a>(x: &'a str)"), ["'a>(x: &'"]);
        assert_eq!(inside("x = `a  b"), ["`a  b"]);
        assert_eq!(inside("plain = 1"), Vec::<&str>::new());
    }

    #[test]
    fn literals_over_several_lines() {
        let inner = |text: &str| -> Vec<(usize, Range<usize>)> {
            let lines: Vec<&str> = text.lines().collect();
            several(&lines).into_iter().map(|one| (one.first, one.inner)).collect()
        };
        assert_eq!(inner("a\ncat <<EOF\nb\nEOF\nc"), [(1, 2..4)]);
        assert_eq!(inner("cat <<-'END' > x\n\tb\n\tEND"), [(0, 1..3)]);
        assert_eq!(inner("s = \"\"\"\nx\n\"\"\"\nt = '''y'''"), [(0, 1..3)]);
        assert_eq!(inner("let a = r#\"x\n\"y\"\n\"#;"), [(0, 1..3)]);
        assert_eq!(inner("const q = `a\n  b`;\nconst r = `c`;"), [(0, 1..2)]);
        assert_eq!(inner("echo \"a\nb\""), [(0, 1..2)]);
        assert_eq!(inner("x << y;\nfn f<'a>(b: &'a str) {}\n// don't"), []);
        assert_eq!(inner("say(\"a\")\nsay('b')"), []);
    }
}
