//! What tools put around the lines that they show, and models copy along: headers, colours, the marks of `cat -A`.

use super::super::lines::{Lines, is_filled};
use super::Undone;

/// The line above both texts that says where they are: the header of a hunk, `Lines 10-20:`, or a path as a comment.
pub(super) fn header(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let (first, rest) = old.split_once('\n')?;
    let is_there = file.all.iter().any(|line| line.text.trim() == first.trim());
    if is_there || !is_filled(rest) || !(is_range(first) || is_path(first)) {
        return None;
    }
    let without = |text: &'_ str| match text.split_once('\n') {
        Some((line, rest)) if is_range(line) || line.trim() == first.trim() => rest.to_owned(),
        _ => text.to_owned(),
    };
    Some(Undone::plain(rest.to_owned(), without(new)))
}

/// Whether a line is the header of a hunk, or names lines by their numbers.
fn is_range(line: &str) -> bool {
    let line = line.trim();
    let word = line.trim_end_matches(':').to_ascii_lowercase();
    let numbers = ["lines", "line", "l"].iter().find_map(|name| word.strip_prefix(name));
    let is_numbers = numbers.is_some_and(|numbers| {
        numbers.contains(|one: char| one.is_ascii_digit())
            && numbers.chars().all(|one| one.is_ascii_digit() || " -–:to,".contains(one))
    });
    (line.starts_with("@@") && line[2..].contains("@@")) || is_numbers
}

/// Whether a line is a path, by itself or in a comment.
fn is_path(line: &str) -> bool {
    let line = line.trim();
    let marks = ["//", "#", "/*", "<!--", "--", ";", "%", "File:", "file:"];
    let bare = marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let bare = bare.trim_end_matches("*/").trim_end_matches("-->").trim().trim_matches(['`', ':']);
    let bare = ["File:", "file:"].iter().find_map(|label| bare.strip_prefix(label)).unwrap_or(bare).trim();
    let has_ending =
        bare.rsplit('/').next().and_then(|name| name.rsplit_once('.')).is_some_and(|(name, ending)| {
            (1..=8).contains(&ending.len())
                && !name.is_empty()
                && ending.chars().all(|one| one.is_ascii_alphanumeric())
        });
    has_ending
        && bare.contains(|one: char| one.is_ascii_alphabetic())
        && bare.chars().all(|one| one.is_alphanumeric() || "/._-+@".contains(one))
}

/// The colours of a terminal.
pub(super) fn colours(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    if !old.contains("\u{1b}[") || file.text.contains('\u{1b}') {
        return None;
    }
    Some(Undone::plain(without_colours(old)?, without_colours(new)?))
}

/// The text without the codes of colours; `None` where it has others.
pub(crate) fn without_colours(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let code = &rest[at + 2..];
        let length = code.find(|one: char| !one.is_ascii_digit() && one != ';')?;
        rest = code[length..].strip_prefix(['m', 'K'])?;
    }
    plain.push_str(rest);
    (!plain.contains('\u{1b}')).then_some(plain)
}

/// The ends of lines and the tabs of `cat -A`.
pub(super) fn cat_all(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let is_shown =
        |text: &str| Lines::of(text).all.iter().all(|line| line.text.ends_with('$')) && text.contains('$');
    let plain = |text: &str| -> String {
        let lines = Lines::of(text).all;
        let line =
            |text: &str| text.strip_suffix('$').unwrap_or(text).trim_end_matches("^M").replace("^I", "\t");
        lines.iter().map(|one| line(one.text) + one.ending).collect()
    };
    if !is_shown(old) {
        return None;
    }
    match is_shown(new) {
        true => Some(Undone::plain(plain(old), plain(new))),
        false if new.contains("^I") => None,
        false => Some(Undone::plain(plain(old), new.to_owned())),
    }
}

/// Both texts with the numbers that `grep` and other tools show before their lines as `12:`: `f.c:12:`, `f.c-12-`, `[12] `
/// and `12#`. `None` where the old text has none of these on each of its lines.
pub(in crate::filesystem::ladder) fn as_numbered(old: &str, new: &str) -> Option<(String, String)> {
    let first = Lines::of(old).all.first()?.text;
    let forms: [fn(&str) -> Option<Shown<'_>>; 6] = [bracketed, hashed, of_grep, around, named, dashed];
    let form = forms.into_iter().find(|form| form(first).is_some())?;
    let name = form(first)?.0.to_owned();
    let shown = |line: &'_ str| {
        form(line).filter(|(own, ..)| *own == name).map(|(_, number, rest)| format!("{number}:{rest}"))
    };
    let old_lines: Option<Vec<String>> =
        Lines::of(old).all.iter().map(|line| Some(shown(line.text)? + line.ending)).collect();
    let new_lines = Lines::of(new).all;
    let new_lines =
        new_lines.iter().map(|line| shown(line.text).unwrap_or_else(|| line.text.to_owned()) + line.ending);
    Some((old_lines?.concat(), new_lines.collect()))
}

/// What stands before the number, the number and the line.
type Shown<'a> = (&'a str, &'a str, &'a str);

fn bracketed(line: &str) -> Option<Shown<'_>> {
    let (number, rest) = digits(line.trim_start_matches(' ').strip_prefix('[')?)?;
    let rest = rest.strip_prefix(']')?;
    Some(("", number, rest.strip_prefix(' ').unwrap_or(rest)))
}

fn hashed(line: &str) -> Option<Shown<'_>> {
    let (number, rest) = digits(line.trim_start_matches(' '))?;
    let rest = rest.strip_prefix('#')?;
    Some(("", number, rest))
}

/// `(12) `, `<12> ` and `#12 `.
fn around(line: &str) -> Option<Shown<'_>> {
    let line = line.trim_start_matches(' ');
    let (sign, end) =
        [("(", ")"), ("<", ">"), ("#", "")].into_iter().find(|(sign, _)| line.starts_with(sign))?;
    let (number, rest) = digits(&line[sign.len()..])?;
    let rest = rest.strip_prefix(end)?;
    Some((sign, number, rest.strip_prefix(' ').or_else(|| rest.is_empty().then_some(rest))?))
}

/// `Line 12: `.
fn named(line: &str) -> Option<Shown<'_>> {
    let name = ["Line ", "line "].into_iter().find(|name| line.starts_with(name))?;
    let (number, rest) = digits(&line[name.len()..])?;
    let rest = rest.strip_prefix(':')?;
    Some((name, number, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// `12-`.
fn dashed(line: &str) -> Option<Shown<'_>> {
    let (number, rest) = digits(line)?;
    Some(("-", number, rest.strip_prefix('-')?))
}

fn of_grep(line: &str) -> Option<Shown<'_>> {
    let is_name = |name: &str| {
        !name.is_empty() && !name.contains(|one: char| one.is_whitespace() || "\"'()".contains(one))
    };
    for (at, sign) in line.match_indices([':', '-']) {
        let Some((number, rest)) = digits(&line[at + 1..]) else { continue };
        if let Some(rest) = rest.strip_prefix([':', '-'])
            && is_name(&line[..at])
            && line[..at].contains(['.', '/'])
            && !sign.is_empty()
        {
            return Some((&line[..at], number, rest));
        }
    }
    None
}

fn digits(text: &str) -> Option<(&str, &str)> {
    let length = text.len() - text.trim_start_matches(|one: char| one.is_ascii_digit()).len();
    (length > 0).then(|| text.split_at(length))
}
