//! Tasks as a check list in Markdown. Pure.
//!
//! ```text
//! - [ ] a task <!-- t3 needs t1 -->
//!   Its description.
//!   - [x] a task that it depends on, and that is done
//! ```
//!
//! A task depends on those that are indented below it. What stands elsewhere in the list and is depended on too has its id
//! in a comment, and is named by it. What Markdown would read as something else is written as a character reference
//! (`&#10;`); a backslash is only a backslash.

use super::file::Item;
use super::tree::{Branch, Rest, branches};
use std::collections::{HashMap, HashSet};
use toolpost_core::store::{Task, TaskStatus};

/// Levels of indentation. What lies deeper is named by its id.
const DEEPEST: usize = 12;

/// The tasks as a check list.
pub(super) fn write(tasks: &[Task]) -> String {
    let found = branches(tasks, DEEPEST);
    // A task is written once, where what it depends on stands below it; at every other place it is named.
    let mut nested: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut named: HashSet<&str> = HashSet::new();
    let mut written: HashSet<&str> = HashSet::new();
    let mut above: Vec<&str> = Vec::new();
    let mut kept: Vec<&Branch<'_>> = Vec::new();
    for (_, branch) in &found {
        let id = branch.task.id.as_str();
        above.truncate(branch.depth);
        if branch.rest == Rest::Below && written.insert(id) {
            nested.entry(above.last().copied().unwrap_or_default()).or_default().insert(id);
            kept.push(branch);
        } else {
            named.insert(id);
        }
        above.push(id);
    }
    let there: HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let mut page = String::new();
    for branch in kept {
        let task = branch.task;
        let below = nested.get(task.id.as_str());
        let is_below = |id: &str| below.is_some_and(|below| below.contains(id));
        let is_elsewhere = |id: &&str| there.contains(id) && !is_below(id);
        let elsewhere: Vec<&str> = task.depends_on.iter().map(String::as_str).filter(is_elsewhere).collect();
        let tag = match (elsewhere.as_slice(), named.contains(task.id.as_str())) {
            ([], false) => String::new(),
            ([], true) => format!(" <!-- {} -->", task.id),
            (needed, _) => format!(" <!-- {} needs {} -->", task.id, needed.join(", ")),
        };
        let indent = "  ".repeat(branch.depth);
        let mark = if task.status == TaskStatus::Completed { 'x' } else { ' ' };
        page.push_str(&format!("{indent}- [{mark}] {}{tag}\n", title(&task.title)));
        for line in description(&task.description) {
            match line.is_empty() {
                true => page.push('\n'),
                false => page.push_str(&format!("{indent}  {line}\n")),
            }
        }
    }
    page
}

/// A title on one line.
fn title(text: &str) -> String {
    referred(text).replace('\n', "&#10;").replace("<!--", "&#60;!--")
}

/// What must not be read as a reference, and what would be lost at the end of a line.
fn referred(text: &str) -> String {
    text.replace("&#", "&#38;#").replace('\r', "&#13;")
}

/// The lines of a description. No line looks like a task, the first and the last one are not empty, and one of them begins
/// without a space, so that the indentation can be told from the text.
fn description(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let inner = text.trim_matches('\n');
    if inner.is_empty() {
        return vec!["&#10;".repeat(text.len())];
    }
    let before = text.len() - text.trim_start_matches('\n').len();
    let after = text.len() - text.trim_end_matches('\n').len();
    let mut lines: Vec<String> = inner.split('\n').map(referred).collect();
    lines[0].insert_str(0, &"&#10;".repeat(before));
    if let Some(last) = lines.last_mut() {
        last.push_str(&"&#10;".repeat(after));
    }
    for line in &mut lines {
        let text = line.trim_start_matches(SPACES);
        if item(line).is_some() {
            *line = with_reference(line, line.len() - text.len());
        } else if text.is_empty() && !line.is_empty() {
            *line = with_reference(line, 0);
        }
    }
    if lines.iter().all(|line| line.is_empty() || line.starts_with(SPACES)) {
        lines[0] = with_reference(&lines[0], 0);
    }
    lines
}

/// The line with the character at a place, which is one byte long, as a reference.
fn with_reference(line: &str, at: usize) -> String {
    let byte = line.as_bytes()[at];
    format!("{}&#{byte};{}", &line[..at], &line[at + 1..])
}

const SPACES: [char; 2] = [' ', '\t'];

/// The tasks of a check list, and what of it was not understood.
pub(super) fn read(text: &str) -> (Vec<Item>, Vec<String>) {
    let mut items: Vec<Read<'_>> = Vec::new();
    // The tasks that the next one may belong to, the innermost last.
    let mut above: Vec<usize> = Vec::new();
    let mut strangers: Vec<usize> = Vec::new();
    // Whether the last task has not ended yet.
    let mut is_inside = false;
    for (number, line) in text.lines().enumerate() {
        let indent = width(line);
        if let Some((is_completed, rest)) = item(line) {
            above.retain(|index| items[*index].indent < indent);
            items.push(Read {
                indent,
                is_completed,
                text: rest,
                above: above.last().copied(),
                lines: Vec::new(),
            });
            above.push(items.len() - 1);
            is_inside = true;
            continue;
        }
        let is_blank = line.trim_matches(SPACES).is_empty();
        match items.last_mut() {
            Some(last) if is_inside && (is_blank || indent > last.indent) => last.lines.push(line),
            _ if is_blank => {}
            _ => {
                strangers.push(number + 1);
                above.clear();
                is_inside = false;
            }
        }
    }
    let notes = match strangers.as_slice() {
        [] => Vec::new(),
        [line] => vec![format!("line {line} is not a task, and was left out")],
        [line, ..] => {
            vec![format!(
                "{} lines are not tasks, and were left out; the first is line {line}",
                strangers.len()
            )]
        }
    };
    (joined(&items), notes)
}

/// A task as it stands in the list.
struct Read<'a> {
    indent: usize,
    is_completed: bool,
    text: &'a str,
    above: Option<usize>,
    lines: Vec<&'a str>,
}

fn joined(items: &[Read<'_>]) -> Vec<Item> {
    let tags: Vec<(&str, Option<Tag>)> = items.iter().map(|item| tagged(item.text)).collect();
    let own = |index: usize| match tags[index].1.as_ref().and_then(|tag| tag.id.as_ref()) {
        Some(id) => id.clone(),
        // No id is like this, so that none of another task is meant.
        None => format!("#{}", index + 1),
    };
    let mut all: Vec<Item> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let (text, tag) = &tags[index];
        all.push(Item {
            key: Some(own(index)),
            title: unreferred(text),
            description: read_description(&item.lines),
            depends_on: tag.as_ref().map(|tag| tag.needs.clone()).unwrap_or_default(),
            is_completed: item.is_completed,
            result: None,
        });
        if let Some(above) = item.above {
            all[above].depends_on.push(own(index));
        }
    }
    all
}

/// The comment at the end of a title.
struct Tag {
    /// The id that it gives to the task, if it does.
    id: Option<String>,
    needs: Vec<String>,
}

/// A title without its comment, where it has one that names a task.
fn tagged(text: &str) -> (&str, Option<Tag>) {
    let parts = || {
        let (title, comment) = text.trim_end().strip_suffix("-->")?.rsplit_once("<!--")?;
        let comment = comment.trim();
        let (id, needs) = match (comment.strip_prefix("needs "), comment.split_once(" needs ")) {
            (Some(needs), _) => (None, needs.split(',').map(str::trim).collect()),
            (None, Some((id, needs))) => (Some(id.trim()), needs.split(',').map(str::trim).collect()),
            (None, None) => (Some(comment), Vec::new()),
        };
        let is_id = |id: &&str| {
            id.strip_prefix('t').is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
            })
        };
        let is_tag = id.as_ref().is_none_or(is_id) && needs.iter().all(is_id);
        let needs = needs.into_iter().map(str::to_owned).collect();
        is_tag.then(|| (title, Tag { id: id.map(str::to_owned), needs }))
    };
    match parts() {
        Some((title, tag)) => (title.trim_end_matches(SPACES), Some(tag)),
        None => (text, None),
    }
}

fn read_description(lines: &[&str]) -> String {
    let is_blank = |line: &str| line.trim_matches(SPACES).is_empty();
    let first = lines.iter().position(|line| !is_blank(line)).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !is_blank(line)).map_or(first, |last| last + 1);
    let lines = &lines[first..last];
    let spaces = |line: &str| line.len() - line.trim_start_matches(SPACES).len();
    let full = || lines.iter().filter(|line| !is_blank(line));
    let Some(model) = full().next() else { return String::new() };
    // What all lines begin with is indentation.
    let mut common = spaces(model);
    for line in full() {
        let same = line.bytes().zip(model.bytes()).take(common).take_while(|(one, other)| one == other);
        common = same.count();
    }
    let text = lines.iter().map(|line| if is_blank(line) { "" } else { &line[common..] });
    unreferred(&text.collect::<Vec<_>>().join("\n"))
}

/// Whether a line is a task: whether it is done, and what follows.
fn item(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start_matches(SPACES);
    let rest = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let rest = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
            match rest.len() < line.len() {
                true => rest.strip_prefix(['.', ')'])?,
                false => return None,
            }
        }
    };
    let rest = rest.strip_prefix(SPACES)?.trim_start_matches(SPACES).strip_prefix('[')?;
    let is_completed = rest.starts_with(['x', 'X']);
    let rest = rest.strip_prefix(['x', 'X', ' '])?.strip_prefix(']')?;
    let text = rest.strip_prefix(SPACES)?.trim_matches(SPACES);
    (!text.is_empty()).then_some((is_completed, text))
}

/// How far a line is indented; a tab goes to the next fourth column.
fn width(line: &str) -> usize {
    let mut width = 0;
    for letter in line.chars() {
        match letter {
            ' ' => width += 1,
            '\t' => width = (width / 4 + 1) * 4,
            _ => break,
        }
    }
    width
}

/// The text with the characters that references stand for.
fn unreferred(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("&#") {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let digits = after.len() - after.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        let meant = after[..digits].parse().ok().and_then(char::from_u32).filter(|letter| *letter != '\0');
        match (meant, after[digits..].strip_prefix(';')) {
            (Some(letter), Some(behind)) => {
                plain.push(letter);
                rest = behind;
            }
            _ => {
                plain.push_str("&#");
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests;
