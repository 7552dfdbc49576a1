//! What models read of the basic tools is short: counted by the tokenizer `o200k`, from npm.

use serde_json::{Value, json};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use toolpost_core::Registry;

const PACKAGE: &str = "gpt-tokenizer@4.0.0";

const BASIC: [&str; 10] =
    ["read", "write", "edit", "list", "glob", "grep", "bash", "webfetch", "todowrite", "todoread"];

/// Maximum number of tokens of one description.
const MOST: u64 = 40;

const COUNT: &str = "import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { readFileSync } from 'node:fs';
const all = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(all.map((text) => encode(text).length)));
";

/// The numbers of tokens of these texts.
fn tokens(texts: &[String]) -> Vec<u64> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tokenizer");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    if !folder.join("node_modules/gpt-tokenizer/package.json").exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-save", "--ignore-scripts", "--prefix"])
            .arg(&folder)
            .arg(PACKAGE);
        let installed = npm.current_dir(&folder).output().expect("npm runs");
        assert!(installed.status.success(), "npm: {}", String::from_utf8_lossy(&installed.stderr));
    }
    std::fs::write(folder.join("count.mjs"), COUNT).unwrap();
    let mut node = Command::new("node");
    let node = node.arg("count.mjs").current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = node.spawn().expect("node runs");
    child.stdin.take().unwrap().write_all(json!(texts).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn descriptions_of_the_basic_tools_are_short_in_every_dialect() {
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    let snapshot = registry.snapshot();
    let (mut names, mut texts) = (Vec::new(), Vec::new());
    for dialect in toolpost_tools::dialects().all() {
        for tool in BASIC {
            let definition = &snapshot.get(tool).unwrap().prepared().unwrap().definition;
            if let Some(offered) = dialect.offer(definition) {
                names.push(format!("{tool} of {}", dialect.name()));
                texts.push(offered.spec.description.clone());
            }
        }
    }
    let counts = tokens(&texts);
    let long: Vec<Value> = (names.iter().zip(&texts).zip(&counts))
        .filter(|(_, count)| !(10..=MOST).contains(*count))
        .map(|(name, count)| json!([name, count]))
        .collect();
    assert!(counts.len() > 40 && long.is_empty(), "{long:?}");
}
