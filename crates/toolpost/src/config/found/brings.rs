//! What the files of agent hosts would start, in a line each, for a person who decides whether to trust them.
//!
//! Nothing here is taken over; a file that cannot be understood is said to be so.

use crate::config::jsonc::edit::get;
use crate::config::packs;
use crate::config::servers::{self, Format};
use serde_json::Value;
use toolpost_core::pack::Manifest;

/// More lines of one file are counted, not shown.
const MOST_LINES: usize = 20;
const UNCLEAR: &str = "it cannot be understood from here; read it before you trust it";

/// The servers of a file, and its hooks where it has some.
pub(super) fn servers(format: Format, bytes: &[u8]) -> Vec<String> {
    let Some(mut lines) = servers::brings(format, bytes) else { return vec![UNCLEAR.to_owned()] };
    if let Some(value) = json(bytes).filter(|value| !format.is_toml() && value.get("hooks").is_some()) {
        lines.extend(cut(hook_lines(&value)));
    }
    // Every server is shown, for every server may be started.
    lines
}

/// The value of a file of JSON, comments and all.
fn json(bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    get(text.trim_start_matches('\u{feff}'), &[]).ok()?
}

/// The commands under `hooks`.
pub(super) fn hooks(bytes: &[u8]) -> Vec<String> {
    match json(bytes) {
        Some(value) if value.get("hooks").is_some() => cut(hook_lines(&value)),
        Some(_) => Vec::new(),
        None => vec![UNCLEAR.to_owned()],
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

/// The manifest of a pack. One that is broken, or another file of its folder, brings nothing.
pub(super) fn pack(path: &str, bytes: &[u8]) -> Vec<String> {
    let read = packs::is_manifest(path).then(|| Manifest::parse(path, bytes));
    let Some(Ok(file)) = read else { return Vec::new() };
    let (name, profile) = (file.manifest.name(), file.manifest.risk_profile());
    let tools = file.manifest.tools().join(", ");
    vec![format!("the pack `{name}` ({profile}), for agents and sessions that name it: {tools}")]
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
