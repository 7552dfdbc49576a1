//! The lines of a new text below a first one that begins within a line of the file.
//!
//! Whoever leaves out what stands before the first line has written the others as deep as the file has them, or as deep as
//! they are below the first one. Lines that both texts have tell which; without them only one of the two may make sense.

use super::lines::{is_blank, is_filled, is_telling, split_indent};
use super::merge::{from_start, kept};
use super::nearest::Pairs;
use similar::DiffOp;
use std::collections::HashSet;

/// How deep the further lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As the file has them.
    AsFile,
    /// From where the first line begins.
    BelowFirst,
    Unclear,
}

/// Both texts from the line on that begins within a line of the file.
pub(super) struct Further<'a> {
    /// The indentation of that line.
    pub(super) indent: &'a str,
    pub(super) olds: &'a [&'a str],
    pub(super) news: &'a [&'a str],
    /// The line of the file behind the place that is not blank.
    pub(super) below: Option<&'a str>,
}

/// What the lines of both texts tell.
struct Votes {
    /// How many are as deep as the file has them, and how many as they are below the first line.
    as_file: usize,
    below_first: usize,
    /// The last of them in the new text.
    last: Option<usize>,
}

impl Further<'_> {
    /// How the lines are written; `step` is by how much blocks of the file are deeper.
    pub(super) fn reading(&self, step: impl FnOnce() -> Option<usize>) -> Reading {
        let rest = |lines: &'_ [&'_ str]| -> Vec<String> {
            lines.iter().skip(1).filter(|line| is_filled(line)).map(|line| (*line).to_owned()).collect()
        };
        let (olds, news) = (rest(self.olds), rest(self.news));
        if self.indent.is_empty() {
            return Reading::AsFile;
        }
        if self.begins_further(&olds) {
            return Reading::Unclear;
        }
        if news.is_empty() {
            return Reading::AsFile;
        }
        let Votes { as_file, below_first, last } = self.votes(&olds, &news);
        let shown: HashSet<&str> = olds.iter().map(|line| split_indent(line).0).collect();
        // Out of the block come only lines behind all that stay.
        let leaves = |at: usize| !olds.is_empty() && last.is_none_or(|last| at > last);
        let mut all = news.iter().enumerate();
        let is_within =
            all.all(|(at, line)| self.is_within(&shown, line) || (leaves(at) && self.ends_before(line)));
        let (is_whole, is_below) = (self.is_nested(&news, 0), self.is_nested(&news, self.indent.len()));
        match (as_file, below_first) {
            (0, 0) => {}
            // A line that was moved a level in may be as deep as it was by chance.
            (_, 0) if is_within && (is_whole || !is_below) => return Reading::AsFile,
            // A line that was moved a level out may be as deep as it would be below the first one by chance.
            (0, _) if is_below && !(is_whole && is_within) => return Reading::BelowFirst,
            _ => return Reading::Unclear,
        }
        match (is_whole && is_within, is_below) {
            (true, false) => Reading::AsFile,
            (false, true) if olds.is_empty() && !is_whole => Reading::BelowFirst,
            (true, true) => {
                let is_shown =
                    !olds.is_empty() && news.iter().all(|line| shown.contains(split_indent(line).0));
                // Both may be: one of the two is deeper by as much as blocks of the file are.
                let deeper = split_indent(&news[0]).0.len().checked_sub(self.indent.len());
                match is_shown || (deeper.is_some_and(|deeper| deeper > 0) && deeper == step()) {
                    true => Reading::AsFile,
                    false => Reading::Unclear,
                }
            }
            _ => Reading::Unclear,
        }
    }

    /// What the lines tell that both texts have, or that are like each other.
    fn votes(&self, olds: &[String], news: &[String]) -> Votes {
        let keys = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| line.trim_matches(is_blank).to_owned()).collect()
        };
        let (old_keys, new_keys) = (keys(olds), keys(news));
        let ops = from_start(&old_keys, &new_keys);
        let count = |keys: &[String], key: &String| keys.iter().filter(|other| *other == key).count();
        // Which bracket is which is not told by the text.
        let is_clear = |(old, new): &(usize, usize)| {
            is_telling(&olds[*old])
                || (count(&old_keys, &old_keys[*old]) == 1 && count(&new_keys, &new_keys[*new]) == 1)
        };
        let changed = ops.iter().flat_map(|op| match *op {
            DiffOp::Replace { old_index, old_len, new_index, new_len } if old_len == new_len => {
                (0..old_len).map(|at| (old_index + at, new_index + at)).collect()
            }
            _ => Vec::new(),
        });
        let is_like = |(old, new): &(usize, usize)| {
            is_telling(&old_keys[*old]) && Pairs::of(&old_keys[*old]).similarity(&new_keys[*new]) >= 0.5
        };
        let (mut as_file, mut below_first, mut last) = (0, 0, None);
        for (old, new) in kept(&ops).filter(is_clear).chain(changed.filter(is_like)) {
            last = last.max(Some(new));
            let (old, new) = (split_indent(&olds[old]).0, split_indent(&news[new]).0);
            as_file += usize::from(old == new);
            below_first += usize::from(old.strip_prefix(self.indent) == Some(new));
        }
        Votes { as_file, below_first, last }
    }

    /// Whether a line, as deep as it is written, is in the block of the first one, or as deep as a line of the old text.
    fn is_within(&self, shown: &HashSet<&str>, line: &str) -> bool {
        let (indent, text) = split_indent(line);
        let is_directive = indent.is_empty() && is_directive(text);
        indent.starts_with(self.indent) || shown.contains(indent) || is_directive
    }

    /// Whether the new text begins with a line that is further down in the old one and at another depth: the first line is
    /// gone, and the one that takes its place is not as deep.
    fn begins_further(&self, olds: &[String]) -> bool {
        let first = |lines: &[&'_ str]| lines.first().map(|line| line.trim_matches(is_blank).to_owned());
        let (old, new) = (first(self.olds), first(self.news));
        let is_there = |line: &String| {
            let (indent, text) = split_indent(line);
            indent != self.indent && new.as_deref() == Some(text.trim_matches(is_blank))
        };
        old != new && olds.iter().any(is_there)
    }

    /// Whether the line below the place is no deeper than this one, so that a block may end before it. What only ends a block
    /// is within one.
    fn ends_before(&self, line: &str) -> bool {
        !is_end(line.trim_matches(is_blank))
            && self.below.map_or(0, |below| split_indent(below).0.len()) <= split_indent(line).0.len()
    }

    /// Whether the lines, each deeper by so much, are nested as lines are.
    fn is_nested(&self, news: &[String], more: usize) -> bool {
        let first = self.news.first().map(|line| (self.indent.len(), line.trim_matches(is_blank)));
        let depth = |line: &String| split_indent(line).0.len() + more;
        let rest = news.iter().map(|line| (depth(line), line.trim_matches(is_blank)));
        let lines: Vec<(usize, &str)> =
            first.into_iter().chain(rest).filter(|(_, text)| !is_comment(text)).collect();
        lines.windows(2).all(|pair| follows(pair[0], pair[1]))
            && lines.first().zip(lines.get(1)).is_none_or(|(first, second)| {
                !self.is_opener(first.1) || second.0 > first.0 || is_end(second.1)
            })
    }

    /// Whether the first line of the new text is that of the old one, below which a deeper line stands.
    fn is_opener(&self, first: &str) -> bool {
        let mut olds = self.olds.iter().filter(|line| is_filled(line));
        let is_same = olds.next().is_some_and(|line| line.trim_matches(is_blank) == first);
        is_same && olds.next().is_some_and(|line| split_indent(line).0.len() > self.indent.len())
    }
}

/// Whether a line may stand below another, as deep as they are.
pub(super) fn follows((above_depth, above): (usize, &str), (depth, line): (usize, &str)) -> bool {
    let is_item = above.ends_with(':') && line.starts_with("- ");
    let goes_on = goes_on(line);
    match () {
        // What ends a block, or begins its next part.
        () if is_end(line) => depth <= above_depth || opens(above),
        () if is_item => depth >= above_depth,
        () if goes_on => depth > above_depth || is_end(above) || self::goes_on(above),
        () if opens(above) => depth > above_depth,
        () if is_complete(above) => depth <= above_depth,
        () => true,
    }
}

fn first_word(line: &str) -> &str {
    line.split(|one: char| !(one.is_alphanumeric() || one == '_')).next().unwrap_or_default()
}

fn is_comment(line: &str) -> bool {
    let is_mark = |mark: &&str| line.starts_with(*mark);
    ["//", "/*", "*", "--", "<!--"].iter().any(is_mark) || (line.starts_with('#') && !is_directive(line))
}

/// Whether a line is one for the preprocessor of C, which stands at the margin whatever is around it.
fn is_directive(line: &str) -> bool {
    const WORDS: [&str; 10] =
        ["if", "ifdef", "ifndef", "else", "elif", "endif", "define", "undef", "include", "pragma"];
    line.strip_prefix('#').is_some_and(|rest| WORDS.contains(&first_word(rest.trim_start_matches(is_blank))))
}

/// Whether a line ends a block, or begins the next part of it.
fn is_end(line: &str) -> bool {
    const WORDS: [&str; 16] = [
        "case", "catch", "default", "done", "elif", "else", "elsif", "elseif", "end", "ensure", "esac",
        "except", "fi", "finally", "rescue", "when",
    ];
    line.starts_with(['}', ')', ']']) || line.starts_with("</") || WORDS.contains(&first_word(line))
}

/// Whether a line goes on with what the one above it says.
fn goes_on(line: &str) -> bool {
    let is_member = line.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    is_member
        || ["?.", "&&", "||", "|>", "+ ", "? ", ": ", "=> ", "-> "].iter().any(|sign| line.starts_with(sign))
}

/// Whether a line opens a block.
fn opens(line: &str) -> bool {
    const WORDS: [&str; 8] = ["begin", "do", "else", "ensure", "finally", "loop", "then", "try"];
    let last = line.rsplit(|one: char| !one.is_alphanumeric()).next().unwrap_or_default();
    let has_parameters = line.ends_with('|') && line.contains(" do |");
    line.ends_with(['{', '(', '[', ':']) || WORDS.contains(&last) || has_parameters
}

/// Whether a line is a whole statement, in most languages: the next one is no deeper.
fn is_complete(line: &str) -> bool {
    const WORDS: [&str; 24] = [
        "case",
        "catch",
        "class",
        "def",
        "elif",
        "elsif",
        "elseif",
        "fn",
        "for",
        "foreach",
        "func",
        "function",
        "if",
        "interface",
        "module",
        "repeat",
        "struct",
        "sub",
        "switch",
        "unless",
        "until",
        "when",
        "while",
        "with",
    ];
    let may_open = WORDS.contains(&first_word(line.trim_start_matches(['}', ' ']))) && !line.ends_with(';');
    let is_ended = line.ends_with([';', ')', '}', ']', '"', '\'']) || line.ends_with(char::is_alphanumeric);
    is_ended && !may_open
}
