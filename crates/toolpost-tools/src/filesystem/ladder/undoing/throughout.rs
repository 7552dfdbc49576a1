//! Characters that were put for others throughout, or added, and indentation that was lost below the first line.

use super::super::fold::look_alike;
use super::super::lines::{Line, Lines, is_filled, is_telling, split_indent};
use super::super::literals;
use super::Undone;
use std::collections::BTreeSet;

const OTHER_CHARACTERS: &str = "oldString has typographic characters where the file has plain ones, and newString has others \
                                that oldString does not show";
const LITERAL: &str = "oldString lacks the indentation of its lines below the first, and it is unclear whether those of a \
                       string in newString lack it too";

/// Lines that end with a carriage return alone, where the file has none.
pub(super) fn carriage_returns(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let has_alone = |text: &str| {
        let bytes = text.as_bytes();
        memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'))
    };
    let has_lines = has_alone(old.trim_end_matches('\r'));
    if !has_lines || old.contains('\n') || has_alone(file.text) {
        return None;
    }
    let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
    Some(Undone::plain(plain(old), plain(new)))
}

/// Characters that nobody sees, where the file has none.
pub(super) fn zero_width(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    const UNSEEN: [char; 3] = ['\u{200b}', '\u{2060}', '\u{feff}'];
    if !old.contains(UNSEEN) || file.text.contains(UNSEEN) {
        return None;
    }
    Some(Undone::plain(old.replace(UNSEEN, ""), new.replace(UNSEEN, "")))
}

/// Typographic quotes, dashes and spaces, where the file has none of them.
pub(super) fn typographic(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    if old.is_ascii() {
        return None;
    }
    let is_foreign = |character: char| look_alike(character).is_some();
    // The two kinds of quotes are taken for each other's typographic forms.
    let group = |character: char| look_alike(character).map(|plain| if plain == '"' { '\'' } else { plain });
    let groups = |text: &str| -> BTreeSet<char> { text.chars().filter_map(group).collect() };
    let (shown, used) = (groups(old), groups(new));
    if shown.is_empty() || (!file.text.is_ascii() && !groups(file.text).is_disjoint(&shown)) {
        return None;
    }
    // A new text with plain quotes of its own was not written in this way, so its others may be meant.
    let has_plain =
        |plain: char| new.contains(plain) && old.chars().any(|one| look_alike(one) == Some(plain));
    let is_mixed = has_plain('"') || has_plain('\'');
    let is_unshown = has_apostrophe(new) && !old.chars().any(|one| look_alike(one) == Some('\''));
    let is_open = new.contains(is_foreign) && (is_mixed || is_unshown || !used.is_subset(&shown));
    let plain =
        |text: &str| text.chars().map(|character| look_alike(character).unwrap_or(character)).collect();
    Some(Undone { old: plain(old), new: plain(new), doubt: is_open.then_some(OTHER_CHARACTERS) })
}

/// Whether a typographic quote stands between two letters: people write `it’s` so, and may mean it.
fn has_apostrophe(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let is_one = |three: &[char]| {
        three[0].is_alphabetic() && look_alike(three[1]) == Some('\'') && three[2].is_alphabetic()
    };
    characters.windows(3).any(is_one)
}

/// One character for three dots, where the file has none.
pub(super) fn ellipsis(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    written_out(file, old, new, '\u{2026}', "...")
}

/// A long dash for two hyphens, where the file has none.
pub(super) fn long_dash(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    written_out(file, old, new, '\u{2014}', "--")
}

fn written_out(file: &Lines<'_>, old: &str, new: &str, character: char, plain: &str) -> Option<Undone> {
    let is_meant = !old.contains(character) || file.text.contains(character);
    (!is_meant).then(|| Undone::plain(old.replace(character, plain), new.replace(character, plain)))
}

/// No-break spaces for the indentation, where the file has none.
pub(super) fn no_break_indentation(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    const NO_BREAK: char = '\u{a0}';
    let indent = |line: &'_ str| line.len() - line.trim_start_matches([NO_BREAK, ' ', '\t']).len();
    let has =
        |lines: &Lines<'_>| lines.all.iter().any(|line| line.text[..indent(line.text)].contains(NO_BREAK));
    if !old.contains(NO_BREAK) || !has(&Lines::of(old)) || has(file) {
        return None;
    }
    let plain = |text: &str| -> String {
        let mut plain = String::with_capacity(text.len());
        for line in Lines::of(text).all {
            let (blanks, rest) = line.text.split_at(indent(line.text));
            plain.push_str(&blanks.replace(NO_BREAK, " "));
            plain.push_str(rest);
            plain.push_str(line.ending);
        }
        plain
    };
    Some(Undone::plain(plain(old), plain(new)))
}

/// Every line but the first has lost the indentation of the first, which both texts have.
pub(super) fn rest_dedented(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let (olds, news) = (Lines::of(old), Lines::of(new));
    let (first, rest) = olds.all.split_first()?;
    let indent = split_indent(first.text).0;
    let is_shared = news.all.first().is_some_and(|line| line.text == first.text);
    // A line below that both have shows that both have lost it.
    let is_kept = |line: &Line<'_>| {
        is_telling(line.text) && news.all.iter().skip(1).any(|other| other.text == line.text)
    };
    if indent.is_empty() || !is_filled(first.text) || !is_shared || !rest.iter().any(is_kept) {
        return None;
    }
    let deeper = |lines: &Lines<'_>| -> String {
        let mut text = String::new();
        for (at, line) in lines.all.iter().enumerate() {
            text.push_str(if at > 0 && is_filled(line.text) { indent } else { "" });
            text.push_str(line.text);
            text.push_str(line.ending);
        }
        text
    };
    let texts: Vec<&str> = news.all.iter().map(|line| line.text).collect();
    let is_unclear = literals::several(&texts).iter().any(|one| !one.is_moved_along(&texts));
    Some(Undone { doubt: is_unclear.then_some(LITERAL), ..Undone::plain(deeper(&olds), deeper(&news)) })
}
