//! Unified diffs: plain ones, and git's with renames, new and deleted files.

use super::around::{self, End};
use super::git_path::{self, Side};
use super::parse::{Cursor, is_begin, is_end, malformed, shown};
use super::patch::{Change, Existing, FilePatch, Hunk, Role, Source, Target};
use toolpost_core::{Code, ToolError};

/// Whether the diff of a file begins here.
pub(super) fn begins_file(lines: &[&str]) -> bool {
    match lines {
        [first, ..] if first.starts_with("diff --git ") => true,
        [old, new, ..] if old.starts_with("--- ") && new.starts_with("+++ ") => true,
        [name, hunk, ..] => is_only_name(name) && hunk.starts_with("@@"),
        _ => false,
    }
}

/// Whether a line names a file, where the line with its other name is missing.
fn is_only_name(line: &str) -> bool {
    let name = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "));
    // Of a file, not `++ i;` that comes: a path of letters, with a folder or an ending.
    let is_sign = |one: char| one.is_alphanumeric() || "/._-+@".contains(one);
    let name = name.and_then(|name| name.split('\t').next());
    name.map(str::trim_end).is_some_and(|name| name.contains(['/', '.']) && name.chars().all(is_sign))
}

/// Maximum number of lines by which the last hunk may be shorter than its header says.
const MOST_MISSING: usize = 3;

/// What stands in `@@ -1,2 +3,4 @@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) old_start: usize,
    old_count: usize,
    new_count: usize,
}

/// Reads what follows the first `@@`; `None` where it is not of this form.
pub(super) fn range(header: &str) -> Option<Range> {
    let (numbers, _) = header.split_once("@@").unwrap_or((header, ""));
    let mut parts = numbers.split_whitespace();
    let (old_start, old_count) = pair(parts.next()?.strip_prefix('-')?)?;
    let (_, new_count) = pair(parts.next()?.strip_prefix('+')?)?;
    parts.next().is_none().then_some(Range { old_start, old_count, new_count })
}

fn pair(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

/// Reads diffs up to the end of the text, or of the envelope around them.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Vec<FilePatch>, ToolError> {
    let mut files = Vec::new();
    while let Some(line) = cursor.peek() {
        if is_begin(line) || is_end(line) || line.starts_with("*** ") {
            break;
        }
        let (file, end) = file(cursor)?;
        files.push(file);
        around::pass(cursor, end)?;
    }
    Ok(files)
}

/// What the lines before the hunks say.
#[derive(Default)]
struct Head {
    line: usize,
    /// The name on the line `diff --git`, where both are the same.
    both: Option<String>,
    old: Option<Side>,
    new: Option<Side>,
    /// The name on the one line that names the file, where the other is missing.
    only: Option<String>,
    from: Option<String>,
    to: Option<String>,
    is_copy: bool,
    is_new: bool,
    is_deleted: bool,
    old_mode: Option<String>,
    mode: Option<String>,
}

fn file(cursor: &mut Cursor<'_>) -> Result<(FilePatch, End), ToolError> {
    let head = head(cursor)?;
    let mut hunks = Vec::new();
    let mut end = End::Counted;
    while let Some(line) = cursor.peek() {
        if let Some(header) = line.strip_prefix("@@") {
            let (hunk, ended) = hunk(cursor, header)?;
            hunks.push(hunk);
            end = ended;
        } else if line.trim().is_empty() && next_is_hunk(cursor) {
            cursor.at += 1;
        } else {
            break;
        }
    }
    Ok((head.into_file(hunks)?, end))
}

fn next_is_hunk(cursor: &Cursor<'_>) -> bool {
    cursor.filled().first().is_some_and(|line| line.starts_with("@@"))
}

fn head(cursor: &mut Cursor<'_>) -> Result<Head, ToolError> {
    let mut head = Head { line: cursor.number(), ..Head::default() };
    let unreadable = |number: usize, line: &str| {
        let what = format!("the name in {} cannot be read", shown(line));
        malformed(number, &what, "write it in UTF-8, in quotes only with git's escapes")
    };
    if let Some(names) = cursor.peek().and_then(|line| line.strip_prefix("diff --git ")) {
        head.both = git_path::same_name(names);
        cursor.at += 1;
    }
    while let Some(line) = cursor.peek() {
        let number = cursor.number();
        let name = |text: &str| git_path::whole(text).ok_or_else(|| unreadable(number, line));
        let next = cursor.lines.get(cursor.at + 1).filter(|next| next.starts_with("+++ "));
        if let (Some(new), true) = (next, line.starts_with("--- ")) {
            head.old = Some(Side::parse(&line[4..]).ok_or_else(|| unreadable(number, line))?);
            head.new = Some(Side::parse(&new[4..]).ok_or_else(|| unreadable(number + 1, new))?);
            cursor.at += 2;
            break;
        } else if begins_file(cursor.rest()) && is_only_name(line) {
            let side = Side::parse(&line[4..]).ok_or_else(|| unreadable(number, line))?;
            head.only = side.bare();
            cursor.at += 1;
            break;
        } else if let Some(path) = line.strip_prefix("rename from ").or(line.strip_prefix("copy from ")) {
            head.is_copy = line.starts_with("copy");
            head.from = Some(name(path)?);
        } else if let Some(path) = line.strip_prefix("rename to ").or(line.strip_prefix("copy to ")) {
            head.to = Some(name(path)?);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            head.is_new = true;
            head.mode = Some(checked(mode, number, line)?).filter(|mode| mode != "100644");
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            checked(mode, number, line)?;
            head.is_deleted = true;
        } else if let Some(mode) = line.strip_prefix("old mode ") {
            head.old_mode = Some(checked(mode, number, line)?);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            head.mode = Some(checked(mode, number, line)?);
        } else if let Some(index) = line.strip_prefix("index ") {
            if let Some((_, mode)) = index.split_once(' ') {
                checked(mode, number, line)?;
            }
        } else if line.starts_with("GIT binary patch")
            || (line.starts_with("Binary files ") && line.trim_end().ends_with(" differ"))
        {
            let file = head.to.as_deref().or(head.both.as_deref()).unwrap_or("a file");
            return Err(ToolError::new(
                Code::IsBinary,
                format!(
                    "line {number} of the patch: `{file}` is binary, and binary patches are not applied; \
                     leave it out, or copy the file with a command"
                ),
            )
            .with("line", number)
            .with("path", file));
        } else if !line.starts_with("similarity index ") && !line.starts_with("dissimilarity index ") {
            break;
        }
        cursor.at += 1;
    }
    Ok(head)
}

/// A mode of a regular file; links and submodules are something else.
fn checked(mode: &str, number: usize, line: &str) -> Result<String, ToolError> {
    let mode = mode.trim();
    let what = match mode.get(..2) {
        Some("12") => "a link",
        Some("16") => "a submodule",
        _ => return Ok(mode.to_owned()),
    };
    let what = format!("{} is about {what}, not a regular file", shown(line));
    Err(malformed(number, &what, "leave it out, and make it with a command"))
}

impl Head {
    fn into_file(self, hunks: Vec<Hunk>) -> Result<FilePatch, ToolError> {
        let line = self.line;
        let nameless = || {
            malformed(
                line,
                "the diff names no file, or two",
                "write `--- a/path` and `+++ b/path` with the same path, or `rename from` and `rename to`",
            )
        };
        let mode = match (&self.old_mode, &self.mode) {
            (Some(old), Some(new)) if old == new => None,
            (_, mode) => mode.clone(),
        };
        if let (Some(from), Some(to)) = (self.from, self.to) {
            let source = if self.is_copy { Source::Stays } else { Source::Moves };
            let to = Some(Target { path: to, onto: Existing::Refused, source });
            return Ok(FilePatch { line, path: from, change: Change::Update { to, hunks }, mode });
        }
        let (old, new) = match (self.old, self.new) {
            (Some(old), Some(new)) => git_path::names(old, new),
            _ => (None, None),
        };
        // Without the name of the old file, the numbers tell that there was none.
        let is_from_nothing = |hunk: &Hunk| hunk.old_start == Some(0) && hunk.old().next().is_none();
        let is_only_new = self.only.is_some() && !hunks.is_empty() && hunks.iter().all(is_from_nothing);
        let is_new = self.is_new || is_only_new || (old.is_none() && new.is_some());
        let is_deleted = self.is_deleted || (new.is_none() && old.is_some());
        let path = match (old, new) {
            (Some(old), Some(new)) if old == new || is_backup_of(&old, &new) => new,
            (Some(_), Some(_)) => return Err(nameless()),
            (Some(path), None) | (None, Some(path)) => path,
            (None, None) => self.only.or(self.both).ok_or_else(nameless)?,
        };
        let change = match (is_new, is_deleted) {
            (true, true) => return Err(nameless()),
            (true, false) => Change::Add { content: new_content(&hunks)?, onto: Existing::Refused },
            (false, true) => Change::Delete { hunks },
            (false, false) if hunks.is_empty() && mode.is_none() => {
                return Err(malformed(
                    line,
                    &format!("no hunk follows for `{path}`"),
                    "add `@@ -1,3 +1,3 @@` and lines",
                ));
            }
            (false, false) => Change::Update { to: None, hunks },
        };
        Ok(FilePatch { line, path, change, mode })
    }
}

/// Whether `diff` was run on a file and the copy an editor or a person left beside it.
fn is_backup_of(old: &str, new: &str) -> bool {
    old.strip_prefix(new).is_some_and(|rest| [".orig", ".bak", ".old", "~"].contains(&rest))
}

fn new_content(hunks: &[Hunk]) -> Result<String, ToolError> {
    let mut content = String::new();
    for hunk in hunks {
        // Empty lines between two others lost their mark; those at the end of the text are none.
        let mut blank = 0;
        for line in &hunk.lines {
            if line.role != Role::Added {
                if line.is_bare {
                    blank += 1;
                    continue;
                }
                return Err(malformed(
                    line.line,
                    "a new file has only lines that begin with `+`",
                    "name the old file instead of `/dev/null` to change it",
                ));
            }
            content.extend(std::iter::repeat_n('\n', blank));
            blank = 0;
            content.push_str(&line.text);
            content.push('\n');
        }
        if hunk.new_unended {
            content.pop();
        }
    }
    Ok(content)
}

fn hunk(cursor: &mut Cursor<'_>, header: &str) -> Result<(Hunk, End), ToolError> {
    let number = cursor.number();
    let range = range(header);
    if range.is_none() && !header.trim_matches(['@', ' ', '.', '\r']).is_empty() {
        let what = format!("{} is not a hunk header", shown(&format!("@@{header}")));
        return Err(malformed(number, &what, "write `@@ -10,3 +10,4 @@`"));
    }
    cursor.at += 1;
    let start = cursor.at;
    let mut hunk = Hunk { line: number, old_start: range.map(|range| range.old_start), ..Hunk::default() };
    if let Some(range) = range {
        if counted(cursor, &mut hunk, range) {
            return Ok((hunk, End::Counted));
        }
        cursor.at = start;
        hunk.lines.clear();
        (hunk.at_end, hunk.old_unended, hunk.new_unended) = (false, false, false);
    }
    uncounted(cursor, &mut hunk);
    if let (Some(range), None) = (range, cursor.peek()) {
        let old = hunk.old().count();
        let new = hunk.new_lines().count();
        // Numbers are often wrong by a few, and a hunk that was cut off rarely ends with context.
        let (old_missing, new_missing) =
            (range.old_count.saturating_sub(old), range.new_count.saturating_sub(new));
        let missing = old_missing.max(new_missing);
        let is_ended = hunk.lines.last().is_some_and(|line| line.role == Role::Context);
        // What is cut off ends with context, which counts on both sides.
        let is_cut = old_missing > 0 && new_missing > 0 && missing > MOST_MISSING;
        // More lines than promised on one side: the numbers are wrong, whatever the other side says.
        let is_more = old > range.old_count || new > range.new_count;
        if !is_more && (is_cut || (missing > 0 && !is_ended)) {
            let what = format!(
                "the last hunk promises {} old and {} new lines, and {old} and {new} follow",
                range.old_count, range.new_count
            );
            return Err(malformed(
                number,
                &what,
                "it may have been cut off: send the whole patch, or correct the numbers",
            ));
        }
    }
    if hunk.lines.is_empty() {
        let is_line = |line: &&str| {
            !line.trim().is_empty() && !line.starts_with(['@', '*']) && !begins_file(cursor.rest())
        };
        if let Some(line) = cursor.peek().filter(is_line) {
            return Err(around::unmarked(cursor.number(), line));
        }
        return Err(malformed(
            number,
            "no lines follow this hunk's header",
            "add them, each behind ` `, `-` or `+`",
        ));
    }
    Ok((hunk, End::Open))
}

/// Reads as many lines as the header says. False where that is not where the hunk ends.
fn counted(cursor: &mut Cursor<'_>, hunk: &mut Hunk, range: Range) -> bool {
    let (mut old, mut new) = (0, 0);
    while old < range.old_count || new < range.new_count {
        let Some(line) = cursor.peek() else { return false };
        if begins_next(cursor.rest()) {
            return false;
        }
        if line.starts_with("\\ ") {
            hunk.unend();
        } else {
            if hunk.push(cursor.number(), line).is_none() {
                return false;
            }
            let last = hunk.lines.last();
            old += usize::from(last.is_some_and(|line| line.is_old()));
            new += usize::from(last.is_some_and(|line| line.is_new()));
        }
        cursor.at += 1;
    }
    if cursor.peek().is_some_and(|line| line.starts_with("\\ ")) {
        hunk.unend();
        cursor.at += 1;
    }
    // The numbers count every line, so none of them is bare.
    hunk.lines.iter_mut().for_each(|line| line.is_bare = false);
    old == range.old_count && new == range.new_count && !goes_on(cursor)
}

/// Whether the diff of the next file begins here, although the header counts more lines: what follows its two names can be
/// no line of a hunk.
fn begins_next(rest: &[&str]) -> bool {
    let hunk = if rest.first().is_some_and(|line| is_only_name(line)) { rest.get(1) } else { None };
    let after_two = if begins_file(rest) { rest.get(2) } else { None };
    hunk.into_iter().chain(after_two).any(|line| line.starts_with("@@"))
}

/// Whether the lines that follow look like more of the same hunk.
fn goes_on(cursor: &Cursor<'_>) -> bool {
    let rest = cursor.filled();
    if rest.is_empty() {
        return false;
    }
    let is_signature = rest[0].trim_end() == "--";
    !begins_file(rest) && !is_signature && !is_end(rest[0]) && rest[0].starts_with([' ', '+', '-'])
}

/// Reads lines as long as they can belong to a hunk.
fn uncounted(cursor: &mut Cursor<'_>, hunk: &mut Hunk) {
    while let Some(line) = cursor.peek() {
        if begins_file(cursor.rest()) || (is_end(line) && cursor.is_last()) {
            break;
        }
        if line.is_empty() && cursor.is_over() {
            break;
        }
        if line.starts_with("\\ ") {
            hunk.unend();
        } else if hunk.push(cursor.number(), line).is_none() {
            break;
        }
        cursor.at += 1;
    }
}
