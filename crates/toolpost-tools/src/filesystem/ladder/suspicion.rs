//! Slips that only the new text shows.
//!
//! Where the old text was not there exactly, the new one may have slipped too. What the file has nothing like of is not
//! written then; where the old text is exact, the new one is taken at its word.

use super::fold::look_alike;
use super::lines::{Lines, split_indent};
use std::collections::BTreeMap;

const STRANGE_CHARACTERS: &str = "newString has quotes, dashes or spaces of a kind that the file has nowhere";
const STRANGE_INDENTATION: &str = "newString would be indented otherwise than anything in the file";
const ESCAPED: &str = "newString has nothing but escaped quotes on a line";

/// Common in prose, and rarely a slip.
const LONG_DASH: char = '\u{2014}';

/// Fails where a line that is to be written looks like a slip.
pub(super) fn check(file: &Lines<'_>, line: &str) -> Result<(), &'static str> {
    let (indent, rest) = split_indent(line);
    let is_strange = |character: char| {
        character != LONG_DASH && look_alike(character).is_some() && !file.text.contains(character)
    };
    if !line.is_ascii() && rest.chars().any(is_strange) {
        return Err(STRANGE_CHARACTERS);
    }
    let has = |start: &str| file.all.iter().any(|line| line.text.starts_with(start));
    let is_other = (indent.contains('\t') && !has("\t") && has("  "))
        || (indent.starts_with("  ") && !has("  ") && has("\t"))
        || (indent.contains("\t  ") && !file.text.contains("\t  "))
        || (indent.contains(" \t") && !file.text.contains(" \t"));
    if !rest.is_empty() && (is_other || !is_whole_step(file, indent)) {
        return Err(STRANGE_INDENTATION);
    }
    let is_escaped = rest.contains("\\\"") || rest.contains("\\'");
    let bare = rest.replace("\\\"", "").replace("\\'", "");
    match is_escaped && !bare.contains(['"', '\'', '`']) {
        true => Err(ESCAPED),
        false => Ok(()),
    }
}

/// Fails where a line stands elsewhere in the file, and nowhere with the indentation that it would get.
pub(super) fn check_known(file: &Lines<'_>, line: &str) -> Result<(), &'static str> {
    let (indent, rest) = split_indent(line);
    let mut known = file.all.iter().map(|line| split_indent(line.text)).filter(|(_, other)| *other == rest);
    // A bracket stands at every depth.
    let is_telling = rest.chars().filter(|character| character.is_alphanumeric()).count() > 2;
    let Some((first, _)) = known.next().filter(|_| is_telling) else { return Ok(()) };
    match first == indent || known.any(|(other, _)| other == indent) {
        true => Ok(()),
        false => Err(STRANGE_INDENTATION),
    }
}

/// Whether blanks are as many as the file's steps of indentation make, or as some line of it has.
fn is_whole_step(file: &Lines<'_>, indent: &str) -> bool {
    if indent.is_empty() || indent.contains(|character| character != ' ') {
        return true;
    }
    let indents = || {
        let filled = file.all.iter().map(|line| split_indent(line.text)).filter(|(_, rest)| !rest.is_empty());
        filled.map(|(indent, _)| indent.len())
    };
    if indents().any(|width| width == indent.len()) {
        return true;
    }
    usual_step(file)
        .or_else(|| indents().filter(|width| *width > 0).min())
        .is_none_or(|step| indent.len().is_multiple_of(step))
}

/// By how much most lines of the file are deeper than the line above, where they are.
pub(super) fn usual_step(file: &Lines<'_>) -> Option<usize> {
    let filled = || file.all.iter().map(|line| split_indent(line.text)).filter(|(_, rest)| !rest.is_empty());
    let widths = || filled().map(|(indent, _)| indent.len());
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (before, after) in widths().zip(widths().skip(1)).filter(|(before, after)| before < after) {
        *counts.entry(after - before).or_default() += 1;
    }
    counts.iter().max_by_key(|(step, count)| (**count, usize::MAX - **step)).map(|(step, _)| *step)
}

/// Fails where a line that was indented by a rule comes out deeper than any block is, or not deeper than what opens its
/// block: it may have been indented as the file is, and the rule not meant for it.
pub(super) fn check_depth<'a>(
    file: &Lines<'_>,
    first: &str,
    written: impl Iterator<Item = &'a str>,
) -> Result<(), &'static str> {
    let step = usual_step(file).unwrap_or(usize::MAX);
    let (mut before, mut is_open) = (first.len(), false);
    for (indent, rest) in written.map(split_indent) {
        if rest.is_empty() {
            continue;
        }
        let is_flat = is_open && indent.len() <= before && !rest.starts_with(['}', ')', ']']);
        let is_deep = indent.len() > before.saturating_add(step);
        if (is_deep || is_flat) && !file.text.contains(rest) {
            return Err(STRANGE_INDENTATION);
        }
        before = indent.len();
        is_open = rest.ends_with(['{', '(', '[', ':']);
    }
    Ok(())
}
