//! The official conformance suite against our client. The suite serves, and starts this test program in the role of a
//! client that calls what the suite wants to be called, or else every tool it finds.

use super::{address, run, runtime, text};
use crate::Home;
use crate::installed::{Wanted, node, npm};
use serde_json::{Map, Value, json};
use std::process::Command;
use std::time::Duration;
use toolpost::Runtime;
use toolpost_core::registry::Entry;

const SUITE: Wanted =
    Wanted { folder: "conformance", packages: &["@modelcontextprotocol/conformance@0.2.0-alpha.12"] };

/// All of the suite's scenarios for clients but those of authorization and of extensions, which we do not have.
const SCENARIOS: [&str; 11] = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
];

/// How the role of the client is asked for; the address follows.
const ROLE: &str = "toolpost-conformance-client";

#[test]
fn the_official_suite_finds_nothing_wrong_with_our_client() {
    let folder = npm(&SUITE);
    let client = format!("{} {ROLE}", std::env::current_exe().unwrap().display());
    let home = Home::new();
    let mut passed = 0;
    for scenario in SCENARIOS {
        let output = Command::new(node())
            .arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
            .args(["client", "--scenario", scenario, "--command", &client])
            .current_dir(home.path(""))
            .output()
            .unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.contains("OVERALL: PASSED"), "{scenario}: {said}");
        let count =
            said.split("Passed: ").nth(1).and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
        passed += count.unwrap_or_else(|| panic!("{scenario}: no count in {said}"));
    }
    println!("{} scenarios, {passed} checks passed", SCENARIOS.len());
    assert!(passed > 50, "only {passed} checks ran");
}

/// Takes the role of the client, if this process was started for it. Does not return then.
pub(crate) fn run_if_asked() {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() != Some(ROLE) {
        return;
    }
    let home = Home::new();
    let servers = vec![address("suite", words.next().unwrap(), &[])];
    run(async {
        let runtime = runtime(&home, &["--policy", "privileged"], true, servers);
        let failed = runtime.context.tools().sources()[0].all_ready().await;
        println!("failed: {failed:?}, notes: {:?}", runtime.plugins.as_ref().unwrap().notes());
        for (tool, arguments) in calls(&runtime) {
            println!("{tool} {arguments}: {}", text(&runtime, &tool, arguments.clone()).await);
        }
        // What is told aside has time to arrive.
        tokio::time::sleep(Duration::from_millis(300)).await;
        runtime.plugins.as_ref().unwrap().shutdown().await;
    });
    drop(home);
    std::process::exit(0);
}

fn calls(runtime: &Runtime) -> Vec<(String, Value)> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    if let Some(calls) = context["toolCalls"].as_array() {
        let call =
            |call: &Value| (format!("suite/{}", call["name"].as_str().unwrap()), call["arguments"].clone());
        return calls.iter().map(call).collect();
    }
    let registry = runtime.context.tools();
    let input = |entry: &Entry| entry.prepared().unwrap().definition.input.clone();
    let mut calls = Vec::new();
    for entry in registry.all().iter().filter(|entry| entry.name().starts_with("mcp__suite__")) {
        let mut arguments = arguments(&input(entry));
        if entry.name().ends_with("json_schema_echo") {
            // The suite wants to see what has become of the schema of its other tool.
            arguments["schema"] = input(&registry.get("mcp__suite__json_schema_2020_12_tool").unwrap());
        }
        calls.push((entry.name().to_owned(), arguments));
    }
    calls
}

/// Some arguments that fit a simple schema.
fn arguments(schema: &Value) -> Value {
    let mut arguments = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(5),
            Some("boolean") => json!(true),
            Some("string") => json!("text"),
            _ => continue,
        };
        arguments.insert(name.clone(), value);
    }
    Value::Object(arguments)
}
