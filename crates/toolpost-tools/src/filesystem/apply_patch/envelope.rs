//! The form between `*** Begin Patch` and `*** End Patch`.

use super::parse::{Cursor, is_begin, is_end, malformed, shown};
use super::patch::{Change, Existing, FilePatch, Header, Hunk, Role, Source, Target};
use super::unified;
use toolpost_core::ToolError;

const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const SECTIONS: &str =
    "expected `*** Add File: path`, `*** Update File: path`, `*** Delete File: path` or `*** End Patch`";

/// Whether a line begins the section of a file.
pub(super) fn is_section(line: &str) -> bool {
    [ADD, DELETE, UPDATE].iter().any(|section| line.starts_with(section))
}

/// Reads from the line `*** Begin Patch`, or from the first section where that is missing, to the end of the text.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Vec<FilePatch>, ToolError> {
    let mut files = Vec::new();
    loop {
        envelope(cursor, &mut files)?;
        // What follows may close what the patch was wrapped in, or be another patch.
        cursor.pass_wrapping();
        match cursor.peek() {
            None => return Ok(files),
            Some(line) if is_begin(line) => {}
            // Sentences, which no line of a hunk can be.
            Some(_) if cursor.rest().iter().all(|line| is_sentence(line)) => return Ok(files),
            Some(line) => {
                let what = format!("{} stands after `*** End Patch`", shown(line));
                return Err(malformed(cursor.number(), &what, "put every file before `*** End Patch`"));
            }
        }
    }
}

/// Whether a line is no part of a patch, whatever stands before it.
fn is_sentence(line: &str) -> bool {
    let is_text = line.starts_with(|first: char| first.is_alphabetic()) && line.contains(' ');
    line.trim().is_empty() || is_text && !line.starts_with("diff ") && !line.starts_with("Index: ")
}

fn envelope(cursor: &mut Cursor<'_>, files: &mut Vec<FilePatch>) -> Result<(), ToolError> {
    let begin = cursor.number();
    cursor.at += usize::from(cursor.peek().is_some_and(is_begin));
    loop {
        let Some(line) = cursor.peek() else {
            // A hunk that ends with context is complete; a new file may go on.
            if files.last().is_some_and(is_ended) {
                return Ok(());
            }
            let what = format!("the patch that begins on line {begin} has no `*** End Patch`");
            return Err(malformed(
                cursor.lines.len(),
                &what,
                "it may have been cut off: send the whole patch, and end it with `*** End Patch`",
            ));
        };
        if is_end(line) {
            cursor.at += 1;
            return Ok(());
        }
        if line.trim().is_empty() {
            cursor.at += 1;
        } else if unified::begins_file(cursor.rest()) {
            files.extend(unified::parse(cursor)?);
        } else {
            files.push(section(cursor, line)?);
        }
    }
}

/// Whether the last hunk of a file ends with a line that stays.
fn is_ended(file: &FilePatch) -> bool {
    let Change::Update { hunks, .. } = &file.change else { return false };
    let last = hunks.last().and_then(|hunk| hunk.lines.last());
    last.is_some_and(|line| line.role == Role::Context && !line.is_bare)
}

fn section(cursor: &mut Cursor<'_>, line: &str) -> Result<FilePatch, ToolError> {
    let number = cursor.number();
    let marker = line.trim_start();
    let named = |marker: &str, rest: &str| match rest.trim() {
        "" => Err(malformed(number, &format!("`{marker}` names no file"), &format!("write `{marker} path`"))),
        path => Ok(path.to_owned()),
    };
    let (path, change) = if let Some(rest) = marker.strip_prefix(ADD) {
        cursor.at += 1;
        (named(ADD, rest)?, added(cursor)?)
    } else if let Some(rest) = marker.strip_prefix(DELETE) {
        cursor.at += 1;
        (named(DELETE, rest)?, Change::Delete { hunks: Vec::new() })
    } else if let Some(rest) = marker.strip_prefix(UPDATE) {
        cursor.at += 1;
        (named(UPDATE, rest)?, updated(cursor, number)?)
    } else if marker.starts_with(MOVE) {
        let what = "`*** Move to:` belongs directly below `*** Update File: path`";
        return Err(malformed(number, what, "put it there"));
    } else {
        return Err(malformed(number, &format!("{} is not a section", shown(line)), SECTIONS));
    };
    Ok(FilePatch { line: number, path, change, mode: None })
}

/// The lines of a new file, each behind a `+`.
fn added(cursor: &mut Cursor<'_>) -> Result<Change, ToolError> {
    let mut content = String::new();
    let mut blank = 0;
    while let Some(line) = cursor.peek() {
        if let Some(text) = line.strip_prefix('+') {
            // Empty lines between two others lost their mark; those before the next section are none.
            content.extend(std::iter::repeat_n('\n', blank));
            blank = 0;
            content.push_str(text);
            content.push('\n');
        } else if line.trim().is_empty() {
            blank += 1;
        } else if is_no_newline(line) {
            content.pop();
        } else if line.trim_end() != "*** End of File" {
            break;
        }
        cursor.at += 1;
    }
    match cursor.peek() {
        Some(line) if !is_marker(line) && !is_end(line) && !unified::begins_file(cursor.rest()) => {
            Err(malformed(
                cursor.number(),
                &format!("{} is not a line of a new file", shown(line)),
                "begin every line of the file with `+`",
            ))
        }
        _ => Ok(Change::Add { content, onto: Existing::Replaced }),
    }
}

fn updated(cursor: &mut Cursor<'_>, section: usize) -> Result<Change, ToolError> {
    let mut to = None;
    if let Some(rest) = cursor.peek().and_then(|line| line.trim_start().strip_prefix(MOVE)) {
        let path = rest.trim();
        if path.is_empty() {
            return Err(malformed(
                cursor.number(),
                "`*** Move to:` names no file",
                "write `*** Move to: path`",
            ));
        }
        to = Some(Target { path: path.to_owned(), onto: Existing::Replaced, source: Source::Moves });
        cursor.at += 1;
    }
    // The names of a unified diff may be repeated here.
    let is_named = |mark: &str, line: Option<&&str>| line.is_some_and(|line| line.starts_with(mark));
    if is_named("--- ", cursor.rest().first()) && is_named("+++ ", cursor.rest().get(1)) {
        cursor.at += 2;
    }
    let mut hunks = Vec::new();
    while let Some(hunk) = hunk(cursor)? {
        hunks.push(hunk);
    }
    if hunks.is_empty() && to.is_none() {
        return Err(malformed(
            section,
            "`*** Update File` is followed by no change",
            "put `@@` and the lines to change below it, each behind ` `, `-` or `+`",
        ));
    }
    Ok(Change::Update { to, hunks })
}

/// The next hunk of a file; `None` at the next section.
fn hunk(cursor: &mut Cursor<'_>) -> Result<Option<Hunk>, ToolError> {
    while cursor.peek().is_some_and(|line| line.trim().is_empty() && ends_after_blanks(cursor)) {
        cursor.at += 1;
    }
    let mut hunk = Hunk { line: cursor.number(), ..Hunk::default() };
    let mut has_header = false;
    while let Some(header) = cursor.peek().and_then(|line| line.strip_prefix("@@")) {
        has_header = true;
        match unified::range(header) {
            Some(range) => hunk.old_start = Some(range.old_start),
            None => hunk.headers.extend(named_header(cursor.number(), header)),
        }
        cursor.at += 1;
    }
    while let Some(line) = cursor.peek() {
        if line.trim_end() == "*** End of File" {
            hunk.at_end = true;
            cursor.at += 1;
            break;
        }
        if is_no_newline(line) {
            hunk.unend();
        } else if is_marker(line)
            || line.starts_with("@@")
            || (is_end(line) && cursor.is_last())
            || hunk.push(cursor.number(), line).is_none()
        {
            break;
        }
        cursor.at += 1;
    }
    match cursor.peek() {
        Some(line) if !is_marker(line) && !line.starts_with("@@") && !is_end(line) && !hunk.at_end => {
            return Err(malformed(
                cursor.number(),
                &format!("{} is not a line of a hunk", shown(line)),
                "begin each line with ` ` (stays), `-` (goes) or `+` (comes), a hunk with `@@`, a section with `***`",
            ));
        }
        _ => {}
    }
    match (hunk.lines.is_empty(), has_header) {
        (true, true) => Err(malformed(
            hunk.line,
            "no lines follow this `@@`",
            "put the lines to change below it, each behind ` `, `-` or `+`",
        )),
        (true, false) => Ok(None),
        (false, _) => Ok(Some(hunk)),
    }
}

/// Whether only empty lines stand between here and the next section or hunk.
fn ends_after_blanks(cursor: &Cursor<'_>) -> bool {
    cursor.filled().first().is_none_or(|line| is_marker(line) || line.starts_with("@@") || is_end(line))
}

fn named_header(line: usize, header: &str) -> Option<Header> {
    let text = header.trim();
    let text = text.strip_suffix("@@").unwrap_or(text).trim_end();
    (!text.is_empty()).then(|| Header { line, text: text.to_owned() })
}

fn is_marker(line: &str) -> bool {
    line.starts_with("*** ")
}

fn is_no_newline(line: &str) -> bool {
    line.starts_with("\\ ")
}
