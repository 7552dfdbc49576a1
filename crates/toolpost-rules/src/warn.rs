//! Rules that do nothing, said aloud: other systems accept them in silence.

use crate::resource::odd_resource;
use serde::Serialize;
use std::fmt;
use toolpost_core::Capability;
use toolpost_core::policy::{Action, Effect, Layer, Names, Origin, Policy, Rule};
use toolpost_core::text::{misspelling_of, nearest, wildcard};

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

/// What rules can be about.
pub struct RuleSubjects<'a> {
    /// The names of all tools.
    pub tools: &'a [&'a str],
    /// Whether another name may be that of a tool that comes later.
    pub may_come: &'a dyn Fn(&str) -> bool,
    /// The absolute path of the workspace, if it has one.
    pub root: Option<&'a str>,
}

/// What in the rules can never take effect.
pub fn warnings(policy: &Policy, subjects: &RuleSubjects<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let names = policy.names();
    for part in policy.parts() {
        let rules: Vec<&Rule> = Layer::ALL.into_iter().flat_map(|layer| part.rules(layer)).collect();
        for (index, rule) in rules.iter().enumerate() {
            let messages = [
                unknown_action(rule, subjects, names),
                odd_resource(rule, names, subjects.root).map(|odd| odd.message),
            ];
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

/// A rule that does nothing because of how it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misspelt {
    /// Where it stands, and what is wrong.
    pub warning: Warning,
    /// Whether it was to deny or to ask, and does not: without it, more is allowed than its author wants.
    pub narrows: bool,
    /// The name of a tool that it nearly has, if there is one.
    pub near: Option<String>,
}

/// Of the rules, those that were to deny or ask and that no call can match, or that seem to mean something else; and those
/// that were to allow and whose action is hardly anything but the misspelt name of a tool or capability. A subset of
/// [`warnings`] that costs little, for every start.
pub fn misspelt(policy: &Policy, subjects: &RuleSubjects<'_>) -> Vec<Misspelt> {
    let names = policy.names();
    let mut found: Vec<Misspelt> = Vec::new();
    for part in policy.parts() {
        for rule in Layer::ALL.into_iter().flat_map(|layer| part.rules(layer)) {
            let narrows = rule.effect() != Effect::Allow;
            let action = strange_action(rule, subjects, names, narrows);
            let resource = || odd_resource(rule, names, subjects.root).filter(|_| narrows);
            let (near, message, narrows) = match action {
                Some((near, message)) => (near, message, narrows),
                None => match resource() {
                    Some(odd) => (None, odd.message, odd.matches_nothing),
                    None => continue,
                },
            };
            let warning = Warning { origin: rule.origin().clone(), message };
            if !found.iter().any(|known| known.warning == warning) {
                found.push(Misspelt { warning, narrows, near });
            }
        }
    }
    found
}

/// Why no call can match the resource of a rule, if that is so.
pub fn useless_resource(rule: &Rule, names: &Names) -> Option<String> {
    odd_resource(rule, names, None).filter(|odd| odd.matches_nothing).map(|odd| odd.message)
}

/// What is wrong with an action that names no tool, and the tool that it nearly names. The name of an allow rule may be that
/// of a tool which an agent brings along, unless it is nearly another; a rule that narrows must not depend on that.
fn strange_action(
    rule: &Rule,
    subjects: &RuleSubjects<'_>,
    names: &Names,
    narrows: bool,
) -> Option<(Option<String>, String)> {
    const LONGER: usize = 2;
    let Action::Tool(name) = rule.action() else { return None };
    let tools = subjects.tools;
    let message = unknown_action(rule, subjects, names)?;
    let has_wildcard = wildcard::has_wildcard(name);
    let bare = name.trim_matches(['*', '?', '_']);
    let words = || Capability::ALL.iter().map(|capability| capability.as_str());
    let near = match has_wildcard {
        // A pattern is meant for what may come, unless the rest of it is nearly a word that is there.
        true => misspelling_of(bare, tools.iter().copied().chain(words())).map(str::to_owned),
        false => nearest_word(name, tools),
    };
    let is_near = near.as_ref().is_some_and(|near| name.len() <= near.len() + LONGER);
    match (has_wildcard, narrows) {
        (true, false) => None,
        (true, true) => near.map(|near| {
            let message = format!(
                "`{name}` matches no tool there is, so the rule `{rule}` does nothing; did you mean `{near}`"
            );
            (Some(near), message)
        }),
        (false, false) => is_near.then_some((near, message)),
        (false, true) if near.is_some() => Some((near, message)),
        (false, true) => Some((None, format!("{message}; for one that comes later, write `{name}*`"))),
    }
}

fn nearest_word(name: &str, tools: &[&str]) -> Option<String> {
    let words = Capability::ALL.iter().map(|capability| capability.as_str());
    nearest(name, tools.iter().copied().chain(words), 1).pop()
}

fn unknown_action(rule: &Rule, subjects: &RuleSubjects<'_>, names: &Names) -> Option<String> {
    let tools = subjects.tools;
    let Action::Tool(name) = rule.action() else { return None };
    if tools.iter().any(|tool| rule.action().names(tool, names)) {
        return None;
    }
    if (subjects.may_come)(name) {
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
