//! What the list of tools costs a model, by a real tokenizer, and whether `tools lint` estimates it well.

use crate::Home;
use crate::installed::{Wanted, node, npm};
use serde_json::{Value, json};
use std::process::Command;

/// It carries the vocabulary of o200k inside; others fetch it.
const TOKENIZER: Wanted = Wanted { folder: "tokenizer", packages: &["gpt-tokenizer@4.0.0"] };

/// What all that are listed may cost together.
const MOST: u64 = 4_000;

/// The tokens of o200k in the list of all default tools, and the estimate.
fn check(dialect: &str) {
    let home = Home::new();
    let flags = ["--policy", "privileged", "--dialect", dialect];
    let (_, listed) = home.json(&[&["tools"][..], &flags].concat());
    let declared = listed["tools"].as_array().unwrap().iter();
    let declarations: Vec<Value> = declared
        .map(|tool| {
            json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
        })
        .collect();
    assert!(declarations.len() >= 8, "{declarations:?}");
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
    println!("{dialect}: {counted} tokens of o200k, estimated {estimate}");
    assert!(counted < MOST, "{dialect}: {counted} tokens");
    assert!(
        estimate.abs_diff(counted) * 10 <= counted,
        "{dialect}: {estimate} is not within 10 % of {counted}"
    );
}

#[test]
fn the_default_tools_are_cheap_and_the_estimate_is_right() {
    for dialect in ["toolpost", "long", "claude", "gemini", "codex"] {
        check(dialect);
    }
}
