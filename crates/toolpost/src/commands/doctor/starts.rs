//! The MCP servers that a session would start, started: whether each tells its tools, and what it says otherwise.

use crate::runtime::{Runtime, threads};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use toolpost_core::{Code, ToolError};
use toolpost_plugins::Server;

/// The longest time that is waited for a server.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that ends on its own within this time after its list is named as lost.
const SETTLED: Duration = Duration::from_millis(150);

/// What became of the servers that were started.
#[derive(Debug, Default)]
pub(super) struct Starts {
    pub(super) by_name: BTreeMap<String, Start>,
    /// Tools that were left out, and why.
    pub(super) notes: Vec<String>,
}

/// What became of one server.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub(super) enum Start {
    /// It has told its tools.
    Told { tools: usize },
    /// It has ended since.
    Lost { why: String },
    /// It could not be started, refuses, or does not answer.
    Failed { why: String },
    /// It was not started: the policy would allow none of its tools.
    Unwanted { why: String },
}

impl Start {
    /// The words for a list.
    pub(super) fn in_short(&self) -> String {
        match self {
            Start::Told { tools: 1 } => "1 tool".to_owned(),
            Start::Told { tools } => format!("{tools} tools"),
            Start::Lost { .. } => "ended".to_owned(),
            Start::Failed { .. } => "did not start".to_owned(),
            Start::Unwanted { .. } => "not started under this policy".to_owned(),
        }
    }
}

/// The servers, none of which is waited for longer than somebody looks at a screen.
pub(super) fn bounded(mut servers: Vec<Server>) -> Vec<Server> {
    for server in &mut servers {
        server.start = Some(server.start.map_or(PATIENCE, |limit| limit.min(PATIENCE)));
    }
    servers
}

impl Starts {
    /// Starts the servers of a runtime side by side, and leaves them.
    pub(super) fn of(runtime: &Runtime) -> Result<Starts, ToolError> {
        let Some(plugins) = &runtime.plugins else { return Ok(Starts::default()) };
        threads()?.block_on(async {
            let failed = runtime.executor.all_ready(&runtime.context).await;
            tokio::time::sleep(SETTLED).await;
            let told = plugins.told().into_iter().map(|(name, tools)| (name, Start::Told { tools }));
            let lost = plugins.lost().into_iter().map(|(name, why)| (name, Start::Lost { why }));
            let failed = failed.into_iter().map(|(name, error)| {
                let why = error.message().to_owned();
                let is_unwanted = error.code() == Code::PermissionDenied;
                (name, if is_unwanted { Start::Unwanted { why } } else { Start::Failed { why } })
            });
            let starts = Starts { by_name: told.chain(lost).chain(failed).collect(), notes: plugins.notes() };
            plugins.shutdown().await;
            Ok(starts)
        })
    }
}
