//! The fixtures of the official conformance suite: tools, prompts and resources with the names it calls, as an extension
//! of the server. They are the only place that uses what the protocol has deprecated (sampling, roots, logging), because
//! the suite wants to see it.
//!
//! This test program serves them itself, as `toolpost mcp` with an extension: [`program`] starts it in that role.

mod asking;
mod prompts;
mod tasks;
mod tools;

use crate::Home;
use serde_json::{Map, Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;
use toolpost_core::host::BoxFuture;
use toolpost_core::{Registry, ToolError};
use toolpost_mcp::RpcError;
use toolpost_server::{Client, ClientCall, Extension, TaskStart};

/// How the role of the server is asked for; the words of `toolpost` follow.
const ROLE: &str = "toolpost-with-fixtures";

/// A program that is `toolpost` with the fixtures.
pub(crate) fn program(home: &Home) -> PathBuf {
    let path = home.path("toolpost-with-fixtures");
    let script = format!("#!/bin/sh\nexec '{}' {ROLE} \"$@\"\n", std::env::current_exe().unwrap().display());
    // A file that another thread holds open for writing while it starts a program cannot be run.
    let made = path.with_extension("new");
    home.write("toolpost-with-fixtures.new", script);
    std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&made, &path).unwrap();
    path
}

/// Takes the role of the server, if this process was started for it. Does not return then.
pub(crate) fn run_if_asked() {
    let mut words = std::env::args_os();
    let program = words.next();
    if words.next().is_none_or(|word| word != ROLE) {
        return;
    }
    // Commands are started by the real program: this one is a test in every other role.
    toolpost_process::launcher::set_helper(env!("CARGO_BIN_EXE_toolpost"));
    let words = program.into_iter().chain(words).collect();
    let status = toolpost::run_with(words, Some(Arc::new(Fixtures::default())));
    std::process::exit(i32::from(status != std::process::ExitCode::SUCCESS));
}

/// A picture of one red dot.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// What is there beside the tools.
#[derive(Default)]
struct Fixtures {
    prompts: watch::Sender<u64>,
}

impl Extension for Fixtures {
    fn register(&self, registry: &Arc<Registry>) -> Result<(), ToolError> {
        registry.change(|draft| {
            let all = tools::all(registry, &self.prompts).into_iter();
            for tool in all.chain(asking::all()).chain(tasks::all()) {
                draft.register(Arc::new(tool))?;
            }
            Ok(())
        })
    }

    fn declare(&self, client: &Client, capabilities: &mut Value) {
        capabilities["prompts"] = json!({"listChanged": true});
        capabilities["completions"] = json!({});
        if !client.is_modern() {
            capabilities["logging"] = json!({});
            capabilities["resources"] = json!({"subscribe": true});
        }
    }

    fn prompts(&self) -> Option<Vec<Value>> {
        Some(prompts::all(*self.prompts.borrow()))
    }

    fn prompt_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.prompts.subscribe())
    }

    fn prompt<'a>(
        &'a self,
        call: &'a ClientCall,
        name: &'a str,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Value, RpcError>> {
        Box::pin(prompts::get(call, name, arguments))
    }

    fn method(
        &self,
        client: &Client,
        method: &str,
        _params: &Map<String, Value>,
    ) -> Option<Result<Value, RpcError>> {
        match (method, client.is_modern()) {
            ("completion/complete", _) => {
                Some(Ok(json!({"completion": {"values": ["test", "testing"], "total": 2, "hasMore": false}})))
            }
            ("logging/setLevel" | "resources/subscribe" | "resources/unsubscribe", false) => {
                Some(Ok(json!({})))
            }
            _ => None,
        }
    }

    fn task(&self, tool: &str, call: &ClientCall) -> Result<TaskStart, RpcError> {
        tasks::start(tool, call)
    }

    fn resources(&self) -> Vec<Value> {
        let resource = |uri: &str, name: &str, kind: &str| json!({"uri": uri, "name": name, "description": "A fixture of the conformance suite.", "mimeType": kind});
        vec![
            resource("test://static-text", "static-text", "text/plain"),
            resource("test://static-binary", "static-binary", "image/png"),
            resource("test://watched-resource", "watched-resource", "text/plain"),
        ]
    }

    fn templates(&self) -> Vec<Value> {
        vec![json!({
            "uriTemplate": "test://template/{id}/data",
            "name": "template",
            "description": "A fixture of the conformance suite.",
            "mimeType": "application/json",
        })]
    }

    fn resource(&self, uri: &str) -> Option<Value> {
        let text = |text: &str| json!({"uri": uri, "mimeType": "text/plain", "text": text});
        match uri {
            "test://static-text" => Some(text("This is the content of the static text resource.")),
            "test://watched-resource" => Some(text("This resource never changes.")),
            "test://static-binary" => Some(json!({"uri": uri, "mimeType": "image/png", "blob": PNG})),
            _ => {
                let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                Some(json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()}))
            }
        }
    }
}
