//! What the files of agent hosts would start, in a line each, for a person who decides whether to trust them.
//!
//! Nothing here is taken over; a file that cannot be understood is said to be so.

use serde_json::Value;
use toml::de::DeValue;
use toolpost_core::policy::{Source, parse_toml};

/// More lines of one file are counted, not shown.
const MOST_LINES: usize = 20;
const UNCLEAR: &str = "it cannot be understood from here; read it before you trust it";

/// The servers under a key of a JSON file.
pub(super) fn servers_in_json(bytes: &[u8], key: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return vec![UNCLEAR.to_owned()] };
    let servers = value.get(key).and_then(Value::as_object);
    let mut lines: Vec<String> = servers
        .into_iter()
        .flatten()
        .map(|(name, server)| {
            let mut words = Vec::new();
            for key in ["command", "args"] {
                match server.get(key) {
                    Some(Value::String(word)) => words.push(word.as_str()),
                    Some(Value::Array(list)) => words.extend(list.iter().filter_map(Value::as_str)),
                    _ => {}
                }
            }
            let text = |key: &str| server.get(key).and_then(Value::as_str);
            server_line(name, &words, text("httpUrl").or(text("url")))
        })
        .collect();
    if value.get("hooks").is_some() {
        lines.extend(hook_lines(&value));
    }
    cut(lines)
}

/// The servers under a key of a TOML file.
pub(super) fn servers_in_toml(bytes: &[u8], key: &str) -> Vec<String> {
    let unclear = || vec![UNCLEAR.to_owned()];
    let Ok(source) = Source::new("", bytes) else { return unclear() };
    let Ok(table) = parse_toml(&source) else { return unclear() };
    let servers = table.get_ref().get(key).and_then(|value| value.get_ref().as_table());
    let lines = servers.into_iter().flat_map(|servers| servers.iter()).map(|(name, server)| {
        let get = |key: &str| server.get_ref().as_table().and_then(|table| table.get(key));
        let mut words = Vec::new();
        for key in ["command", "args"] {
            match get(key).map(|value| value.get_ref()) {
                Some(DeValue::String(word)) => words.push(word.as_ref()),
                Some(DeValue::Array(list)) => {
                    words.extend(list.iter().filter_map(|item| item.get_ref().as_str()));
                }
                _ => {}
            }
        }
        server_line(name.get_ref(), &words, get("url").and_then(|url| url.get_ref().as_str()))
    });
    cut(lines.collect())
}

fn server_line(name: &str, words: &[&str], url: Option<&str>) -> String {
    match (words, url) {
        ([], Some(url)) => format!("the server `{name}` at {url}"),
        ([], None) => format!("the server `{name}`"),
        (words, _) => format!("the server `{name}`, started with `{}`", words.join(" ")),
    }
}

/// The commands under `hooks`.
pub(super) fn hooks(bytes: &[u8]) -> Vec<String> {
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) if value.get("hooks").is_some() => cut(hook_lines(&value)),
        Ok(_) => Vec::new(),
        Err(_) => vec![UNCLEAR.to_owned()],
    }
}

fn hook_lines(value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for (event, matchers) in value.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        let hooks = matchers
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|matcher| matcher.get("hooks").and_then(Value::as_array))
            .flatten();
        for hook in hooks {
            let command = hook.get("command").and_then(Value::as_str).unwrap_or("something");
            lines.push(format!("on {event}, runs `{command}`"));
        }
    }
    if lines.is_empty() {
        lines.push("hooks of a form that is not known here; read them before you trust them".to_owned());
    }
    lines
}

/// An agent file: its name is the agent's.
pub(super) fn agent(path: &str, _: &[u8]) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.split_once('.').map_or(name, |(stem, _)| stem);
    vec![format!("the agent `{name}`, with its prompt, tools and model")]
}

/// A file of a plugin.
pub(super) fn plugin(path: &str, _: &[u8]) -> Vec<String> {
    let name = path.trim_start_matches(".toolpost/plugins/");
    let name = name.split_once('/').map_or(name, |(plugin, _)| plugin);
    vec![format!("a part of the plugin `{name}`")]
}

fn cut(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}
