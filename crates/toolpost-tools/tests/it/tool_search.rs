//! `tool_search`: what is held back is found, by what it does.

use crate::fixed::Fixed as Executor;
use crate::run;
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::registry::Shelves;
use toolpost_core::{Context, Outcome, Output, Policy, Registry, Spec, dynamic};
use toolpost_tools::meta::ToolSearch;

/// A registry in which all of these are held back.
fn executor(tools: &[(&str, &str)], policy: Policy) -> Executor {
    let registry = Arc::new(Registry::new());
    registry.register(ToolSearch).unwrap();
    for (name, about) in tools {
        let schema = json!({"type": "object", "properties": {"repository": {"type": "string"}}});
        let mut spec = Spec::new(*name, "1.0.0", *about);
        if name.contains("delete") {
            spec = spec.requires(toolpost_core::Capability::Exec);
        }
        registry
            .register(dynamic(spec, schema, |_, _| async { Ok(Output::new("", "done", Value::Null)) }))
            .unwrap();
    }
    let names = tools.iter().map(|(name, _)| ((*name).to_owned(), 1)).collect();
    registry
        .change(|draft| {
            draft.arrange("test", Vec::new(), Shelves { groups: vec![names], most_tools: 0, most_tokens: 0 });
            Ok(())
        })
        .unwrap();
    Executor::new(registry, policy)
}

const TOOLS: [(&str, &str); 4] = [
    ("mcp__gh__list_issues", "Lists the issues of a repository."),
    ("mcp__gh__create_issue", "Opens an issue."),
    ("mcp__mail__send", "Sends a message to somebody."),
    ("mcp__gh__delete_repo", "Deletes a repository."),
];

fn search(executor: &Executor, query: &str) -> Outcome {
    run(executor.call(&Context::in_memory(), "tool_search", json!({"query": query})))
}

fn check(query: &str, expected: &[&str]) {
    let outcome = search(&executor(&TOOLS, Policy::default()), query);
    let data = outcome.result.unwrap().data;
    let names: Vec<&str> =
        data["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, expected, "{query}");
    assert_eq!(data["heldBack"], 3, "what the policy does not offer is not shown");
}

#[test]
fn tools_are_found_by_name_description_and_arguments() {
    check("list issues", &["mcp__gh__list_issues", "mcp__gh__create_issue"]);
    check("ISSUE", &["mcp__gh__create_issue", "mcp__gh__list_issues"]);
    check("somebody", &["mcp__mail__send"]);
    check("mcp__mail__send", &["mcp__mail__send"]);
    check("weather", &[]);
    check("delete", &[]);
}

#[test]
fn declarations_are_whole_and_what_is_found_can_be_called() {
    let executor = executor(&TOOLS, Policy::default());
    let output = search(&executor, "send message").result.unwrap();
    let declaration: Value = serde_json::from_str(output.text.lines().next().unwrap()).unwrap();
    assert_eq!(declaration["inputSchema"]["properties"]["repository"]["type"], "string");
    assert_eq!(declaration["description"], "Sends a message to somebody.");
    let called = run(executor.call(&Context::in_memory(), "mcp__mail__send", json!({})));
    assert_eq!(called.to_text(), "done");
}

#[test]
fn it_says_when_there_is_nothing_or_too_much() {
    let none = search(&executor(&[], Policy::default()), "x").to_text();
    assert!(none.contains("your list has all of them"), "{none}");
    let text = search(&executor(&TOOLS, Policy::default()), "weather").to_text();
    assert!(text.contains("None of the 3 hidden tools"), "{text}");
    let names: Vec<String> = (0..50).map(|number| format!("mcp__many__tool_{number}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "One of many.")).collect();
    let text = search(&executor(&many, Policy::default()), "tool").to_text();
    assert!(text.ends_with("[42 more match; be more specific to see them]"), "{text}");
}

#[test]
fn it_is_listed_only_where_something_is_held_back() {
    let refused = [TOOLS[3]];
    for (tools, expected) in [(&TOOLS[..], vec!["tool_search"]), (&refused, vec![]), (&[], vec![])] {
        let executor = executor(tools, Policy::default());
        let listing = executor.listing(&Context::in_memory());
        let listed: Vec<&str> = listing.listed.iter().map(|entry| entry.name()).collect();
        assert_eq!(listed, expected);
    }
}
