//! Which tool a name on the command line means: also one of a server by its last part alone, where that is unambiguous.

use crate::runtime::Runtime;
use toolpost_core::{Code, ToolError};

/// The name under which a tool is called. One that no tool has may be the last part of the name of a server's tool. The
/// servers are waited for unless the name is nearly that of a tool that is there.
pub(crate) async fn full_name(runtime: &Runtime, tool: &str) -> Result<String, ToolError> {
    let is_there = || runtime.context.tools().snapshot().find(tool, runtime.context.dialect()).is_ok();
    if !is_there() {
        runtime.offer_agents_tools();
    }
    if is_there() || runtime.plugins.is_none() || !runtime.context.tools().sources_of(tool).is_empty() {
        return Ok(tool.to_owned());
    }
    if let Some(name) = of_servers(runtime, tool)? {
        return Ok(name);
    }
    let why = runtime.executor.unknown_tool(&runtime.context, tool);
    let is_near =
        why.details().get("nearest").and_then(|near| near.as_array()).is_some_and(|near| !near.is_empty());
    if is_near || tool.contains(['/', '*', ' ']) {
        return Ok(tool.to_owned());
    }
    // Those that fail are named with the tool that is not found.
    runtime.executor.all_ready(&runtime.context).await;
    Ok(of_servers(runtime, tool)?.unwrap_or_else(|| tool.to_owned()))
}

/// The tool of a server whose name ends in this one; an error where there are several.
fn of_servers(runtime: &Runtime, tool: &str) -> Result<Option<String>, ToolError> {
    let snapshot = runtime.context.tools().snapshot();
    let end = format!("__{tool}");
    let names = snapshot.all().map(|entry| entry.name());
    let mut found: Vec<&str> =
        names.filter(|name| name.starts_with("mcp__") && name.ends_with(&end)).collect();
    found.sort_unstable();
    match found.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some((*only).to_owned())),
        several => {
            let listed = several.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message = format!("`{tool}` is a tool of several servers: {listed}; name one of them");
            Err(ToolError::new(Code::ToolNotFound, message).with("nearest", several))
        }
    }
}
