//! Blocks of lines to search for and lines to put in their place, below the path of their file:
//! `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.

use super::parse::{Cursor, malformed, shown};
use super::patch::{Change, Existing, FilePatch, Hunk, HunkLine, Role};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use toolpost_core::ToolError;

/// Whether a block begins on a line.
pub(super) fn begins(line: &str) -> bool {
    is_mark(line, '<', "SEARCH") || is_mark(line, '-', "SEARCH")
}

fn divides(line: &str) -> bool {
    is_mark(line, '=', "")
}

fn ends(line: &str) -> bool {
    is_mark(line, '>', "REPLACE") || is_mark(line, '+', "REPLACE")
}

/// Whether a line is several of one sign and a word.
fn is_mark(line: &str, sign: char, word: &str) -> bool {
    let line = line.trim_end();
    let rest = line.trim_start_matches(sign);
    (5..=9).contains(&(line.len() - rest.len())) && rest.trim_start().trim_end_matches('>') == word
}

/// Reads blocks up to the end of the text. The path of a block stands above it, or is that of the block before.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Vec<FilePatch>, ToolError> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut above = 0;
    while let Some(line) = cursor.peek() {
        let number = cursor.number();
        if !begins(line) {
            let is_stray = divides(line) || ends(line) || line.starts_with("@@") || line.starts_with("*** ");
            if is_stray {
                let what = format!("{} stands outside of any block", shown(line));
                return Err(malformed(number, &what, "begin each block with `<<<<<<< SEARCH`"));
            }
            cursor.at += 1;
            continue;
        }
        let named = path_above(&cursor.lines[above..cursor.at]);
        let last = files.last().map(|file| file.path.clone());
        let Some(path) = named.or(last) else {
            let what = format!("no path stands above {}", shown(line));
            return Err(malformed(number, &what, "write the path of the file on the line above it"));
        };
        let (old, new) = block(cursor)?;
        above = cursor.at;
        let is_empty = old.iter().all(|(_, line)| line.trim().is_empty());
        let file = files.iter_mut().find(|file| file.path == path);
        match file {
            Some(FilePatch { change: Change::Update { hunks, .. }, .. }) if !is_empty => {
                hunks.push(hunk(number, &old, &new));
            }
            None if is_empty => {
                let content = new.iter().map(|(_, line)| format!("{line}\n")).collect();
                let change = Change::Add { content, onto: Existing::Refused };
                files.push(FilePatch { line: number, path, change, mode: None });
            }
            None => {
                let change = Change::Update { to: None, hunks: vec![hunk(number, &old, &new)] };
                files.push(FilePatch { line: number, path, change, mode: None });
            }
            Some(_) => {
                let what = format!(
                    "a block with nothing to search for makes the file `{path}`, and another block changes it"
                );
                return Err(malformed(number, &what, "give the new file in one block"));
            }
        }
    }
    Ok(files)
}

/// Lines with their numbers.
type Numbered<'a> = Vec<(usize, &'a str)>;

/// The two sides of the block that begins on the current line.
fn block<'a>(cursor: &mut Cursor<'a>) -> Result<(Numbered<'a>, Numbered<'a>), ToolError> {
    let begin = cursor.number();
    cursor.at += 1;
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let mut is_divided = false;
    while let Some(line) = cursor.peek() {
        let number = cursor.number();
        cursor.at += 1;
        match () {
            () if ends(line) && is_divided => return Ok((old, new)),
            () if divides(line) && !is_divided => is_divided = true,
            // Of two lines that divide, nobody knows which one does.
            () if begins(line) || ends(line) || divides(line) => {
                let what = format!("{} stands within the block that begins on line {begin}", shown(line));
                return Err(malformed(
                    number,
                    &what,
                    "write `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE` once in each block, or send a unified diff",
                ));
            }
            () if is_divided => new.push((number, line)),
            () => old.push((number, line)),
        }
    }
    Err(malformed(
        cursor.lines.len(),
        &format!("the block that begins on line {begin} does not end"),
        "it may have been cut off: end each block with `>>>>>>> REPLACE`",
    ))
}

/// What a block changes, with the lines that both sides have as context.
fn hunk(line: usize, old: &[(usize, &str)], new: &[(usize, &str)]) -> Hunk {
    let texts = |side: &[(usize, &'_ str)]| -> Vec<String> {
        side.iter().map(|(_, text)| (*text).to_owned()).collect()
    };
    let mut lines = Vec::with_capacity(old.len() + new.len());
    let mut push = |role: Role, (line, text): (usize, &str)| {
        lines.push(HunkLine { line, role, text: text.to_owned(), is_bare: false });
    };
    for op in capture_diff_slices(Algorithm::Myers, &texts(old), &texts(new)) {
        if let DiffOp::Equal { old_index, len, .. } = op {
            old[old_index..old_index + len].iter().for_each(|line| push(Role::Context, *line));
            continue;
        }
        old[op.old_range()].iter().for_each(|line| push(Role::Removed, *line));
        new[op.new_range()].iter().for_each(|line| push(Role::Added, *line));
    }
    Hunk { line, lines, ..Hunk::default() }
}

/// The path on the last line above a block that says something, fences apart.
fn path_above(above: &[&str]) -> Option<String> {
    let is_fence = |line: &str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let line = above.iter().rev().find(|line| !line.trim().is_empty() && !is_fence(line))?;
    let bare = |text: &'_ str| text.trim().trim_matches(['`', '*', '"', '\'', '#', ':', ' ']).to_owned();
    let text = bare(line);
    let path = ["File:", "file:", "Path:", "path:"]
        .iter()
        .find_map(|label| text.strip_prefix(label))
        .map_or(text.clone(), bare);
    let is_sign = |one: char| one.is_alphanumeric() || "/._-+@()[]".contains(one);
    let is_path = !path.is_empty() && path.chars().all(is_sign) && !path.ends_with('.');
    is_path.then_some(path)
}
