//! Gemini CLI: the `[[rule]]` tables of a policy file.
//!
//! There the match of the highest priority decides, so our rules come in that order; of equal ones the first in the
//! file. Rules on regular expressions, modes or sub-agents are not taken.

use super::{Collector, Imported, Target, names};
use toml::de::{DeTable, DeValue};
use toolpost_core::policy::Effect;
use toolpost_core::text::{Errors, Source};

/// Reads the text of `policies/*.toml`.
pub fn import(source: &Source<'_>, target: Target<'_>) -> Result<Imported, Errors> {
    let table = toolpost_core::text::parse_toml(source)?;
    let mut collector = Collector::new(source, target);
    let rules = table.get_ref().get("rule").or_else(|| table.get_ref().get("rules"));
    let Some(items) = rules.and_then(|value| value.get_ref().as_array()) else {
        return Ok(collector.finish());
    };
    let mut found = Vec::new();
    for item in items.iter() {
        let line = source.line(item.span().start);
        match item.get_ref().as_table() {
            Some(table) => found.push((priority(table), line, table)),
            None => collector.not_taken(line, None, "a rule is not a table"),
        }
    }
    found.sort_by_key(|(priority, _, _)| std::cmp::Reverse(*priority));
    for (_, line, table) in found {
        rule(&mut collector, line, table);
    }
    Ok(collector.finish())
}

fn priority(table: &DeTable<'_>) -> i64 {
    let number = table.get("priority").and_then(|value| value.get_ref().as_integer());
    number.and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok()).unwrap_or(0)
}

/// One text, or several in a list.
fn texts(table: &DeTable<'_>, key: &str) -> Option<Vec<String>> {
    match table.get(key)?.get_ref() {
        DeValue::String(text) => Some(vec![text.to_string()]),
        DeValue::Array(items) => {
            Some(items.iter().filter_map(|item| item.get_ref().as_str().map(str::to_owned)).collect())
        }
        _ => Some(Vec::new()),
    }
}

fn rule(collector: &mut Collector<'_>, line: usize, table: &DeTable<'_>) {
    let decision = table.get("decision").and_then(|value| value.get_ref().as_str());
    let effect = match decision {
        Some("allow") => Effect::Allow,
        Some("ask_user") => Effect::Ask,
        Some("deny") => Effect::Deny,
        Some(other) => return collector.not_taken(line, None, format!("no decision `{other}` is known")),
        None => return collector.not_taken(line, None, "the rule has no `decision`"),
    };
    if !(0..=999).contains(&priority(table)) {
        return collector.not_taken(line, Some(effect), "its `priority` is not from 0 to 999");
    }
    for key in ["commandRegex", "argsPattern", "subagent", "interactive", "toolAnnotations"] {
        if table.contains_key(key) {
            return collector.not_taken(line, Some(effect), format!("`{key}` has no counterpart"));
        }
    }
    if texts(table, "modes").is_some_and(|modes| !modes.iter().any(|mode| mode == "default")) {
        return collector.not_taken(line, Some(effect), "it does not hold in the default mode");
    }
    let resources: Vec<String> = match texts(table, "commandPrefix") {
        Some(prefixes) => prefixes.iter().map(|prefix| format!("{} *", escape(prefix.trim()))).collect(),
        None => vec!["*".to_owned()],
    };
    let is_command = table.contains_key("commandPrefix");
    let tools = match texts(table, "toolName") {
        Some(tools) => tools,
        None if is_command => vec!["run_shell_command".to_owned()],
        None => vec!["*".to_owned()],
    };
    let server = table.get("mcpName").and_then(|value| value.get_ref().as_str());
    for tool in &tools {
        let actions: Vec<String> = match (server, names::actions(tool)) {
            (Some(server), _) => vec![format!("mcp__{server}__{tool}")],
            (None, _) if tool == "*" => vec!["*".to_owned()],
            (None, Some(actions)) => actions.iter().map(|action| (*action).to_owned()).collect(),
            (None, None) if names::is_mcp(tool) || tool.contains('*') => vec![tool.clone()],
            (None, None) => {
                collector.not_taken(line, Some(effect), format!("there is no tool like `{tool}`"));
                continue;
            }
        };
        if is_command && actions != ["bash"] {
            collector.not_taken(line, Some(effect), format!("`commandPrefix` says nothing for `{tool}`"));
            continue;
        }
        for action in &actions {
            resources.iter().for_each(|resource| collector.rule(line, effect, action, resource));
        }
    }
}

/// A beginning of commands as a pattern, its own stars taken as they are.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('*', "\\*").replace('?', "\\?")
}
