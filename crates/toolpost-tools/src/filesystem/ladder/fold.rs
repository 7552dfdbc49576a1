//! Lines reduced to what a comparison looks at.

use super::lines::is_blank;
use std::borrow::Cow;

/// How much of a line a comparison overlooks; each level overlooks what those above it do, except that look-alikes keep
/// their blanks, so that every character still has its counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Exact,
    Trailing,
    Indentation,
    Blanks,
    LookAlikes,
}

/// What is left of a line.
pub(super) fn fold(line: &str, level: Level) -> Cow<'_, str> {
    match level {
        Level::Exact => Cow::Borrowed(line),
        Level::Trailing => Cow::Borrowed(line.trim_end_matches(is_blank)),
        Level::Indentation => Cow::Borrowed(line.trim_matches(is_blank)),
        Level::Blanks if !line.contains(is_blank) => Cow::Borrowed(line),
        Level::LookAlikes if line.is_ascii() => Cow::Borrowed(line.trim_matches(is_blank)),
        Level::Blanks | Level::LookAlikes => {
            Cow::Owned(mapped(line, level).into_iter().map(|(character, _, _)| character).collect())
        }
    }
}

/// Each character that is left, and the bytes of the line it stands for.
pub(super) fn mapped(line: &str, level: Level) -> Vec<(char, usize, usize)> {
    let plain = |(at, character): (usize, char)| (character, at, at + character.len_utf8());
    let all: Vec<(char, usize, usize)> = match level {
        Level::LookAlikes => line
            .char_indices()
            .map(plain)
            .map(|(c, from, to)| (look_alike(c).unwrap_or(c), from, to))
            .collect(),
        _ => line.char_indices().map(plain).collect(),
    };
    let is_filled = |entry: &(char, usize, usize)| !is_blank(entry.0);
    let last = all.iter().rposition(is_filled).map_or(0, |at| at + 1);
    let first = all[..last].iter().position(is_filled).unwrap_or(0);
    match level {
        Level::Exact => all,
        Level::Trailing => all[..last].to_vec(),
        Level::Indentation | Level::LookAlikes => all[first..last].to_vec(),
        Level::Blanks => squeezed(&all[first..last]),
    }
}

/// Runs of blanks as one, and none between a word and a sign: `f( a,  b )` is `f(a, b)`.
fn squeezed(all: &[(char, usize, usize)]) -> Vec<(char, usize, usize)> {
    let mut kept: Vec<(char, usize, usize)> = Vec::with_capacity(all.len());
    let mut at = 0;
    while at < all.len() {
        if !is_blank(all[at].0) {
            kept.push(all[at]);
            at += 1;
            continue;
        }
        let from = at;
        while at < all.len() && is_blank(all[at].0) {
            at += 1;
        }
        let before = kept.last().map(|entry| is_word(entry.0));
        let after = all.get(at).map(|entry| is_word(entry.0));
        if before == after {
            kept.push((' ', all[from].1, all[at - 1].2));
        }
    }
    kept
}

pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The plain character for one that is easily taken for it: quotes, dashes, spaces.
pub(super) fn look_alike(character: char) -> Option<char> {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{00b4}' => Some('\''),
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' => Some('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => Some('-'),
        '\u{00a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        _ => None,
    }
}
