//! Setting the program of one server in a text of TOML. Only the values that differ change; what is new is written
//! behind everything else. A form that cannot be changed without touching more is refused.

use crate::config::jsonc::Wrong;
use crate::config::jsonc::edit::{Edited, apply, flat, newline, to_json};
use crate::config::node::{Member, Node};
use serde_json::{Map, Value, json};
use std::ops::Range;
use toolpost_core::text::{Source, parse_toml};

/// The table of an entry, as it would stand in a new file.
pub(super) fn snippet(table: &str, name: &str, values: &Map<String, Value>) -> String {
    let lines = values.iter().map(|(key, value)| format!("{key} = {}\n", flat(value)));
    format!("[{table}.{name}]\n{}", lines.collect::<String>())
}

/// The text with these values in `[table.name]`, and without the keys in `gone`.
pub(super) fn set(
    text: &str,
    table: &str,
    name: &str,
    values: &Map<String, Value>,
    gone: &[&str],
) -> Result<Edited, Wrong> {
    let root = parse(text)?;
    let entry = root.get(table).and_then(|servers| servers.get(name));
    let (edited, at) = match entry {
        None => {
            let newline = newline(text);
            let new = snippet(table, name, values).replace('\n', newline);
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            let gap = if text.trim().is_empty() { "" } else { newline };
            (
                Edited::Added(format!("{text}{end}{gap}{new}")),
                root.get(table).map_or(0, |node| node.span.start),
            )
        }
        Some(entry) => {
            let mut edits = changes(text, entry, values, gone)?;
            if edits.is_empty() {
                return Ok(Edited::Same);
            }
            edits.sort_by_key(|(range, _)| (range.start, range.end));
            (Edited::Replaced(apply(text, edits)), entry.span.start)
        }
    };
    // The rules of tables are many; what counts is that the result says what it should and nothing else.
    let mut expected = to_json(&root);
    let mut wanted: Map<String, Value> =
        entry.map(to_json).and_then(|old| old.as_object().cloned()).unwrap_or_default();
    wanted.retain(|key, _| !gone.contains(&key.as_str()));
    wanted.extend(values.clone());
    if let Some(root) = expected.as_object_mut() {
        let servers = root.entry(table).or_insert(json!({}));
        if let Some(servers) = servers.as_object_mut() {
            servers.insert(name.to_owned(), Value::Object(wanted));
        }
    }
    let (Edited::Added(new) | Edited::Replaced(new)) = &edited else { return Ok(edited) };
    match parse(new) {
        Ok(result) if to_json(&result) == expected => Ok(edited),
        _ => Err(Wrong { at, message: format!("`{table}` is written in a form that is not changed here") }),
    }
}

/// The text without `[table.name]` and the tables below it; `None` if there is no such table. A form whose removal would
/// change more is refused.
pub(super) fn remove(text: &str, table: &str, name: &str) -> Result<Option<String>, Wrong> {
    let root = parse(text)?;
    let Some(entry) = root.get(table).and_then(|servers| servers.get(name)) else { return Ok(None) };
    let (own, below) = (format!("[{table}.{name}]"), format!("[{table}.{name}."));
    let (mut result, mut is_own) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if start.starts_with('[') {
            is_own = start.starts_with(&own) || start.starts_with(&below);
        }
        if !is_own {
            result.push_str(line);
        }
    }
    // The blank line that separated the last table.
    if result.ends_with("\n\n") && !text.ends_with("\n\n") {
        result.pop();
    } else if result.ends_with("\r\n\r\n") && !text.ends_with("\r\n\r\n") {
        result.truncate(result.len() - 2);
    }
    let mut expected = to_json(&root);
    if let Some(servers) = expected.get_mut(table).and_then(Value::as_object_mut) {
        servers.shift_remove(name);
    }
    let normal = |value: &Value| {
        let mut value = value.clone();
        // A table that is empty now need not be written.
        if value.get(table).and_then(Value::as_object).is_some_and(Map::is_empty)
            && let Some(root) = value.as_object_mut()
        {
            root.shift_remove(table);
        }
        value
    };
    match parse(&result) {
        Ok(now) if normal(&to_json(&now)) == normal(&expected) => Ok(Some(result)),
        _ => {
            let message = format!("`{table}.{name}` is written in a form that is not taken out here");
            Err(Wrong { at: entry.span.start, message })
        }
    }
}

fn parse(text: &str) -> Result<Node, Wrong> {
    let source = Source::within("", text.as_bytes(), usize::MAX)
        .map_err(|errors| Wrong { at: 0, message: errors.to_string() })?;
    match parse_toml(&source) {
        Ok(table) => Ok(Node::of_table(&table)),
        Err(errors) => {
            let first = errors.all().first();
            let message = first.map(|one| one.message.clone()).unwrap_or_default();
            let (line, column) = first.map_or((1, 1), |one| (one.line, one.column));
            Err(Wrong { at: offset(text, line, column), message })
        }
    }
}

/// The byte of a line and column.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let characters = text[start..].char_indices().nth(column - 1);
    characters.map_or(text.len(), |(at, _)| start + at)
}

fn changes(
    text: &str,
    entry: &Node,
    values: &Map<String, Value>,
    gone: &[&str],
) -> Result<Vec<(Range<usize>, String)>, Wrong> {
    let mut edits = Vec::new();
    let mut missing = String::new();
    for (key, value) in values {
        match entry.get(key) {
            Some(node) if to_json(node) == *value => {}
            Some(node) => edits.push((node.span.clone(), flat(value))),
            None => missing.push_str(&format!("{key} = {}{}", flat(value), newline(text))),
        }
    }
    for member in entry.members().iter().filter(|member| gone.contains(&member.key.as_str())) {
        let wrong = || Wrong {
            at: member.key_span.start,
            message: format!("`{}` is not taken out here", member.key),
        };
        let start = start_of_line(text, member).ok_or_else(wrong)?;
        let rest = &text[member.node.span.end..];
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        if !matches!(line.trim_start().chars().next(), None | Some('#')) {
            return Err(wrong());
        }
        edits.push((start..member.node.span.end + line.len(), String::new()));
    }
    if !missing.is_empty() {
        let first = entry.members().iter().filter_map(|member| start_of_line(text, member)).min();
        let message = "this entry is written in a form that is not changed here".to_owned();
        let at = first.ok_or(Wrong { at: entry.span.start, message })?;
        edits.push((at..at, missing));
    }
    Ok(edits)
}

/// The beginning of a member's line, if nothing but blanks stands before it.
fn start_of_line(text: &str, member: &Member) -> Option<usize> {
    let start = text[..member.key_span.start].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..member.key_span.start].trim().is_empty().then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text after setting the program of `mcp_servers.toolpost`; an error begins with `!`.
    fn check(text: &str, expected: &str) {
        let values = json!({"command": "t", "args": ["mcp"]}).as_object().unwrap().clone();
        let go = |text: &str| set(text, "mcp_servers", "toolpost", &values, &["url", "http_headers"]);
        match go(text) {
            Ok(Edited::Added(new) | Edited::Replaced(new)) => {
                assert_eq!(new, expected, "{text:?}");
                assert_eq!(go(&new), Ok(Edited::Same), "{text:?}");
            }
            Ok(Edited::Same) => assert_eq!(text, expected),
            Err(wrong) => assert_eq!(format!("!{} {}", wrong.at, wrong.message), expected, "{text:?}"),
        }
    }

    #[test]
    fn only_what_differs_changes() {
        let new = "[mcp_servers.toolpost]\ncommand = \"t\"\nargs = [\"mcp\"]\n";
        let windows = new.replace('\n', "\r\n");
        check("", new);
        check("# mine\nmodel='x'  # why", &format!("# mine\nmodel='x'  # why\n\n{new}"));
        check("a = 1\r\n[b]\r\n", &format!("a = 1\r\n[b]\r\n\r\n{windows}"));
        check(
            "[mcp_servers]\na = { command = 'x' }\n",
            &format!("[mcp_servers]\na = {{ command = 'x' }}\n\n{new}"),
        );
        check("mcp_servers.a.command = 'x'\n", &format!("mcp_servers.a.command = 'x'\n\n{new}"));
        check(new, new);
        check(
            "[mcp_servers.toolpost] # mine\ncommand = 'old' # here\nargs = [\n  'a', # one\n]\nenv = { A = '1' }\n\n[b]\nx = 1\n",
            "[mcp_servers.toolpost] # mine\ncommand = \"t\" # here\nargs = [\"mcp\"]\nenv = { A = '1' }\n\n[b]\nx = 1\n",
        );
        check(
            "[mcp_servers.toolpost]\n  url = 'https://x' # far\n  enabled = false\n[mcp_servers.toolpost.env]\nA = '1'\n",
            "[mcp_servers.toolpost]\ncommand = \"t\"\nargs = [\"mcp\"]\n  enabled = false\n[mcp_servers.toolpost.env]\nA = '1'\n",
        );
        check(
            "mcp_servers = { toolpost = { command = 'old', args = ['mcp'] } }\n",
            "mcp_servers = { toolpost = { command = \"t\", args = ['mcp'] } }\n",
        );
    }

    #[test]
    fn what_would_change_more_is_refused() {
        check(
            "mcp_servers = { a = { command = 'x' } }\n",
            "!14 `mcp_servers` is written in a form that is not changed here",
        );
        check("mcp_servers = 5\n", "!14 `mcp_servers` is written in a form that is not changed here");
        check("mcp_servers.toolpost = { url = 'x', env = {} }\n", "!25 `url` is not taken out here");
        check(
            "a = 1\nb = [1,\n x y]\n",
            "!15 string values must be quoted, expected literal string; see https://toml.io for how to write it",
        );
    }
}
