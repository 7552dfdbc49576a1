//! What was put around both texts, or before each of their lines.

use super::super::lines::{Lines, is_filled};
use super::Undone;

/// The closing line of a code fence whose opening line was left out.
pub(super) fn fence_end(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let cut = |text: &'_ str| -> Option<String> {
        let text = text.trim_end_matches('\n');
        let (rest, last) = text.rsplit_once('\n')?;
        let is_fence = last.trim_end().len() > 2 && last.trim_end().bytes().all(|byte| byte == b'`');
        (is_fence && !rest.contains("```")).then(|| rest.trim_end_matches('\r').to_owned())
    };
    Some(Undone::plain(cut(old)?, cut(new)?))
}

/// Quotes around each of the two as a whole.
pub(super) fn quotes(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let inside = |text: &'_ str, quote: &str| -> Option<String> {
        Some(text.strip_prefix(quote)?.strip_suffix(quote)?.to_owned())
    };
    ["\"\"\"", "'''", "\"", "'", "`"].into_iter().find_map(|quote| {
        let undone = Undone::plain(inside(old, quote)?, inside(new, quote)?);
        // One line between quotes is more often a literal than a line of the file.
        (undone.old.contains('\n') || quote == "`").then_some(undone)
    })
}

/// Tags that are called like the arguments.
pub(super) fn tags(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let inside = |text: &'_ str, names: [&str; 4]| -> Option<String> {
        let text = text.trim_matches('\n');
        let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
        let rest = rest.strip_suffix(&format!("</{name}>"))?;
        let is_known = names.contains(&name.to_ascii_lowercase().replace('_', "").as_str());
        let rest = rest.strip_prefix('\n').unwrap_or(rest);
        is_known.then(|| rest.strip_suffix('\n').unwrap_or(rest).to_owned())
    };
    let old = inside(old, ["oldstring", "oldstr", "old", "search"])?;
    Some(Undone::plain(old, inside(new, ["newstring", "newstr", "new", "replace"])?))
}

/// The marks of a diff: a space on what stays, a minus on what goes, a plus on what comes.
pub(super) fn diff_marks(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let has = |text: &str, mark: char| text.lines().any(|line| line.starts_with(mark));
    if !has(old, '-') || (!has(new, '+') && is_filled(new) && !has(new, ' ')) {
        return None;
    }
    let marks = |text: &str, mark: char| stripped(text, |line| line.strip_prefix([' ', mark]));
    Some(Undone::plain(marks(old, '-')?, marks(new, '+')?))
}

/// The marks of a quotation.
pub(super) fn quote_marks(_: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let marks = |text: &str| {
        stripped(text, |line| {
            line.strip_prefix("> ").or(line.strip_prefix('>').filter(|rest| rest.is_empty()))
        })
    };
    if !old.starts_with('>') {
        return None;
    }
    Some(Undone::plain(marks(old)?, marks(new)?))
}

/// A text without the mark of each line; empty lines may have lost theirs.
fn stripped(text: &str, without: impl Fn(&str) -> Option<&str>) -> Option<String> {
    let mut bare = String::with_capacity(text.len());
    for line in Lines::of(text).all {
        bare.push_str(if line.text.is_empty() { "" } else { without(line.text)? });
        bare.push_str(line.ending);
    }
    Some(bare)
}
