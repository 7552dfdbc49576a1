//! A server's tool as one of ours: its name, what the model can cause through it, what a person is told who is asked.

use crate::complaint::harmless;
use crate::listed::Listed;
use crate::names;
use crate::server::{Hints, Reach, Server};
use crate::upstream::Upstream;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::capability::Capabilities;
use toolpost_core::registry::Expected;
use toolpost_core::tool::{Annotations, DynamicTool};
use toolpost_core::{Access, Capability, Spec, dynamic};

/// The most that a caller may ask for, unless the server's own limit is larger.
const LONGEST_CALL: Duration = Duration::from_secs(600);

/// How long a server may take to answer that a call was given up.
const GRACE: Duration = Duration::from_millis(250);

/// The tool under its name here.
pub(crate) fn make(upstream: &Arc<Upstream>, listed: &Arc<Listed>, name: &str, version: &str) -> DynamicTool {
    let server = upstream.server();
    let version = semver::Version::parse(version).map_or_else(|_| "0.0.0".to_owned(), |one| one.to_string());
    let limit = server.call_limit();
    let mut spec = Spec::new(name, version, listed.description.as_str())
        .timeout(limit, limit.max(LONGEST_CALL))
        .grace(GRACE);
    spec.title = listed.title.clone();
    spec.required = capabilities(server.hints, listed);
    spec.rule_names = names::in_rules(name);
    if server.hints == Hints::Believed {
        let is_read_only = listed.hint("readOnlyHint") == Some(true);
        spec.facts.idempotent = is_read_only || listed.hint("idempotentHint") == Some(true);
        spec.facts.parallel_safe = is_read_only;
        // What is left unsaid is what MCP takes it for.
        spec.annotations = Some(Annotations {
            read_only: is_read_only,
            destructive: !is_read_only && listed.hint("destructiveHint") != Some(false),
            idempotent: spec.facts.idempotent,
            open_world: listed.hint("openWorldHint") != Some(false),
        });
    }
    let accesses = spec.required.iter().map(|capability| access(capability, server)).collect();
    let facts = facts(server, listed);
    let (upstream, called) = (Arc::clone(upstream), Arc::clone(listed));
    let tool = dynamic(spec, listed.input.clone(), move |ctx, arguments| {
        let (upstream, called) = (Arc::clone(&upstream), Arc::clone(&called));
        async move { upstream.call(ctx, &called, arguments).await }
    });
    let tool = tool.with_accesses(accesses).with_facts(facts);
    match &listed.output {
        Some(output) => tool.with_output_schema(output.clone()),
        None => tool,
    }
}

/// What the model can cause through a tool: anything, unless the user believes a server that says otherwise.
fn capabilities(hints: Hints, listed: &Listed) -> Capabilities {
    let anything = Capabilities::NONE.with(Capability::Exec).with(Capability::Network);
    match (hints, listed.hint("readOnlyHint"), listed.hint("openWorldHint")) {
        // What a server leaves unsaid is the worse of the two: it reaches out unless it says that it does not.
        (Hints::Believed, Some(true), Some(false)) => Capabilities::NONE.with(Capability::Read),
        (Hints::Believed, Some(true), _) => {
            Capabilities::NONE.with(Capability::Read).with(Capability::Network)
        }
        _ => anything,
    }
}

/// What a tool of a server could turn out to be, the most powerful first. `tool` is its own name, or `*` for any.
pub(crate) fn expected(upstream: &Upstream, tool: &str) -> Vec<Expected> {
    let server = upstream.server();
    let name = match tool {
        "*" => format!("mcp__{}__*", upstream.part()),
        tool => names::canonical(upstream.part(), tool),
    };
    let read = Capabilities::NONE.with(Capability::Read);
    let anything = Capabilities::NONE.with(Capability::Exec).with(Capability::Network);
    let possible = match server.hints {
        Hints::Ignored => vec![anything],
        Hints::Believed => vec![anything, read.with(Capability::Network), read],
    };
    let facts = vec![
        format!(
            "tool `{}` of the MCP server `{}`, {}",
            harmless(tool),
            harmless(&server.name),
            place(server)
        ),
        "the server has not been started yet: a yes starts it".to_owned(),
    ];
    let one = |required: Capabilities| {
        let mut spec = Spec::new(&name, "0.0.0", "A tool of a server that has not been started.");
        spec.required = required;
        spec.rule_names = names::in_rules(&name);
        let accesses = required.iter().map(|capability| access(capability, server)).collect();
        Expected { spec, accesses, facts: facts.clone() }
    };
    possible.into_iter().map(one).collect()
}

fn access(capability: Capability, server: &Server) -> Access {
    match (capability, &server.reach) {
        (Capability::Network, Reach::Http { url, .. }) => match host(url) {
            Some(host) => Access::host(host),
            None => Access::any(capability),
        },
        _ => Access::any(capability),
    }
}

/// The host of an address.
pub(crate) fn host(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}

fn place(server: &Server) -> String {
    match &server.reach {
        Reach::Stdio { command, .. } => format!("a program that is not confined (`{}`)", harmless(command)),
        Reach::Http { url, .. } => format!("at {}", harmless(host(url).unwrap_or(url))),
    }
}

fn facts(server: &Server, listed: &Listed) -> Vec<String> {
    let place = place(server);
    let said = match (listed.hint("readOnlyHint"), listed.hint("destructiveHint")) {
        (Some(true), _) => "that it changes nothing",
        (_, Some(true)) => "that it may destroy something",
        (_, Some(false)) => "that it changes something, and destroys nothing",
        (_, None) => "nothing",
    };
    vec![
        format!("tool `{}` of the MCP server `{}`, {place}", harmless(&listed.name), harmless(&server.name)),
        format!("the server says of it: {said}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(hints: Hints, annotations: serde_json::Value, expected: &str) {
        let listed = Listed {
            name: "t".to_owned(),
            title: None,
            description: String::new(),
            input: json!({"type": "object"}),
            output: None,
            annotations: annotations.as_object().cloned().unwrap_or_default(),
        };
        assert_eq!(capabilities(hints, &listed).to_string(), expected, "{hints:?} {annotations}");
    }

    #[test]
    fn hints_are_worth_what_the_user_says() {
        for annotations in [json!({}), json!({"readOnlyHint": true}), json!({"destructiveHint": false})] {
            check(Hints::Ignored, annotations, "exec, network");
        }
        check(Hints::Believed, json!({"readOnlyHint": true}), "read, network");
        check(Hints::Believed, json!({"readOnlyHint": true, "openWorldHint": false}), "read");
        check(Hints::Believed, json!({"readOnlyHint": true, "openWorldHint": true}), "read, network");
        check(Hints::Believed, json!({"readOnlyHint": "yes"}), "exec, network");
        check(Hints::Believed, json!({"destructiveHint": false}), "exec, network");
        check(Hints::Believed, json!({}), "exec, network");
    }

    #[test]
    fn hosts_are_found_in_addresses() {
        for (url, expected) in [
            ("https://api.x.test/mcp", Some("api.x.test")),
            ("http://user:pw@x.test:80?a", Some("x.test")),
            ("http://[::1]:7300/mcp", Some("::1")),
            ("nonsense", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
