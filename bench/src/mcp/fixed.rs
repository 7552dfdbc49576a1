//! A server of ours with one tool that has nothing to do, to be set beside `echo`. This program serves it itself.

use anyhow::Result;
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::{Context, Executor, Memory, Output, Policy, Registry, Spec, dynamic};
use toolpost_server::{Options, Server};

/// The flag that starts this program as the server.
pub(crate) const SERVE: &str = "--serve-fixed";

/// The name of the tool.
pub(super) const TOOL: &str = "fixed";

pub(crate) fn serve() -> Result<()> {
    let registry = Arc::new(Registry::new());
    let spec = Spec::new(TOOL, "1.0.0", "Answers with a fixed text.").parallel_safe();
    let schema = json!({"type": "object", "properties": {}});
    let tool =
        dynamic(spec, schema, |_, _| async { Ok(Output::new("", "a line of a small file", Value::Null)) });
    registry.register(tool)?;
    let context = Context::builder(Arc::new(Memory::new())).tools(registry).policy(Policy::default()).build();
    let options = Options {
        version: "1.0.0".to_owned(),
        instructions: Arc::new(String::new),
        page_size: 100,
        says_yes: false,
        timeout: None,
        structured: false,
        session: None,
        list_wait: std::time::Duration::ZERO,
        answer_wait: std::time::Duration::from_secs(60),
        state_key: Arc::new(|| None),
    };
    let server = Server::new(Executor::new(), context, options);
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // On one of the threads that calls run on, as `toolpost mcp` does.
    Ok(threads.block_on(async { tokio::spawn(async move { server.serve_stdio().await }).await })?)
}
