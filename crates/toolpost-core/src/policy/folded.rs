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
    part.split(':').next().unwrap_or(part).trim_end_matches(['.', ' '])
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
