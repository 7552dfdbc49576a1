//! What a program can add to the server beside tools: prompts, resources and methods.

use crate::client::Client;
use crate::client_call::ClientCall;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use toolpost_core::host::BoxFuture;
use toolpost_core::{Registry, ToolError};
use toolpost_mcp::RpcError;

/// An addition to the server. Implemented by programs that offer more than tools; called by the server, from any thread.
/// Every method has a default that adds nothing. A tool of an extension reaches its client by [`ClientCall::of`].
pub trait Extension: Send + Sync {
    /// Adds its tools. Called once, before anybody is served.
    fn register(&self, _registry: &Arc<Registry>) -> Result<(), ToolError> {
        Ok(())
    }

    /// Adds to the capabilities that the server declares to this client. They are a JSON object.
    fn declare(&self, _client: &Client, _capabilities: &mut Value) {}

    /// All prompts, as `prompts/list` shows them; none if there are no such methods.
    fn prompts(&self) -> Option<Vec<Value>> {
        None
    }

    /// Changes whenever the list of prompts does.
    fn prompt_changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// The result of `prompts/get`, for which the client can be asked.
    fn prompt<'a>(
        &'a self,
        _call: &'a ClientCall,
        name: &'a str,
        _arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Value, RpcError>> {
        let shown: String = name.chars().take(80).collect();
        Box::pin(std::future::ready(Err(RpcError::params(format!("there is no prompt `{shown}`")))))
    }

    /// Resources beside those of the server, as `resources/list` shows them.
    fn resources(&self) -> Vec<Value> {
        Vec::new()
    }

    /// Resource templates beside those of the server, as `resources/templates/list` shows them.
    fn templates(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The content of a resource, if it is one of this extension's.
    fn resource(&self, _uri: &str) -> Option<Value> {
        None
    }

    /// The result of any other method, if it is one of this extension's.
    fn method(
        &self,
        _client: &Client,
        _method: &str,
        _params: &Map<String, Value>,
    ) -> Option<Result<Value, RpcError>> {
        None
    }

    /// When a call of this tool becomes a task that its client follows, if the client can.
    fn task(&self, _tool: &str, _call: &ClientCall) -> Result<TaskStart, RpcError> {
        Ok(TaskStart::default())
    }
}

/// When a call becomes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStart {
    /// After so long.
    After(Duration),
    /// Never, however long it takes.
    Never,
}

impl Default for TaskStart {
    /// After five seconds.
    fn default() -> TaskStart {
        TaskStart::After(Duration::from_secs(5))
    }
}
