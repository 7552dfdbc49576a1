//! Names as a careless file system sees them: the protected list must also hold where `.GIT`, `.git.` or `.g\u{200c}it`
//! opens `.git`.
//!
//! It only ever makes more names alike, so it serves the protected list, which asks, and no rule that allows.

use crate::wildcard;

/// Whether some run of the path's parts matches all parts of the pattern, in order; what lies inside matches too. A part
/// `**` stands for any number of parts.
pub fn matches(pattern: &str, except: &[&str], path: &str) -> bool {
    if except.iter().any(|name| path.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(name))) {
        return false;
    }
    let mut rest = path;
    loop {
        if starts_with(pattern, rest) {
            return true;
        }
        match rest.split_once('/') {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
}

/// The plain letters at the beginning of a pattern for one part.
pub fn beginning(pattern: &'static str) -> &'static str {
    ascii(pattern.split(['*', '?', '\\']).next())
}

/// The plain letters at its end.
pub fn ending(pattern: &'static str) -> &'static str {
    ascii(pattern.rsplit(['*', '?', '\\']).next())
}

fn ascii(letters: Option<&'static str>) -> &'static str {
    letters.filter(|letters| letters.is_ascii()).unwrap_or_default()
}

fn starts_with(pattern: &str, path: &str) -> bool {
    let (wanted, more) = match pattern.split_once('/') {
        Some((wanted, more)) => (wanted, Some(more)),
        None => (pattern, None),
    };
    if wanted == "**" {
        let Some(more) = more else { return true };
        let mut rest = Some(path);
        while let Some(path) = rest {
            if starts_with(more, path) {
                return true;
            }
            rest = path.split_once('/').map(|(_, after)| after);
        }
        return false;
    }
    let (part, after) = match path.split_once('/') {
        Some((part, after)) => (part, Some(after)),
        None => (path, None),
    };
    part_matches(wanted, part)
        && match (more, after) {
            (None, _) => true,
            (Some(more), Some(after)) => starts_with(more, after),
            (Some(_), None) => false,
        }
}

/// Whether one part of a path matches one of a pattern.
pub fn part_matches(wanted: &str, part: &str) -> bool {
    let part = seen(part);
    wildcard::matches(wanted.chars(), part.chars().filter(|letter| !is_ignored(*letter)).map(fold))
}

/// What Windows sees of a name: it opens `.git::$INDEX_ALLOCATION` and `.git. .` as `.git`.
fn seen(part: &str) -> &str {
    let part = match part.bytes().position(|letter| letter == b':') {
        Some(stream) => &part[..stream],
        None => part,
    };
    match part.as_bytes().last() {
        Some(b'.' | b' ') => part.trim_end_matches(['.', ' ']),
        _ => part,
    }
}

/// Characters that HFS+ leaves out when it compares names.
fn is_ignored(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Lower case, with the two letters outside ASCII that fold into it.
fn fold(letter: char) -> char {
    match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    }
}
