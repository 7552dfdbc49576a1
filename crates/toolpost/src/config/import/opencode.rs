//! OpenCode: the `permission` object (V1) and the `permissions` array (V2) of `opencode.json`.
//!
//! There the last match decides, so our rules come in reverse. `*` and `?` run over `/` as well. What no rule matches is
//! allowed there in V1 and asked in V2; here the capabilities decide, which is said among what is not taken.

use super::{Collector, Imported, Target, is_home, names};
use toolpost_core::policy::Effect;
use toolpost_core::text::json::{self, Json, Node, Syntax};
use toolpost_core::text::{Errors, Source};

/// Reads the text of `opencode.json` or `opencode.jsonc`.
pub fn import(source: &Source<'_>, target: Target<'_>) -> Result<Imported, Errors> {
    let root = json::parse(source, Syntax::WithComments)?;
    let mut collector = Collector::new(source, target);
    if let Some(permission) = root.get("permission") {
        first_form(&mut collector, permission);
    }
    if let Some(permissions) = root.get("permissions") {
        second_form(&mut collector, permissions);
    }
    collector.imported.rules.reverse();
    Ok(collector.finish())
}

fn first_form(collector: &mut Collector<'_>, permission: &Node) {
    let default = "what no rule matches is allowed in OpenCode; here the profile decides, see `--policy`";
    collector.not_taken(permission.line, None, default);
    match &permission.value {
        Json::Text(_) => entry(collector, permission.line, "*", "*", permission),
        Json::Object(entries) => {
            for (key, node) in entries {
                match &node.value {
                    Json::Object(patterns) => {
                        for (pattern, effect) in patterns {
                            entry(collector, effect.line, key, pattern, effect);
                        }
                    }
                    _ => entry(collector, node.line, key, "*", node),
                }
            }
        }
        _ => collector.not_taken(permission.line, None, "`permission` is neither a text nor an object"),
    }
}

fn second_form(collector: &mut Collector<'_>, permissions: &Node) {
    let default = "what no rule matches asks in OpenCode; here the profile decides, see `--policy`";
    collector.not_taken(permissions.line, None, default);
    let Json::List(items) = &permissions.value else {
        return collector.not_taken(permissions.line, None, "`permissions` is not a list");
    };
    for item in items {
        let text = |key: &str| item.get(key).and_then(Node::text);
        match (text("action"), item.get("effect")) {
            (Some(action), Some(effect)) => {
                entry(collector, item.line, action, text("resource").unwrap_or("*"), effect);
            }
            _ => collector.not_taken(item.line, None, "a permission lacks its `action` or `effect`"),
        }
    }
}

/// One rule of theirs: a key, a pattern and what it says.
fn entry(collector: &mut Collector<'_>, line: usize, key: &str, pattern: &str, effect: &Node) {
    let Some(effect) = effect.text().and_then(|text| text.parse::<Effect>().ok()) else {
        return collector.not_taken(
            line,
            None,
            format!("`{key}`: the effect is none of allow, ask and deny"),
        );
    };
    let left_out = |collector: &mut Collector<'_>, reason: &str| {
        collector.not_taken(line, Some(effect), format!("`{key}` with `{pattern}`: {reason}"));
    };
    match key {
        "external_directory" => left_out(collector, "files outside are reached with `--workspace DIR` only"),
        "doom_loop" | "lsp" | "skill" | "question" => left_out(collector, "this has no counterpart"),
        "bash" => collector.rule(line, effect, "bash", pattern),
        "read" => paths(collector, line, effect, &["=read"], pattern),
        "edit" => paths(collector, line, effect, &["edit", "=write", "apply_patch", "delete"], pattern),
        "webfetch" => match host(pattern) {
            Some(host) => collector.rule(line, effect, "webfetch", host),
            None => left_out(collector, "rules match hosts, not addresses with a path"),
        },
        _ if !matches!(pattern, "*" | "**") => left_out(collector, "only `*` can be taken for this tool"),
        "*" => collector.rule(line, effect, "*", "*"),
        name => match names::actions(name) {
            Some(actions) => actions.iter().for_each(|action| collector.rule(line, effect, action, "*")),
            None => collector.rule(line, effect, name, "*"),
        },
    }
}

/// The host of a pattern for addresses, where it says nothing about the path.
fn host(pattern: &str) -> Option<&str> {
    let rest = ["https://", "http://", "*://"]
        .iter()
        .find_map(|scheme| pattern.strip_prefix(scheme))
        .unwrap_or(pattern);
    let host = rest
        .strip_suffix("/*")
        .or_else(|| rest.strip_suffix('*').filter(|host| host.is_empty()))
        .unwrap_or(rest);
    match host {
        "" => Some("*"),
        host if host.contains(['/', ':']) => None,
        host => Some(host),
    }
}

fn paths(collector: &mut Collector<'_>, line: usize, effect: Effect, actions: &[&str], pattern: &str) {
    let pattern = match is_home(pattern) {
        true => match collector.expand_home(pattern) {
            Some(path) => path,
            None => {
                return collector.not_taken(
                    line,
                    Some(effect),
                    format!("`{pattern}`: the home is not known"),
                );
            }
        },
        false => pattern.to_owned(),
    };
    for action in actions {
        for path in path_patterns(&pattern) {
            collector.rule(line, effect, action, &path);
        }
    }
}

/// Patterns of ours that together match the same paths: there, `*` runs over `/` too, and a pattern holds from the root.
fn path_patterns(pattern: &str) -> Vec<String> {
    if matches!(pattern, "*" | "**") {
        return vec!["*".into()];
    }
    let mut stars = pattern.to_owned();
    while stars.contains("**") {
        stars = stars.replace("**", "*");
    }
    let escaped: String = stars
        .chars()
        .flat_map(|letter| {
            let escape = matches!(letter, '[' | ']' | '{' | '}' | '\\').then_some('\\');
            escape.into_iter().chain([letter])
        })
        .collect();
    let anchor = |text: &str| match text.starts_with('/') || text.starts_with("**/") {
        true => text.to_owned(),
        false => format!("/{text}"),
    };
    // The common forms stay readable; all others say both what a star is within a name and across folders.
    if let Some(name) = escaped.strip_prefix('*').filter(|rest| !rest.contains(['*', '/'])) {
        return vec![format!("**/*{name}")];
    }
    if let Some(folder) = escaped.strip_suffix("/*").filter(|folder| !folder.contains('*')) {
        return vec![anchor(&format!("{folder}/**"))];
    }
    vec![anchor(&escaped.replace('*', "{*,*/**/*}"))]
}
