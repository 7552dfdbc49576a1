//! Other systems' names of tools, as rules' actions of ours.
//!
//! `=read` and `=write` are the tools of that name; `read` and `write` alone would be the capabilities.

/// Our actions for a tool of any host; none where we have no such tool.
pub(super) fn actions(name: &str) -> Option<Vec<&str>> {
    // It reads by patterns, which is no call of ours but the same right.
    if name == "read_many_files" {
        return Some(vec!["=read"]);
    }
    let tool = toolpost_tools::names().tool(name)?;
    Some(match tool {
        "read" => vec!["=read"],
        "write" => vec!["=write"],
        "task" => vec!["task", "spawn_agent"],
        tool => vec![tool],
    })
}

/// Whether a name is that of a tool from an MCP server, in one of the spellings that say so.
pub(super) fn is_mcp(name: &str) -> bool {
    toolpost_plugins::is_spelled_as_server_tool(name)
}
