//! Codex: `prefix_rule(…)` calls of `.rules` files, and what `config.toml` says about approval and sandbox.
//!
//! There the strictest match decides, so our rules come as forbidden, prompt, allow.

use super::starlark::{self, Argument, Call};
use super::{Collector, Imported, ImportedCapabilities, Target};
use toolpost_core::Capability;
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::Profile;
use toolpost_core::policy::Rule;
use toolpost_core::policy::{Effect, Origin};
use toolpost_core::text::{Errors, Source};

/// Alternatives in a pattern multiply; more than this are not taken.
const MOST_PATTERNS: usize = 256;

/// Reads the text of a `.rules` file.
pub fn import_rules(source: &Source<'_>, target: Target<'_>) -> Imported {
    let mut collector = Collector::new(source, target);
    for call in starlark::calls(source) {
        match call {
            Ok(call) if call.name == "prefix_rule" => prefix_rule(&mut collector, &call),
            Ok(call) => {
                collector.not_taken(
                    call.line,
                    None,
                    format!("`{}` is not understood, only `prefix_rule`", call.name),
                );
            }
            Err((line, reason)) => collector.not_taken(line, None, reason),
        }
    }
    collector.imported.rules.sort_by_key(|rule| std::cmp::Reverse(rule.effect()));
    collector.finish()
}

fn prefix_rule(collector: &mut Collector<'_>, call: &Call) {
    let line = call.line;
    let effect = match call.get("decision") {
        None => Effect::Allow,
        Some(Argument::Text(text)) => match text.as_str() {
            "allow" => Effect::Allow,
            "prompt" => Effect::Ask,
            "forbidden" => Effect::Deny,
            other => return collector.not_taken(line, None, format!("no decision `{other}` is known")),
        },
        Some(Argument::List(_)) => return collector.not_taken(line, None, "the decision is not a string"),
    };
    let Some(Argument::List(parts)) = call.get("pattern") else {
        return collector.not_taken(line, Some(effect), "the rule has no `pattern` list");
    };
    let mut patterns = vec![String::new()];
    for part in parts {
        let Some(words) = words(part) else {
            return collector.not_taken(
                line,
                Some(effect),
                "a part of the pattern has spaces or is not a string",
            );
        };
        let join = |pattern: &String, word: &String| match pattern.is_empty() {
            true => word.clone(),
            false => format!("{pattern} {word}"),
        };
        patterns =
            patterns.iter().flat_map(|pattern| words.iter().map(move |word| join(pattern, word))).collect();
        if patterns.len() > MOST_PATTERNS {
            return collector.not_taken(line, Some(effect), "the pattern has too many alternatives");
        }
    }
    if parts.is_empty() || patterns.iter().any(String::is_empty) {
        return collector.not_taken(line, Some(effect), "the pattern is empty");
    }
    let [matching, not_matching] = ["match", "not_match"].map(|key| examples(call.get(key)));
    for pattern in patterns {
        collector.found += 1;
        let origin = Origin::new(collector.target.layer, collector.file.clone(), line);
        let rule = Rule::new(effect, "bash", &format!("{pattern} *"), origin).map(|rule| {
            // With alternatives, an example belongs to one of several rules of ours.
            let own =
                matching.iter().filter(|example| rule.resource().matches_command(example)).cloned().collect();
            rule.clone().with_examples(own, not_matching.clone(), toolpost_tools::names()).unwrap_or(rule)
        });
        match rule {
            Ok(rule) => collector.imported.rules.push(rule),
            Err(error) => collector.not_taken(line, Some(effect), error),
        }
    }
}

/// The words that one part of a pattern stands for, their own wildcards taken as they are.
fn words(part: &Argument) -> Option<Vec<String>> {
    let word = |argument: &Argument| match argument {
        Argument::Text(text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
            Some(text.replace('\\', "\\\\").replace('*', "\\*").replace('?', "\\?"))
        }
        _ => None,
    };
    match part {
        Argument::Text(_) => word(part).map(|word| vec![word]),
        Argument::List(items) if !items.is_empty() => items.iter().map(word).collect(),
        Argument::List(_) => None,
    }
}

/// Examples: command lines, or lists of words.
fn examples(argument: Option<&Argument>) -> Vec<String> {
    let Some(Argument::List(items)) = argument else { return Vec::new() };
    let line = |item: &Argument| match item {
        Argument::Text(text) => text.clone(),
        Argument::List(words) => {
            let words: Vec<&str> = words
                .iter()
                .filter_map(|word| if let Argument::Text(text) = word { Some(text.as_str()) } else { None })
                .collect();
            words.join(" ")
        }
    };
    items.iter().map(line).collect()
}

/// Reads the text of `config.toml`: capabilities, no rules.
///
/// The sandbox becomes what is granted; running commands is asked for even where Codex runs them in its sandbox, unless
/// that is off.
pub fn import_config(source: &Source<'_>, target: Target<'_>) -> Result<Imported, Errors> {
    let table = toolpost_core::text::parse_toml(source)?;
    let table = table.get_ref();
    let mut collector = Collector::new(source, target);
    let text =
        |key: &str| table.get(key).map(|value| (source.line(value.span().start), value.get_ref().as_str()));
    let granted = match text("sandbox_mode") {
        None => None,
        Some((_, Some("read-only"))) => Some(Profile::ReadOnly.capabilities()),
        Some((_, Some("workspace-write"))) => Some(Profile::Standard.capabilities()),
        Some((_, Some("danger-full-access"))) => Some(Profile::Privileged.capabilities()),
        Some((line, _)) => {
            collector.not_taken(line, None, "no such `sandbox_mode` is known");
            None
        }
    };
    let may_ask = match text("approval_policy") {
        None => None,
        Some((_, Some("on-request" | "on-failure" | "untrusted"))) => Some(true),
        Some((_, Some("never"))) => Some(false),
        Some((line, _)) => {
            collector.not_taken(line, None, "this `approval_policy` has no counterpart; asking is assumed");
            Some(true)
        }
    };
    if let Some(more) = table.get("sandbox_workspace_write") {
        let reason = "`sandbox_workspace_write` is not a rule; see `--allow network` and `--workspace DIR`";
        collector.not_taken(source.line(more.span().start), None, reason);
    }
    if granted.is_some() || may_ask.is_some() {
        let granted = granted.unwrap_or_else(|| Profile::ReadOnly.capabilities());
        let all: Capabilities = Capability::ALL.into_iter().collect();
        let askable = if may_ask.unwrap_or(true) { all.difference(granted) } else { Capabilities::NONE };
        collector.imported.capabilities = Some(ImportedCapabilities { granted, askable });
    }
    Ok(collector.finish())
}
