//! A policy as text that reads back to one that decides alike.

use std::fmt::{self, Write};
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{Layer, Policy, Rule};

/// The policy in TOML; [`policy_from_toml`](crate::policy_from_toml) reads it back. Where each rule stood is kept as a
/// comment.
pub fn policy_to_toml(policy: &Policy) -> String {
    let mut text = String::new();
    let parts: Vec<Policy> = policy.parts().collect();
    match parts.as_slice() {
        [part] => write_part(&mut text, part, ""),
        parts => {
            for part in parts {
                text.push_str("[[policy]]\n");
                write_part(&mut text, part, "policy.");
            }
        }
    }
    text
}

/// The rules as `[[rule]]` tables of a file, in order.
pub fn rules_to_toml(rules: &[Rule]) -> String {
    let mut text = String::new();
    for rule in rules {
        write_rule(&mut text, rule, None, "");
    }
    text
}

fn write_part(text: &mut String, part: &Policy, prefix: &str) {
    text.push_str(&format!("granted = {}\naskable = {}\n", words(part.granted()), words(part.askable())));
    for layer in Layer::ALL {
        for rule in part.rules(layer) {
            write_rule(text, rule, Some(layer), prefix);
        }
    }
    text.push('\n');
}

fn write_rule(text: &mut String, rule: &Rule, layer: Option<Layer>, prefix: &str) {
    let origin = rule.origin().to_string().replace(|letter: char| letter.is_control(), " ");
    let mut put = |line: fmt::Arguments<'_>| {
        // Writing to a `String` cannot fail.
        let _ = text.write_fmt(line);
    };
    put(format_args!("\n[[{prefix}rule]] # {origin}\n"));
    if let Some(layer) = layer {
        put(format_args!("layer = \"{layer}\"\n"));
    }
    put(format_args!("effect = \"{}\"\n", rule.effect()));
    put(format_args!("action = {}\n", quoted(&rule.action().to_string())));
    put(format_args!("resource = {}\n", quoted(rule.resource().as_str())));
    for (name, examples) in [("match", rule.matching()), ("not_match", rule.not_matching())] {
        if !examples.is_empty() {
            let list: Vec<String> = examples.iter().map(|example| quoted(example)).collect();
            put(format_args!("{name} = [{}]\n", list.join(", ")));
        }
    }
}

fn words(set: Capabilities) -> String {
    let words: Vec<String> = set.iter().map(|capability| format!("\"{capability}\"")).collect();
    format!("[{}]", words.join(", "))
}

/// The text as a TOML string: in single quotes where it can be, so that backslashes stay readable.
fn quoted(text: &str) -> String {
    if !text.contains('\'') && !text.chars().any(char::is_control) {
        return format!("'{text}'");
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(letter))),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
