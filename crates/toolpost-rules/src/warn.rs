//! Rules that do nothing, said aloud: other systems accept them in silence.

use serde::Serialize;
use std::fmt;
use toolpost_core::Capability;
use toolpost_core::policy::{Action, Effect, Layer, Names, Origin, Policy, Rule};
use toolpost_core::text::{nearest, wildcard};

/// Something that its author hardly meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Where the rule stands.
    pub origin: Origin,
    /// What is odd, and what to do.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}

/// Pairs of rules are compared up to here; larger policies are only checked rule by rule.
const MOST_COMPARED: usize = 1_000;

/// What in the rules can never take effect; `tools` are the names that exist, and `may_come` says of another name that a
/// tool of it may come later.
pub fn warnings(policy: &Policy, tools: &[&str], may_come: impl Fn(&str) -> bool) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let names = policy.names();
    for part in policy.parts() {
        let rules: Vec<&Rule> = Layer::ALL.into_iter().flat_map(|layer| part.rules(layer)).collect();
        for (index, rule) in rules.iter().enumerate() {
            let messages = [unknown_action(rule, tools, &may_come, names), odd_resource(rule, names)];
            let compared = match rules.len() <= MOST_COMPARED {
                true => overruled(&part, &rules, index, names),
                false => None,
            };
            for message in messages.into_iter().flatten().chain(compared) {
                let warning = Warning { origin: rule.origin().clone(), message };
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
    }
    warnings
}

/// Of the rules, those whose action is hardly anything but the misspelt name of a tool or capability. A subset of
/// [`warnings`] that costs little, for every start. A longer name may be that of a tool which an agent brings along.
pub fn misspelt(policy: &Policy, tools: &[&str], may_come: impl Fn(&str) -> bool) -> Vec<Warning> {
    const LONGER: usize = 2;
    let names = policy.names();
    let mut warnings = Vec::new();
    for rule in policy.parts().flat_map(|part| {
        Layer::ALL
            .into_iter()
            .flat_map(|layer| part.rules(layer).cloned().collect::<Vec<_>>())
            .collect::<Vec<_>>()
    }) {
        let Action::Tool(name) = rule.action() else { continue };
        let is_near = |near: String| name.len() <= near.len() + LONGER;
        if wildcard::has_wildcard(name) || !nearest_word(name, tools).is_some_and(is_near) {
            continue;
        }
        let message = unknown_action(&rule, tools, &may_come, names);
        let warning = message.map(|message| Warning { origin: rule.origin().clone(), message });
        warnings.extend(warning.filter(|warning| !warnings.contains(warning)));
    }
    warnings
}

fn nearest_word(name: &str, tools: &[&str]) -> Option<String> {
    let words = Capability::ALL.iter().map(|capability| capability.as_str());
    nearest(name, tools.iter().copied().chain(words), 1).pop()
}

fn unknown_action(
    rule: &Rule,
    tools: &[&str],
    may_come: &dyn Fn(&str) -> bool,
    names: &Names,
) -> Option<String> {
    let Action::Tool(name) = rule.action() else { return None };
    if tools.iter().any(|tool| rule.action().names(tool, names)) {
        return None;
    }
    if may_come(name) {
        return None;
    }
    if wildcard::has_wildcard(name) {
        return Some(format!("the rule `{rule}` matches no tool there is now; `toolpost tools` lists them"));
    }
    let advice = match nearest_word(name, tools) {
        Some(near) => format!("did you mean `{near}`"),
        None => "`toolpost tools` lists the tools".to_owned(),
    };
    Some(format!("`{name}` is neither a tool nor a capability, so the rule `{rule}` does nothing; {advice}"))
}

fn odd_resource(rule: &Rule, names: &Names) -> Option<String> {
    let text = rule.resource().as_str();
    let kinds = names.kinds(rule.action());
    if rule.resource().is_everything() || rule.is_protected() {
        return None;
    }
    if kinds.command && !kinds.path && (text.contains("**") || text.ends_with('/')) {
        return Some(format!(
            "`{text}` looks like a path, but `{}` rules match command lines; write a command such as `cargo test *`, \
             or use the actions read and write for paths",
            rule.action()
        ));
    }
    if kinds.host && !kinds.path && text.contains('/') {
        return Some(format!(
            "`{text}` has a `/`, but `{}` rules match host names only; write the host, such as `*.example.com`",
            rule.action()
        ));
    }
    if !kinds.path || kinds.command {
        return None;
    }
    let mut parts = text.trim_start_matches("./").trim_start_matches('/').split('/');
    if parts.clone().any(|part| part == "." || part == "..") {
        return Some(format!(
            "`{text}` has a `.` or `..` part, which no path has when it is judged; write it without"
        ));
    }
    if text.starts_with('~') {
        return Some(format!(
            "`{text}` begins with `~`, which is not expanded; write `//` and the absolute path"
        ));
    }
    let system = ["etc", "usr", "home", "root", "var", "tmp", "opt", "proc", "Users", "private"];
    let first = parts.next().unwrap_or_default();
    if text.starts_with('/') && !text.starts_with("//") && system.contains(&first) {
        return Some(format!(
            "`{text}` means the folder `{first}` of the workspace; write `/{text}` for the absolute path"
        ));
    }
    None
}

/// Why the rule at `index` never decides, if another stands in its way.
fn overruled(part: &Policy, rules: &[&Rule], index: usize, names: &Names) -> Option<String> {
    let rule = rules[index];
    let layer = rule.origin().layer;
    let earlier = &rules[..index];
    let said = |other: &Rule| format!("`{other}` ({} at {})", other.effect(), other.origin());
    if let Some(other) =
        earlier.iter().find(|other| other.origin().layer == layer && other.covers(rule, names))
    {
        return Some(format!(
            "the rule `{rule}` is never reached: {} before it covers it; remove it or move it up",
            said(other)
        ));
    }
    if rule.effect() == Effect::Deny {
        return None;
    }
    let denies = |other: &&Rule| {
        other.effect() == Effect::Deny && other.covers(rule, names) && is_first_for(part, other)
    };
    if let Some(other) = rules.iter().find(|other| other.origin().layer != layer && denies(other)) {
        return Some(format!(
            "the {layer} rule `{rule}` never takes effect: {} denies all of it; remove one of the two",
            said(other)
        ));
    }
    let stronger = earlier.iter().find(|other| {
        other.origin().layer < layer && other.covers(rule, names) && is_first_for(part, other)
    })?;
    Some(format!("the {layer} rule `{rule}` never decides: {} is stronger and covers it", said(stronger)))
}

/// Whether no earlier rule of its layer could take some of what the rule covers.
fn is_first_for(part: &Policy, rule: &Rule) -> bool {
    let layer: Layer = rule.origin().layer;
    part.rules(layer).next().is_some_and(|first| std::ptr::eq(first, rule))
        || part
            .rules(layer)
            .take_while(|other| !std::ptr::eq(*other, rule))
            .all(|other| other.effect() >= rule.effect())
}
