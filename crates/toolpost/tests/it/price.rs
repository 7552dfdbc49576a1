//! What the list of tools costs a model, by a real tokenizer, and whether `tools lint` estimates it well.

use crate::Home;
use crate::installed::{Wanted, node, npm};
use crate::mcp::Caller;
use serde_json::{Value, json};
use std::process::Command;
use toolpost_core::text::tokens;

/// It carries the vocabulary of o200k inside; others fetch it.
const TOKENIZER: Wanted = Wanted { folder: "tokenizer", packages: &["gpt-tokenizer@4.0.0"] };

/// What all that are listed may cost together.
const MOST: u64 = 4_000;

/// The tokens of o200k in the list of all default tools, and the estimate.
fn check(dialect: &str, model: &str) {
    let home = Home::new();
    home.write("config.toml", model);
    let config = home.path("config.toml");
    let flags = ["--policy", "privileged", "--dialect", dialect, "--config", config.to_str().unwrap()];
    // What a host is sent over MCP, of which it passes these three on to its model.
    let listed = Caller::new(&home, &flags).declarations();
    for tool in ["capture_screenshot", "analyze_image_ui_qa"] {
        let is_listed = listed.iter().any(|listed| listed["name"] == tool);
        assert_eq!(is_listed, !model.is_empty(), "{dialect}: {tool}");
    }
    let declarations: Vec<Value> = listed
        .iter()
        .map(|tool| {
            json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
        })
        .collect();
    assert!(declarations.len() >= 8, "{declarations:?}");
    let sent = declarations.iter().map(|tool| tokens(&tool.to_string()) as u64).sum::<u64>();
    home.write("list.json", Value::from(declarations).to_string());
    std::os::unix::fs::symlink(npm(&TOKENIZER).join("node_modules"), home.path("node_modules")).unwrap();
    home.write(
        "count.mjs",
        "import { readFileSync } from 'node:fs';
         import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
         console.log(countTokens(readFileSync('list.json', 'utf8')));",
    );
    let counted = Command::new(node()).arg("count.mjs").current_dir(home.path("")).output().unwrap();
    assert!(counted.status.success(), "{}", String::from_utf8_lossy(&counted.stderr));
    let counted: u64 = String::from_utf8_lossy(&counted.stdout).trim().parse().unwrap();

    let (_, lint) = home.json(&[&["tools", "lint"][..], &flags].concat());
    let estimate = lint["totalTokens"].as_u64().unwrap();
    assert_eq!(estimate, sent, "{dialect}: `tools lint` counts something other than what MCP sends");
    println!("{dialect} {model:?}: {counted} tokens of o200k, estimated {estimate}");
    assert!(counted < MOST, "{dialect}: {counted} tokens");
    assert!(
        estimate.abs_diff(counted) * 10 <= counted,
        "{dialect}: {estimate} is not within 10 % of {counted}"
    );
}

#[test]
fn the_default_tools_are_cheap_and_the_estimate_is_right() {
    for dialect in ["toolpost", "long", "claude", "gemini", "codex"] {
        check(dialect, "");
    }
}

/// A model that sees and searches adds `websearch`, `capture_screenshot` and `analyze_image_ui_qa`.
#[test]
fn the_tools_of_a_model_that_sees_are_cheap_too() {
    for dialect in ["toolpost", "long", "claude", "gemini", "codex"] {
        check(dialect, "model = \"gemini/gemini-2.5-flash\"\n");
    }
}
