//! Names as a careless file system sees them: the protected list must also hold where `.GIT`, `.git.` or `.g\u{200c}it`
//! opens `.git`.
//!
//! It only ever makes more names alike, so it serves the protected list, which asks, and no rule that allows.

use super::wildcard;

/// Whether some run of the path's parts matches all parts of the pattern, in order; what lies inside matches too.
pub(super) fn matches(pattern: &str, except: &[&str], path: &str) -> bool {
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

/// The letters with which a name may begin, folded, one bit each; all of them where that is not plain.
pub(super) fn first_letters(name: &str) -> u128 {
    match name.bytes().next() {
        None => 0,
        Some(b'*' | b'?' | 128..) => u128::MAX,
        Some(letter) => 1 << letter.to_ascii_lowercase(),
    }
}

/// The letters with which a name may end, likewise.
pub(super) fn last_letters(name: &str) -> u128 {
    match seen(name).bytes().next_back() {
        None => 0,
        Some(b'*' | b'?' | 128..) => u128::MAX,
        Some(letter) => 1 << letter.to_ascii_lowercase(),
    }
}

/// The letters with which the parts of a path may begin, and those with which they may end.
pub(super) fn letters(path: &str) -> (u128, u128) {
    let (mut first, mut last) = (0, 0);
    for part in path.as_bytes().split(|letter| *letter == b'/') {
        let (Some(begin), Some(end)) = (part.first(), part.last()) else { continue };
        let is_plain = !matches!(end, b'.' | b' ' | 128..) && *begin < 128 && !part.contains(&b':');
        if !is_plain {
            // The long way, for the whole path: such names are rare.
            return path.split('/').fold((0, 0), |(first, last), part| {
                (first | first_letters(part), last | last_letters(part))
            });
        }
        first |= letter(*begin);
        last |= letter(*end);
    }
    (first, last)
}

fn letter(byte: u8) -> u128 {
    match byte {
        b'*' | b'?' => u128::MAX,
        letter => 1 << letter.to_ascii_lowercase(),
    }
}

/// The plain letters at the beginning of a pattern for one part, if there are any.
pub(super) fn beginning(pattern: &'static str) -> Option<&'static str> {
    let beginning = pattern.split(['*', '?', '\\']).next().unwrap_or(pattern);
    (!beginning.is_empty() && beginning.is_ascii()).then_some(beginning)
}

/// The plain letters at its end.
pub(super) fn ending(pattern: &'static str) -> Option<&'static str> {
    let ending = pattern.rsplit(['*', '?', '\\']).next().unwrap_or(pattern);
    (!ending.is_empty() && ending.is_ascii()).then_some(ending)
}

/// Whether some part of the path may have these letters where `may_have` looks.
pub(super) fn has_part(path: &str, letters: &str, may_have: fn(&[u8], &[u8]) -> bool) -> bool {
    path.as_bytes().split(|letter| *letter == b'/').any(|part| may_have(part, letters.as_bytes()))
}

/// Whether a part could begin with these letters: false only where that is plain at a glance.
pub(super) fn may_begin_with(part: &[u8], beginning: &[u8]) -> bool {
    let begin = part.get(..beginning.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(beginning)) || !part.is_ascii()
}

/// Whether a part could end in these letters, likewise.
pub(super) fn may_end_in(part: &[u8], ending: &[u8]) -> bool {
    let end = part.len().checked_sub(ending.len()).map(|start| &part[start..]);
    end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
        || matches!(part.last(), Some(b'.' | b' '))
        || part.contains(&b':')
        || !part.is_ascii()
}

fn starts_with(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    pattern.split('/').all(|wanted| parts.next().is_some_and(|part| part_matches(wanted, part)))
}

fn part_matches(wanted: &str, part: &str) -> bool {
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
