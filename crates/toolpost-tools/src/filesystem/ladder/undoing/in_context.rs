//! Characters that were put for others on the lines that stay.
//!
//! These lines are not written: they stay as the file has them. The lines that go have to be there as they are, and those
//! that come are taken at their word, unless they may have been changed in the same way.

use super::super::lines::{Lines, is_blank, split_indent};
use super::Undone;
use similar::{Algorithm, DiffOp, capture_diff_slices};

const SAME_CHANGE: &str = "oldString is there but for how it writes some characters, and newString may have been written \
                           in the same way";

/// Full-width forms for brackets, commas and the rest of ASCII.
pub(super) fn full_width(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let narrow = |character: char| match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character),
        other => other,
    };
    context(old, new, |line| line.chars().map(narrow).collect())
}

/// Single quotes for double ones, and the other way round.
pub(super) fn swapped_quotes(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let swapped = |character: char| match character {
        '\'' => '"',
        '"' => '\'',
        other => other,
    };
    let undone = context(old, new, |line| line.chars().map(swapped).collect())?;
    if undone.doubt.is_none() {
        return Some(undone);
    }
    // Quotes of the kind that the file has are those that are meant.
    let count = |quote: char| file.text.matches(quote).count();
    let (single, double) = (count('\''), count('"'));
    let usual = if double > single { '"' } else { '\'' };
    let other = if usual == '"' { '\'' } else { '"' };
    let is_usual = single.max(double) > 4 * single.min(double)
        && !added(old, new).iter().any(|line| line.contains(other) || line.matches(usual).count() % 2 == 1);
    Some(Undone { doubt: undone.doubt.filter(|_| !is_usual), ..undone })
}

/// Spaces inside of brackets.
pub(super) fn spaced_brackets(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    context(old, new, |line| {
        let (indent, text) = split_indent(line);
        let mut plain = indent.to_owned();
        for character in text.chars() {
            if matches!(character, ')' | ']') {
                plain.truncate(plain.trim_end_matches(is_blank).len().max(indent.len()));
            }
            if !(is_blank(character) && plain.len() > indent.len() && plain.ends_with(['(', '['])) {
                plain.push(character);
            }
        }
        plain
    })
}

/// A backslash before each slash.
pub(super) fn slashes(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    context(old, new, |line| line.replace("\\/", "/"))
}

/// A backslash before each backtick and before `${`.
pub(super) fn backticks(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    context(old, new, |line| line.replace("\\`", "`").replace("\\${", "${"))
}

/// Code points for the characters beyond ASCII: `\u00e9`.
pub(super) fn code_points(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    context(old, new, |line| {
        let mut plain = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(at) = rest.find("\\u") {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            let (character, length) = code_point(rest).unwrap_or(('\\', 1));
            plain.push(character);
            rest = &rest[length..];
        }
        plain + rest
    })
}

/// The character beyond ASCII that a text begins with the code point of, and the length of that.
fn code_point(text: &str) -> Option<(char, usize)> {
    let unit = |from: usize| -> Option<u32> {
        text.get(from..from + 2).filter(|start| *start == "\\u")?;
        u32::from_str_radix(text.get(from + 2..from + 6)?, 16).ok()
    };
    let first = unit(0)?;
    let (code, length) = match (first, unit(6)) {
        (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
            (0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
        }
        _ => (first, 6),
    };
    char::from_u32(code).filter(|character| !character.is_ascii()).map(|character| (character, length))
}

/// Both texts with the lines that stay as they are without the change; `None` where it changes none of them.
fn context(old: &str, new: &str, undo: impl Fn(&str) -> String) -> Option<Undone> {
    let (olds, news) = (Lines::of(old), Lines::of(new));
    if !olds.all.iter().any(|line| undo(line.text) != line.text) {
        return None;
    }
    let (mut plain_old, mut plain_new) = (texts(&olds), texts(&news));
    let (mut gone, mut come): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut is_changed = false;
    for op in ops(&olds, &news) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                for at in 0..len {
                    let plain = undo(olds.all[old_index + at].text);
                    is_changed |= plain != olds.all[old_index + at].text;
                    plain_old[old_index + at].clone_from(&plain);
                    plain_new[new_index + at] = plain;
                }
            }
            op => {
                gone.extend(op.old_range());
                come.extend(op.new_range());
            }
        }
    }
    if !is_changed {
        return None;
    }
    let would_change = |line: &String| undo(line) != *line;
    let is_shown = gone.iter().any(|at| would_change(&plain_old[*at]));
    let is_open = !is_shown && come.iter().any(|at| would_change(&plain_new[*at]));
    let joined = |lines: &Lines<'_>, plain: Vec<String>| -> String {
        lines.all.iter().zip(plain).map(|(line, plain)| plain + line.ending).collect()
    };
    Some(Undone {
        old: joined(&olds, plain_old),
        new: joined(&news, plain_new),
        doubt: is_open.then_some(SAME_CHANGE),
    })
}

/// The lines that only the new text has.
fn added<'a>(old: &str, new: &'a str) -> Vec<&'a str> {
    let (olds, news) = (Lines::of(old), Lines::of(new));
    let added = ops(&olds, &news).into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    added.flat_map(|op| op.new_range()).map(|at| news.all[at].text).collect()
}

fn ops(old: &Lines<'_>, new: &Lines<'_>) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, &texts(old), &texts(new))
}

fn texts(lines: &Lines<'_>) -> Vec<String> {
    lines.all.iter().map(|line| line.text.to_owned()).collect()
}
