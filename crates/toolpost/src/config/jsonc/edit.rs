//! Setting one value in a text of JSON with comments. Only the bytes of that value change; what is new is written in
//! the manner of its neighbours: their indentation, their line ends, their comma after the last item.

use super::{Wrong, after_blanks, parse};
use crate::config::node::{Member, Node, Value as Tree};
use serde_json::{Map, Value};
use std::ops::Range;

/// What became of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edited {
    /// The value was there already.
    Same,
    /// There was none before.
    Added(String),
    /// Another stood in its place.
    Replaced(String),
}

/// The value under a path of keys, if there is one.
pub(crate) fn get(text: &str, path: &[&str]) -> Result<Option<Value>, Wrong> {
    let Some(root) = parse(text)? else { return Ok(None) };
    let found = path.iter().try_fold(&root, |node, key| node.get(key));
    Ok(found.map(to_json))
}

/// The text with a value under a path of keys, made from what stands there; tables on the way that are missing are
/// made.
pub(crate) fn set(
    text: &str,
    path: &[&str],
    make: impl FnOnce(Option<Value>) -> Value,
) -> Result<Edited, Wrong> {
    let style = Style::of(text);
    let Some(root) = parse(text)? else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { style.newline };
        let new = style.pretty(&nested(path, &make(None)), "");
        return Ok(Edited::Added(format!("{text}{gap}{new}{}", style.newline)));
    };
    let style = Style { unit: unit(text, &root), ..style };
    let mut table = &root;
    for (index, key) in path.iter().enumerate() {
        if !matches!(table.value, Tree::Table(_)) {
            let place = if index == 0 { "the file" } else { path[index - 1] };
            let message = format!("`{place}` is {}; a table is needed there", table.kind());
            return Err(Wrong { at: table.span.start, message });
        }
        let is_last = index + 1 == path.len();
        match table.members().iter().rev().find(|member| member.key == *key) {
            None => {
                let new = nested(&path[index + 1..], &make(None));
                return Ok(Edited::Added(apply(text, style.insert(text, &root, table, key, &new))));
            }
            Some(member) if !is_last => table = &member.node,
            Some(member) => {
                let old = to_json(&member.node);
                let value = make(Some(old.clone()));
                if old == value {
                    return Ok(Edited::Same);
                }
                let new = style.replacement(text, table, member, &value);
                return Ok(Edited::Replaced(apply(text, vec![(member.node.span.clone(), new)])));
            }
        }
    }
    Ok(Edited::Same)
}

/// The text without the value under a path of keys, and its comma and line; `None` if there is no such value.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<Option<String>, Wrong> {
    let (Some(root), Some((key, above))) = (parse(text)?, path.split_last()) else { return Ok(None) };
    let Some(table) = above.iter().try_fold(&root, |node, key| node.get(key)) else { return Ok(None) };
    let members = table.members();
    let Some(index) = members.iter().rposition(|member| member.key == *key) else { return Ok(None) };
    let member = &members[index];
    let (mut start, mut end) = (member.key_span.start, member.node.span.end);
    let next = after_blanks(text, end);
    let has_comma = text.as_bytes().get(next) == Some(&b',');
    let mut edits = Vec::new();
    if has_comma {
        end = next + 1;
    } else if let Some(previous) = index.checked_sub(1).map(|index| &members[index]) {
        // The comma before it would be one too many.
        let comma = after_blanks(text, previous.node.span.end);
        edits.push((comma..comma + 1, String::new()));
    }
    let line_end = end_of_line(text, end);
    match own_line(text, start) {
        // The whole line, with its end, if nothing else stands on it.
        Some(indent) if text[line_end..].trim_start_matches('\r').starts_with('\n') => {
            start -= indent.len();
            end = line_end + text[line_end..].find('\n').map_or(0, |newline| newline + 1);
        }
        _ if has_comma => end += text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len(),
        // With the blanks behind the comma that goes.
        _ => start -= text[..start].len() - text[..start].trim_end_matches([' ', '\t']).len(),
    }
    edits.push((start..end, String::new()));
    let result = apply(text, edits);
    // Of keys that stand twice the other one would count now.
    match parse(&result) {
        Ok(now)
            if now
                .as_ref()
                .and_then(|now| path.iter().try_fold(now, |node, key| node.get(key)))
                .is_none() =>
        {
            Ok(Some(result))
        }
        _ => {
            let message = format!("`{key}` is written in a form that is not taken out here");
            Err(Wrong { at: member.key_span.start, message })
        }
    }
}

/// The value of a tree, without its places.
pub(crate) fn to_json(node: &Node) -> Value {
    match &node.value {
        Tree::Null | Tree::Other => Value::Null,
        Tree::Bool(is_true) => Value::Bool(*is_true),
        Tree::Number(number) => serde_json::from_str(number).unwrap_or_default(),
        Tree::Text(text) => Value::String(text.clone()),
        Tree::List(items) => Value::Array(items.iter().map(to_json).collect()),
        Tree::Table(members) => {
            Value::Object(members.iter().map(|member| (member.key.clone(), to_json(&member.node))).collect())
        }
    }
}

/// The value inside of a table for each key of the path.
pub(crate) fn nested(path: &[&str], value: &Value) -> Value {
    let inside = |inner, key: &&str| Value::Object(Map::from_iter([((*key).to_owned(), inner)]));
    path.iter().rev().fold(value.clone(), inside)
}

/// The value over several lines, as it would stand in a new file.
pub(crate) fn pretty(value: &Value) -> String {
    Style { newline: "\n", unit: "  " }.pretty(value, "")
}

/// Puts texts in place of ranges that follow one another.
pub(crate) fn apply(text: &str, edits: Vec<(Range<usize>, String)>) -> String {
    let mut result = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, new) in edits {
        result.push_str(&text[at..range.start]);
        result.push_str(&new);
        at = range.end;
    }
    result.push_str(&text[at..]);
    result
}

/// How a file is written.
#[derive(Clone, Copy)]
struct Style<'a> {
    newline: &'static str,
    /// One step of indentation.
    unit: &'a str,
}

impl Style<'_> {
    fn of(text: &str) -> Self {
        Style { newline: newline(text), unit: "  " }
    }

    fn replacement(&self, text: &str, table: &Node, member: &Member, value: &Value) -> String {
        match text[table.span.clone()].contains('\n') {
            true => self.pretty(value, indentation(text, member.key_span.start)),
            false => flat(value),
        }
    }

    fn insert(
        &self,
        text: &str,
        root: &Node,
        table: &Node,
        key: &str,
        value: &Value,
    ) -> Vec<(Range<usize>, String)> {
        let key = Value::String(key.to_owned());
        let members = table.members();
        let has_lines = text[table.span.clone()].contains('\n')
            || (members.is_empty() && (table.span == root.span || text[root.span.clone()].contains('\n')));
        // Behind the last member, and behind its comma if it has one.
        let (base, comma) = match members.last() {
            None => (table.span.start + 1, Comma::None),
            Some(last) => {
                let end = last.node.span.end;
                let next = after_blanks(text, end);
                match text.as_bytes().get(next) {
                    Some(b',') => (next + 1, Comma::There),
                    _ => (end, Comma::Missing),
                }
            }
        };
        let after = if comma == Comma::There { "," } else { "" };
        let before = if comma == Comma::Missing { "," } else { "" };
        if !has_lines {
            let blank = if comma == Comma::None { "" } else { " " };
            return vec![(base..base, format!("{before}{blank}{key}: {}{after}", flat(value)))];
        }
        let at = end_of_line(text, base);
        let outer = indentation(text, table.span.start);
        let own = members.last().and_then(|member| own_line(text, member.key_span.start));
        let indent = own.map_or_else(|| format!("{outer}{}", self.unit), str::to_owned);
        let closes_here = text[at..].trim_start_matches([' ', '\t']).starts_with('}');
        let end = if closes_here { format!("{}{outer}", self.newline) } else { String::new() };
        let new = format!("{}{indent}{key}: {}{after}{end}", self.newline, self.pretty(value, &indent));
        vec![(base..base, before.to_owned()), (at..at, new)]
    }

    fn pretty(&self, value: &Value, indent: &str) -> String {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let inner = format!("{indent}{}", self.unit);
                let lines = members.iter().map(|(key, value)| {
                    format!("{inner}{}: {}", Value::String(key.clone()), self.pretty(value, &inner))
                });
                let lines: Vec<String> = lines.collect();
                let newline = self.newline;
                format!("{{{newline}{}{newline}{indent}}}", lines.join(&format!(",{newline}")))
            }
            other => flat(other),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comma {
    /// Nothing stands before.
    None,
    Missing,
    There,
}

/// The line end that the file has.
pub(crate) fn newline(text: &str) -> &'static str {
    let is_windows = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
    if is_windows { "\r\n" } else { "\n" }
}

/// The value on one line.
pub(crate) fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(flat).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| format!("{}: {}", Value::from(key.as_str()), flat(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Behind what else stands on this line, if that is only blanks and comments; otherwise right here.
fn end_of_line(text: &str, base: usize) -> usize {
    let mut at = base;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = &text[at..];
        if rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n") {
            return at;
        }
        if rest.starts_with("//") {
            let line = rest.split('\n').next().unwrap_or(rest);
            return at + line.trim_end_matches('\r').len();
        }
        match rest.strip_prefix("/*").and_then(|comment| Some(&comment[..comment.find("*/")?])) {
            Some(comment) if !comment.contains('\n') => at += comment.len() + 4,
            _ => return base,
        }
    }
}

/// The blanks at the beginning of the line.
fn indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The same, if nothing else stands before.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let indent = indentation(text, at);
    let line = text[..at].rfind('\n').map(|newline| &text[newline + 1..at])?;
    (line == indent).then_some(indent)
}

/// One step of indentation: that of the outermost members.
fn unit<'a>(text: &'a str, root: &Node) -> &'a str {
    let first = root.members().first().and_then(|member| own_line(text, member.key_span.start));
    first.filter(|indent| !indent.is_empty()).unwrap_or("  ")
}
