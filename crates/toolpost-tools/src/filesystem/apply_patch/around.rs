//! What stands before, between and behind the diffs of a text: talk, mail headers, and what the text was wrapped in.
//!
//! A line that may belong to a hunk is never taken for one of these: the patch is refused with that line.

use super::parse::{Cursor, is_begin, is_end, malformed, shown};
use super::unified;
use toolpost_core::ToolError;

/// How a hunk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With the last of the lines that its header counts.
    Counted,
    /// Where the next line cannot belong to it.
    Open,
}

/// What the lines above a patch open, and a line below it may close.
#[derive(Debug, Default)]
pub(super) struct Opened<'a> {
    fence: bool,
    /// The words that end here-documents.
    words: Vec<&'a str>,
}

impl<'a> Opened<'a> {
    pub(super) fn of(above: &[&'a str]) -> Opened<'a> {
        let fence = above.iter().any(|line| is_fence(line));
        let word = |line: &'a str| -> Option<&'a str> {
            let rest = line.split_once("<<")?.1.trim_start_matches(['-', '~', '\'', '"', '\\', ' ']);
            let word = rest.split(|one: char| !one.is_alphanumeric() && one != '_').next()?;
            Some(word).filter(|word| !word.is_empty())
        };
        Opened { fence, words: above.iter().copied().filter_map(word).collect() }
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        let is_word = || self.words.contains(&line.trim_end_matches(['\'', '"', ')', '`', ';']));
        (self.fence && is_fence(line) && line.bytes().all(|byte| byte == b'`' || byte == b'~')) || is_word()
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Fails where a line above the patch is part of one.
pub(super) fn check_above(above: &[&str]) -> Result<(), ToolError> {
    for (index, line) in above.iter().enumerate() {
        if is_marked(line) {
            return Err(outside(index + 1, line));
        }
    }
    Ok(())
}

/// Whether a line outside of a hunk looks like one of a hunk: a mark, but neither an item of a list nor a rule.
fn is_marked(line: &str) -> bool {
    let is_rule = |line: &str| line.trim_end().len() > 1 && line.trim_end().bytes().all(|byte| byte == b'-');
    let is_item = |line: &str| {
        let text = &line[1..];
        text.starts_with(' ') && !text[1..].starts_with([' ', '\t']) && !text.trim().is_empty()
    };
    line.starts_with("@@") || (line.starts_with(['+', '-']) && !is_rule(line) && !is_item(line))
}

fn outside(number: usize, line: &str) -> ToolError {
    let what = match line.starts_with("@@") {
        true => format!("the hunk {} belongs to no file", shown(line)),
        false => format!("{} belongs to no hunk", shown(line)),
    };
    let remedy = "name the file before it: `*** Update File: path` after `*** Begin Patch`, or `--- a/path` and `+++ b/path`, \
                  and begin the hunk with `@@`";
    malformed(number, &what, remedy)
}

/// The refusal of a line that may be one of a hunk, and does not say which.
pub(super) fn unmarked(number: usize, line: &str) -> ToolError {
    let what = format!("{} has no mark, so it is unclear whether it stays, goes or comes", shown(line));
    let remedy = "begin each line of a hunk with ` ` (stays), `-` (goes) or `+` (comes)";
    malformed(number, &what, remedy)
}

/// What the lines between two diffs may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Talk {
    /// Nothing: the line that follows may be one of the hunk.
    No,
    /// Sentences at the margin.
    Plain,
    /// The head of a mail or of a commit, with indented lines and lists.
    Mail,
}

/// Passes what stands behind a diff up to the next one, or to the end of the text.
pub(super) fn pass(cursor: &mut Cursor<'_>, end: End) -> Result<(), ToolError> {
    let mut talk = Talk::No;
    while let Some(line) = cursor.peek() {
        if is_begin(line) || is_end(line) || line.starts_with("*** ") || unified::begins_file(cursor.rest()) {
            break;
        }
        let is_signature = line.trim_end() == "--" && end == End::Counted;
        match () {
            () if line.trim().is_empty() => {
                if end == End::Counted && talk == Talk::No {
                    talk = Talk::Plain;
                }
            }
            () if cursor.opened.is_closed_by(line) || is_closing_quote(cursor, end) => {}
            () if is_signature || begins_mail(line) => talk = Talk::Mail,
            () if talk == Talk::Mail && !is_marked(line) => {}
            () if talk == Talk::Plain && !line.starts_with(['@', '+', '-', ' ', '\t', '\\']) => {}
            () if talk == Talk::No && !line.starts_with(['@', '+', '-', ' ']) => {
                return Err(unmarked(cursor.number(), line));
            }
            () => return Err(outside(cursor.number(), line)),
        }
        cursor.at += 1;
    }
    Ok(())
}

/// Whether nothing but quotes and brackets end the text, behind a hunk that is complete.
fn is_closing_quote(cursor: &Cursor<'_>, end: End) -> bool {
    let is_quote = |line: &str| {
        let line = line.trim();
        line.contains(['"', '\''])
            && line.bytes().all(|byte| matches!(byte, b'\'' | b'"' | b')' | b'}' | b']' | b';' | b','))
    };
    end == End::Counted && cursor.is_over() && cursor.peek().is_some_and(is_quote)
}

/// Whether the head of a mail, of a commit or of a diff in another form begins here.
fn begins_mail(line: &str) -> bool {
    let is_hash = |text: &str| {
        let word = text.split_whitespace().next().unwrap_or_default();
        word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    ["From ", "commit "].iter().any(|head| line.strip_prefix(head).is_some_and(is_hash))
        || ["Index: ", "diff ", "Only in "].iter().any(|head| line.starts_with(head))
        || (line.len() > 20 && line.bytes().all(|byte| byte == b'='))
}
