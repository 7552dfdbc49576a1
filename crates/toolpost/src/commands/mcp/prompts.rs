//! The agents there are, as prompts of MCP: a host's own model can be told to be one of them.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use toolpost_agent::AgentFile;
use toolpost_core::host::BoxFuture;
use toolpost_mcp::RpcError;
use toolpost_server::{ClientCall, Extension};

/// Agents by name.
pub(super) struct AgentPrompts(BTreeMap<String, Arc<AgentFile>>);

impl AgentPrompts {
    /// Of agents that have an instruction; none where there are none.
    pub(super) fn of(mut agents: BTreeMap<String, Arc<AgentFile>>) -> Option<AgentPrompts> {
        agents.retain(|_, agent| !agent.instruction.trim().is_empty());
        (!agents.is_empty()).then_some(AgentPrompts(agents))
    }

    fn get(&self, name: &str, arguments: &Value) -> Result<Value, RpcError> {
        let Some(agent) = self.0.get(name) else {
            let shown: String = name.chars().take(80).collect();
            return Err(RpcError::params(format!("there is no prompt `{shown}`")));
        };
        let task = arguments.get("task").and_then(Value::as_str).unwrap_or_default().trim();
        let text = match task {
            "" => agent.instruction.clone(),
            task => format!("{}\n\n# Task\n\n{task}", agent.instruction.trim_end()),
        };
        Ok(json!({
            "description": agent.description,
            "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
        }))
    }
}

impl Extension for AgentPrompts {
    fn prompts(&self) -> Option<Vec<Value>> {
        let prompt = |agent: &Arc<AgentFile>| {
            json!({
                "name": agent.name,
                "description": agent.description,
                "arguments": [{ "name": "task", "description": "What it has to do.", "required": false }],
            })
        };
        Some(self.0.values().map(prompt).collect())
    }

    fn prompt<'a>(
        &'a self,
        _: &'a ClientCall,
        name: &'a str,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Value, RpcError>> {
        Box::pin(std::future::ready(self.get(name, arguments)))
    }
}
