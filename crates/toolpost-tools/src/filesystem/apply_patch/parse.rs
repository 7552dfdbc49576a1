//! From the text of a patch to a [`Patch`]: finds out which form it has, and what is only wrapped around it.

use super::around::{self, Opened};
use super::envelope;
use super::patch::Patch;
use super::{blocks, unified, wrapped};
use std::cell::Cell;
use toolpost_core::{Code, ToolError};

/// Maximum number of bytes of a patch.
const MOST_BYTES: usize = 16 << 20;
/// Maximum number of files that a patch names.
const MOST_FILES: usize = 2_000;

/// Reads a patch of either form.
pub(super) fn parse(text: &str) -> Result<Patch, ToolError> {
    let too_large = |what: String, key: &str, number: usize| {
        let message = format!("the patch {what}; send it in several parts");
        ToolError::new(Code::TooLarge, message).with(key, number)
    };
    if text.len() > MOST_BYTES {
        let what = format!("has {} bytes, and at most {MOST_BYTES} are taken", text.len());
        return Err(too_large(what, "size", text.len()));
    }
    let text = wrapped::unwrapped(text);
    let lines = split(&text);
    let mut cursor = Cursor::new(&lines);
    let files = match start(&lines) {
        Some((at, Form::Envelope)) => {
            around::check_above(&lines[..at])?;
            cursor.begin(at);
            envelope::parse(&mut cursor)?
        }
        Some((at, Form::Unified)) => {
            around::check_above(&lines[..at])?;
            cursor.begin(at);
            let files = unified::parse(&mut cursor)?;
            if cursor.peek().is_some_and(is_end) {
                cursor.at += 1;
                cursor.pass_wrapping();
            }
            if let Some(line) = cursor.peek() {
                let what = format!("{} stands in a unified diff", shown(line));
                return Err(malformed(cursor.number(), &what, "send one form of patch at a time"));
            }
            files
        }
        Some((at, Form::Blocks)) => {
            cursor.begin(at);
            blocks::parse(&mut cursor)?
        }
        None => return Err(no_patch(&lines)),
    };
    if files.is_empty() {
        return Err(malformed(
            cursor.number().min(lines.len().max(1)),
            "the patch names no file",
            "add a section such as `*** Update File: path` between `*** Begin Patch` and `*** End Patch`",
        ));
    }
    if files.len() > MOST_FILES {
        let what = format!("names {} files, and at most {MOST_FILES} are taken", files.len());
        return Err(too_large(what, "files", files.len()));
    }
    Ok(Patch { files })
}

enum Form {
    Envelope,
    Unified,
    Blocks,
}

/// Where the patch begins; what stands before it is talk or wrapping.
fn start(lines: &[&str]) -> Option<(usize, Form)> {
    lines.iter().enumerate().find_map(|(at, line)| match () {
        () if is_begin(line) || envelope::is_section(line) => Some((at, Form::Envelope)),
        () if unified::begins_file(&lines[at..]) => Some((at, Form::Unified)),
        () if blocks::begins(line) => Some((at, Form::Blocks)),
        () => None,
    })
}

/// The lines of a patch. A patch that was sent with CRLF throughout is the same patch.
fn split(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let newlines = memchr::memchr_iter(b'\n', text.as_bytes());
    let is_crlf = text.contains('\n')
        && newlines.into_iter().all(|at| at > 0 && text.as_bytes().get(at - 1) == Some(&b'\r'));
    let mut lines: Vec<&str> = text.split('\n').collect();
    if is_crlf {
        lines.iter_mut().for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
    }
    if lines.last() == Some(&"") {
        lines.pop();
    }
    lines
}

pub(super) fn is_begin(line: &str) -> bool {
    line.trim() == "*** Begin Patch"
}

pub(super) fn is_end(line: &str) -> bool {
    line.trim() == "*** End Patch"
}

/// Whether a line after the patch only closes what it was wrapped in: a fence, a here-document, quotes.
pub(super) fn is_wrapping(line: &str) -> bool {
    let line = line.trim();
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    line.is_empty()
        || line.starts_with("```")
        || line.starts_with("~~~")
        || line.bytes().all(|byte| matches!(byte, b'\'' | b'"' | b')' | b'}' | b']' | b';'))
        || is_word(line.trim_end_matches(['\'', '"', ')', '`']))
}

/// A place in the lines of a patch.
pub(super) struct Cursor<'a> {
    pub(super) lines: &'a [&'a str],
    pub(super) at: usize,
    /// From here on there is nothing but wrapping.
    wrapping: usize,
    /// Where a line that is not blank was last looked for and found, so that many blank lines are passed once.
    filled: Cell<(usize, usize)>,
    /// What the lines above the patch open.
    pub(super) opened: Opened<'a>,
}

impl<'a> Cursor<'a> {
    fn new(lines: &'a [&'a str]) -> Cursor<'a> {
        let wrapping = lines.iter().rposition(|line| !is_wrapping(line)).map_or(0, |at| at + 1);
        Cursor { lines, at: 0, wrapping, filled: Cell::new((0, 0)), opened: Opened::default() }
    }

    /// Goes to the line on which the patch begins.
    fn begin(&mut self, at: usize) {
        self.at = at;
        self.opened = Opened::of(&self.lines[..at]);
    }

    /// Goes behind lines that only close what the patch was wrapped in.
    pub(super) fn pass_wrapping(&mut self) {
        while self.peek().is_some_and(is_wrapping) {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a [&'a str] {
        &self.lines[self.at.min(self.lines.len())..]
    }

    /// The number of the current line, from 1.
    pub(super) fn number(&self) -> usize {
        self.at + 1
    }

    /// Whether nothing but wrapping follows the current line.
    pub(super) fn is_last(&self) -> bool {
        self.at + 1 >= self.wrapping
    }

    /// Whether the current line and all that follow are nothing but wrapping.
    pub(super) fn is_over(&self) -> bool {
        self.at >= self.wrapping
    }

    /// The next lines from the first on that is not blank; none where there is none.
    pub(super) fn filled(&self) -> &'a [&'a str] {
        let (from, found) = self.filled.get();
        if (from..found).contains(&self.at) {
            return &self.lines[found..];
        }
        let rest = self.rest();
        let blank = rest.iter().position(|line| !line.trim().is_empty()).unwrap_or(rest.len());
        self.filled.set((self.at, self.at + blank));
        &rest[blank..]
    }
}

/// A patch that cannot be read: the line, what is wrong with it, what to do.
pub(super) fn malformed(line: usize, what: &str, remedy: &str) -> ToolError {
    ToolError::new(Code::ValidationError, format!("line {line} of the patch: {what}; {remedy}"))
        .with("line", line)
}

/// One line as it may be shown in a message.
pub(super) fn shown(line: &str) -> String {
    let short: String = line.chars().take(120).collect();
    let cut = if short.len() < line.len() { "…" } else { "" };
    format!("`{}{cut}`", crate::one_line(&short))
}

fn no_patch(lines: &[&str]) -> ToolError {
    if let Some(at) = lines.iter().position(|line| line.starts_with("@@")) {
        let what = format!("the hunk {} belongs to no file", shown(lines[at]));
        return malformed(
            at + 1,
            &what,
            "name the file before it: `*** Update File: path` after `*** Begin Patch`, or `--- a/path` and `+++ b/path`",
        );
    }
    malformed(
        1,
        "this is not a patch",
        "begin it with `*** Begin Patch` and `*** Update File: path`, or with `--- a/path` and `+++ b/path`",
    )
}
