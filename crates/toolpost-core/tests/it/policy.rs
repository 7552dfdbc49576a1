//! The policy engine: decisions, properties, files and imports.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "what the tests share is test code too")]

mod commands;
mod decisions;
mod files;
mod properties;

use std::sync::{Arc, LazyLock};
use toolpost_core::access::ResourceKind;
use toolpost_core::dialect::Dialects;
use toolpost_core::policy::{Effect, Layer, Names, Origin, Policy, Profile, Request, Rule};
use toolpost_core::tool::RuleNames;
use toolpost_core::{Access, Capability, Spec};

/// What the names in these tests mean: tools for files, commands and hosts, and tools of servers.
static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let about = |kind: ResourceKind| move |name: &str| Spec::new(name, "1.0.0", "").about(kind);
    let served = |name: &str| {
        let (server, tool) = name.split_once("__").unwrap();
        let group = format!("mcp__{server}");
        let spellings =
            vec![format!("mcp_{server}_{tool}"), format!("{server}_{tool}"), format!("{server}/{tool}")];
        Spec::new(format!("{group}__{tool}"), "1.0.0", "").rule_names(RuleNames { group, spellings })
    };
    let files = ["read", "write", "edit", "apply_patch", "delete", "list", "glob", "grep"];
    let tools: Vec<Spec> = files
        .into_iter()
        .map(about(ResourceKind::Path))
        .chain(["bash", "bash_output"].into_iter().map(about(ResourceKind::Command)))
        .chain(["webfetch"].into_iter().map(about(ResourceKind::Host)))
        .chain(["gh__list", "gh__drop", "mymcp__x", "x__y"].into_iter().map(served))
        .collect();
    Names::new(Arc::new(Dialects::default()), &tools)
});

/// How many cases to run: the normal count, or the soak count with `TOOLPOST_SOAK=1`.
fn count(normal: u32, soak: u32) -> u32 {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch, not configuration of the product")]
    let is_soak = std::env::var("TOOLPOST_SOAK").is_ok_and(|value| value == "1");
    if is_soak { soak } else { normal }
}

/// A policy written in words: `standard +exec ?network; user allow bash: cargo *; project deny write: src/**`.
fn policy(text: &str) -> Policy {
    let mut parts = text.split(';').map(str::trim);
    let mut words = parts.next().unwrap().split_whitespace();
    let mut policy = Policy::profile(words.next().unwrap().parse::<Profile>().unwrap());
    for word in words {
        policy = match word.split_at(1) {
            ("+", capability) => policy.allow(capability.parse::<Capability>().unwrap()),
            ("?", capability) => policy.ask(capability.parse::<Capability>().unwrap()),
            _ => panic!("{word}"),
        };
    }
    for (index, text) in parts.filter(|text| !text.is_empty()).enumerate() {
        let (layer, rest) = text.split_once(' ').unwrap();
        let (effect, short) = rest.split_once(' ').unwrap();
        let layer: Layer = layer.parse().unwrap();
        let origin = Origin::new(layer, format!("{layer}.toml"), index + 1);
        let rule = Rule::parse_short(effect.parse::<Effect>().unwrap(), short, origin).unwrap();
        policy = policy.with_rules(layer, vec![rule]);
    }
    policy.with_names(&NAMES)
}

/// Accesses written in words: `exec cargo test; write src/a.rs; network example.com; read *`.
fn accesses(text: &str) -> Vec<Access> {
    text.split(';').map(str::trim).filter(|text| !text.is_empty()).map(access).collect()
}

fn access(text: &str) -> Access {
    let (action, resource) = text.split_once(' ').unwrap();
    let action: Capability = action.parse().unwrap();
    match (action, resource) {
        (action, "*") => Access::any(action),
        (Capability::Exec, command) => Access::command(command),
        (Capability::Network, host) => Access::host(host),
        (action, path) => Access::path(action, path),
    }
}

fn effect(policy: &Policy, tool: &str, calls: &[Access]) -> Effect {
    policy.decide(&Request { tool, accesses: calls }).effect()
}
