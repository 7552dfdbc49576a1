//! The JSON Schema of the file, for editors. Made from the same list that the reader follows.

use super::hosts::Host;
use super::key::{KEYS, Kind};
use serde_json::{Map, Value, json};
use toolpost_core::policy::Profile;
use toolpost_core::{Capability, Dialect};

/// The name of the schema beside a configuration.
pub(crate) const SCHEMA_FILE: &str = "config.schema.json";

/// The schema of a configuration.
pub(crate) fn schema() -> Value {
    let mut properties = Map::new();
    for key in &KEYS {
        let mut property = match key.kind {
            Kind::Profile => json!({"type": "string", "enum": Profile::ALL.map(Profile::as_str)}),
            Kind::Capabilities => {
                let words: Vec<&str> =
                    Capability::ALL.iter().map(|one| one.as_str()).chain(["execute"]).collect();
                json!({"type": "array", "maxItems": 20, "items": {"type": "string", "enum": words}})
            }
            Kind::Dialect => {
                let names: Vec<&str> = Dialect::all().iter().map(|dialect| dialect.name()).collect();
                json!({"type": "string", "enum": names})
            }
            Kind::Folder => json!({"type": "string", "minLength": 1}),
            Kind::Formatters => {
                json!({"type": "array", "maxItems": 200, "items": {"type": "string", "pattern": "^[^:]+:.*[^ ]"}})
            }
            Kind::Sandbox => json!({"type": "string", "enum": ["strict", "none"]}),
            Kind::Paths => {
                json!({"type": "array", "maxItems": 200, "items": {"type": "string", "pattern": "^(/|~/)"}})
            }
            Kind::Names => {
                json!({"type": "array", "maxItems": 200, "items": {"type": "string", "pattern": "^[^=]+$"}})
            }
            Kind::Servers => {
                json!({"type": "object", "maxProperties": 200, "additionalProperties": server()})
            }
            Kind::Hosts => {
                let names = Host::READ.map(Host::as_str);
                json!({"type": "array", "maxItems": 200, "items": {"type": "string", "enum": names}})
            }
            Kind::Listed => {
                let part = "[0-9]+ (tools?|tokens?)";
                json!({"type": "string", "pattern": format!("^(all|none|{part}(, *{part})?)$")})
            }
            Kind::Switch => json!({"type": "boolean"}),
            Kind::Time => json!({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(ms|s|m|h)?$"}),
        };
        property["description"] = key.about.into();
        properties.insert(key.name.to_owned(), property);
    }
    properties.insert("rule".to_owned(), rules());
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "toolpost configuration",
        "description": "~/.config/toolpost/config.toml, or .toolpost/config.toml of a project",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn server() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let pairs = |about: &str| json!({"type": "object", "additionalProperties": {"type": "string"}, "description": about});
    let time = |about: &str| json!({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(ms|s|m|h)?$", "description": about});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "type": {
                "type": "string",
                "enum": ["stdio", "http"],
                "description": "How it is reached; otherwise told from `command` or `url`.",
            },
            "command": text("The program to start."),
            "args": texts("Its arguments."),
            "env": pairs("Variables that it gets beside the few that every child gets."),
            "cwd": text("Its folder, from the root of the workspace; otherwise the root itself."),
            "url": text("The address of a server that is reached by streamable HTTP."),
            "headers": pairs("Headers of every request."),
            "timeout": time("How long one call may take."),
            "startTimeout": time("How long it may take from its start to its first list of tools."),
            "includeTools": texts("The tools that are wanted; otherwise all."),
            "excludeTools": texts("Tools that are not wanted; they win over those that are."),
            "enabled": {"type": "boolean", "description": "Whether it is used."},
            "hints": {
                "type": "string",
                "enum": ["believed", "ignored"],
                "description": "Whether what it says of its tools decides what they need; usual in your own file: believed. In a workspace's file they never are.",
            },
        },
    })
}

fn rules() -> Value {
    let examples = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    json!({
        "type": "array",
        "maxItems": 1000,
        "description": "Rules, looked at in order: the first of a file that matches speaks for it; a deny of any file wins.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["effect", "action"],
            "properties": {
                "effect": {
                    "type": "string",
                    "enum": ["allow", "ask", "deny"],
                    "description": "What is decided about what the rule matches.",
                },
                "action": {
                    "type": "string",
                    "minLength": 1,
                    "description": "A tool (`bash`, `mcp__*`), a capability (`read`, `write`, `exec`, `network`, `trace`) or `*`.",
                },
                "resource": {
                    "type": "string",
                    "description": "Paths (`/src/**`), commands (`cargo test *`) or hosts (`*.example.com`); `*`, or leaving it out, is everything.",
                },
                "match": examples("Examples that the rule must match, checked whenever the file is read."),
                "not_match": examples("Examples that the rule must not match, checked whenever the file is read."),
            },
        },
    })
}
