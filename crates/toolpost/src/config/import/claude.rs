//! Claude Code: `permissions {allow, ask, deny}` of a settings file.
//!
//! There the first match of deny, ask, allow decides; so our rules come in that order. `Read(…)` and `Edit(…)` speak of
//! every tool that reads or writes files, so they become rules on the capabilities. Paths follow gitignore.

use super::{Collector, Imported, Target, is_home, names};
use toolpost_core::policy::Effect;
use toolpost_core::text::json::{self, Json, Node, Syntax};
use toolpost_core::text::{Errors, Source};

/// Reads the text of `settings.json` or `settings.local.json`.
pub fn import(source: &Source<'_>, target: Target<'_>) -> Result<Imported, Errors> {
    let root = json::parse(source, Syntax::WithComments)?;
    let mut collector = Collector::new(source, target);
    let Some(permissions) = root.get("permissions") else { return Ok(collector.finish()) };
    for (key, effect) in [("deny", Effect::Deny), ("ask", Effect::Ask), ("allow", Effect::Allow)] {
        let Some(list) = permissions.get(key) else { continue };
        let Json::List(items) = &list.value else {
            collector.not_taken(list.line, Some(effect), format!("`{key}` is not a list"));
            continue;
        };
        for item in items {
            match item.text() {
                Some(text) => rule(&mut collector, item.line, effect, text.trim()),
                None => collector.not_taken(
                    item.line,
                    Some(effect),
                    format!("an entry of `{key}` is not a string"),
                ),
            }
        }
    }
    other_keys(&mut collector, permissions);
    Ok(collector.finish())
}

fn other_keys(collector: &mut Collector<'_>, permissions: &Node) {
    let Json::Object(entries) = &permissions.value else {
        return collector.not_taken(permissions.line, None, "`permissions` is not an object");
    };
    for (key, node) in entries {
        let reason = match (key.as_str(), node.text()) {
            ("allow" | "ask" | "deny", _) => continue,
            ("defaultMode", Some("default")) => continue,
            ("defaultMode", Some("plan")) => {
                "`defaultMode` is not a rule; use `--policy read-only`".to_owned()
            }
            ("defaultMode", Some("acceptEdits")) => {
                "`defaultMode` is not a rule; use `--policy standard`".to_owned()
            }
            ("defaultMode", Some("bypassPermissions")) => {
                "`defaultMode` is not a rule; `--policy privileged --yes` is the nearest setting".to_owned()
            }
            ("additionalDirectories", _) => {
                "`additionalDirectories` is not a rule; give each with `--workspace DIR`".to_owned()
            }
            _ => format!("`{key}` has no counterpart"),
        };
        collector.not_taken(node.line, None, reason);
    }
}

fn rule(collector: &mut Collector<'_>, line: usize, effect: Effect, text: &str) {
    let (tool, inside) = match text.split_once('(') {
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(inside) => (tool.trim(), Some(inside.trim())),
            None => {
                return collector.not_taken(line, Some(effect), format!("`{text}` lacks its closing `)`"));
            }
        },
        None => (text, None),
    };
    // `Tool(*)` is the same as `Tool`.
    let inside = inside.filter(|inside| !matches!(*inside, "*" | "**" | ""));
    match (tool, inside) {
        ("Bash", Some(command)) => {
            let command = match command.strip_suffix(":*") {
                Some(beginning) => format!("{beginning} *"),
                None => command.to_owned(),
            };
            collector.rule(line, effect, "bash", &command);
        }
        ("Read", None) => collector.rule(line, effect, "read", "*"),
        ("Edit" | "MultiEdit", None) => collector.rule(line, effect, "write", "*"),
        ("Read", Some(path)) => paths(collector, line, effect, "read", path),
        ("Edit" | "MultiEdit", Some(path)) => paths(collector, line, effect, "write", path),
        ("Write", Some(path)) => collector.not_taken(
            line,
            None,
            format!(
                "Claude Code accepts `{text}` and ignores it; `Edit({path})` is what covers every writer"
            ),
        ),
        ("WebFetch", Some(inside)) => match inside.strip_prefix("domain:") {
            Some(host) => collector.rule(line, effect, "webfetch", host.trim()),
            None => {
                collector.not_taken(line, Some(effect), format!("`{text}`: only `domain:` is understood"))
            }
        },
        (tool, inside) if tool.starts_with("mcp__") => mcp(collector, line, effect, tool, inside),
        ("*", None) => collector.rule(line, effect, "*", "*"),
        (tool, None) => match names::actions(tool) {
            Some(actions) => actions.iter().for_each(|action| collector.rule(line, effect, action, "*")),
            None => collector.not_taken(line, Some(effect), format!("there is no tool like `{tool}`")),
        },
        (tool, Some(_)) => collector.not_taken(
            line,
            Some(effect),
            format!("`{text}`: what stands in the brackets of `{tool}` has no counterpart"),
        ),
    }
}

fn mcp(collector: &mut Collector<'_>, line: usize, effect: Effect, tool: &str, inside: Option<&str>) {
    if inside.is_some() {
        return collector.not_taken(line, Some(effect), format!("`{tool}(…)`: MCP rules take no brackets"));
    }
    if tool == "mcp__*" && effect == Effect::Allow {
        let reason =
            "Claude Code accepts `mcp__*` in allow and ignores it; name the server, as in `mcp__server__*`";
        return collector.not_taken(line, None, reason);
    }
    let is_server_only = !tool["mcp__".len()..].contains("__") && !tool.contains('*');
    let action = if is_server_only { format!("{tool}__*") } else { tool.to_owned() };
    collector.rule(line, effect, &action, "*");
}

/// A gitignore pattern as ours. There a match of any kind takes all that lies inside with it, so a pattern whose last
/// part has a wildcard becomes two.
fn paths(collector: &mut Collector<'_>, line: usize, effect: Effect, action: &str, path: &str) {
    if path.starts_with('!') {
        return collector.not_taken(line, Some(effect), format!("`{path}` turns another pattern round"));
    }
    let path = match is_home(path) {
        true => match collector.expand_home(path) {
            Some(path) => path,
            None => {
                return collector.not_taken(line, Some(effect), format!("`{path}`: the home is not known"));
            }
        },
        false => path.to_owned(),
    };
    let path = path.replace('{', "\\{").replace('}', "\\}");
    collector.rule(line, effect, action, &path);
    let last = path.rsplit('/').next().unwrap_or_default();
    if last.contains(['*', '?', '[']) && last != "**" {
        collector.rule(line, effect, action, &anchored(&path));
    }
}

/// Everything inside what the pattern matches, at the depths at which it matches.
fn anchored(path: &str) -> String {
    if path.contains('/') { format!("{path}/**") } else { format!("**/{path}/**") }
}
