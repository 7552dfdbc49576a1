//! The command line of MCP Inspector, which makes one request and leaves. It shows no progress and hears of no changes.

use super::{Stage, Way, both};
use crate::Ran;
use crate::installed::{Wanted, node, npm};
use crate::mcp::{is_running, until};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const INSPECTOR: Wanted =
    Wanted { folder: "inspector", packages: &["@modelcontextprotocol/inspector@2.12.0"] };

const TOOL_FAILED: i32 = 5;

impl Stage {
    /// Inspector for one request.
    fn inspector(&self, era: &str, words: &[&str]) -> Command {
        let package = npm(&INSPECTOR).join("node_modules/@modelcontextprotocol/inspector");
        let mut command = self.command(&node());
        command.arg(package.join("clients/launcher/build/index.js")).arg("--cli");
        match (self.way, self.place().as_slice()) {
            (Way::Http, [address, token]) => {
                command.arg(address).args(["--transport", "http"]);
                command.args(["--header", &format!("Authorization: Bearer {token}")]);
            }
            (_, [program, words @ ..]) => {
                let servers = json!({"mcpServers": {"toolpost": {"command": program, "args": words}}});
                self.home.write("servers.json", servers.to_string());
                command.arg("--config").arg(self.home.path("servers.json")).args(["--server", "toolpost"]);
            }
            (_, []) => panic!("there is no server"),
        }
        command.args(["--protocol-era", era, "--format", "json"]).args(words);
        command
    }

    /// Runs it; its exit status and what it printed.
    fn inspect(&self, era: &str, words: &[&str]) -> (i32, Value, String) {
        let ran = Ran::of(self.inspector(era, words).output().unwrap());
        let printed = match ran.stdout.trim() {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")),
        };
        (ran.status, printed["result"].clone(), ran.stderr)
    }

    fn inspect_call(&self, era: &str, tool: &str, arguments: &Value, more: &[&str]) -> (i32, Value, String) {
        let arguments = arguments.to_string();
        let words = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments];
        self.inspect(era, &[&words, more].concat())
    }
}

fn check(way: Way, era: &str) {
    let stage = Stage::new(way);
    let (status, listed, said) = stage.inspect(era, &["--method", "tools/list", "--strict"]);
    assert_eq!(status, 0, "{said}");
    // What others must fit into is nothing that they might stumble over.
    assert!(!said.contains("Warning") && !said.contains("Error"), "{said}");
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(["read", "grep", "edit", "bash"].iter().all(|name| names.contains(name)), "{names:?}");

    let (status, read, said) = stage.inspect_call(era, "read", &json!({"filePath": "README.md"}), &[]);
    assert_eq!((status, &read["structuredContent"]["totalLines"]), (0, &json!(7)), "{said}");
    assert_eq!(read["structuredContent"]["output"], read["content"][0]["text"], "{said}");
    let (status, found, said) = stage.inspect_call(era, "grep", &json!({"pattern": "fn main"}), &[]);
    assert_eq!((status, found.to_string().contains("main.rs")), (0, true), "{said}");
    let edit =
        json!({"filePath": "src/main.rs", "oldString": "fn main() {}", "newString": "fn main() { greet() }"});
    let (status, _, said) = stage.inspect_call(era, "edit", &edit, &[]);
    assert_eq!(status, 0, "{said}");
    assert!(std::fs::read_to_string(stage.home.path("repo/src/main.rs")).unwrap().contains("greet()"));

    let (status, missing, said) = stage.inspect_call(era, "read", &json!({"filePath": "REDME.md"}), &[]);
    assert_eq!((status, &missing["isError"]), (TOOL_FAILED, &json!(true)), "{said}");
    assert!(missing["content"][0]["text"].as_str().unwrap().contains("README.md"), "{missing}");
    let (status, _, said) = stage.inspect_call(era, "raed", &json!({}), &[]);
    assert!(status == TOOL_FAILED && said.contains("tool_not_found"), "{said}");

    let load = ["--load", "--load-concurrency", "100", "--load-requests", "100"];
    let (status, told, said) = stage.inspect_call(era, "read", &json!({"filePath": "lines"}), &load);
    let counts = ["requests", "ok", "toolErrors", "errors"].map(|key| told[key].as_u64());
    assert_eq!((status, counts), (0, [Some(100), Some(100), Some(0), Some(0)]), "{told} {said}");

    leave(&stage, era);
}

/// It has no way to cancel but to leave.
fn leave(stage: &Stage, era: &str) {
    let marker = format!("3600.83{}{}", u8::from(stage.way == Way::Http), u8::from(era == "legacy"));
    let command = json!({"command": format!("sleep {marker}; touch made")}).to_string();
    let words = ["--method", "tools/call", "--tool-name", "bash", "--tool-args-json", &command];
    let mut inspector = stage.inspector(era, &words);
    let mut leaving = inspector.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the command begins", || is_running(&format!("sleep\0{marker}")));
    leaving.kill().unwrap();
    leaving.wait().unwrap();
    // A session over HTTP outlives a connection, and so does what runs in it.
    if (stage.way, era) != (Way::Http, "legacy") {
        until("the command ends", || !is_running(&format!("sleep\0{marker}")));
    }
    assert!(!stage.home.path("repo/made").exists());
}

#[test]
fn the_inspector_works_with_a_handshake() {
    both(|way| check(way, "legacy"));
}

#[test]
fn the_inspector_works_without_one() {
    both(|way| check(way, "modern"));
}
