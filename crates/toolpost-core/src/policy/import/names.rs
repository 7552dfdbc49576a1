//! Other systems' names of tools, as rules' actions of ours.
//!
//! `=read` and `=write` are the tools of that name; `read` and `write` alone would be the capabilities.

/// Our actions for a tool of any host; none where we have no such tool.
pub(super) fn actions(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "read" | "Read" | "read_file" | "ReadFile" | "view" | "read_many_files" => &["=read"],
        "write" | "Write" | "write_file" | "WriteFile" => &["=write"],
        "edit" | "Edit" | "MultiEdit" | "replace" | "str_replace" | "edit_file" => &["edit"],
        "apply_patch" | "patch" => &["apply_patch"],
        "list" | "LS" | "list_directory" | "list_files" => &["list"],
        "glob" | "Glob" => &["glob"],
        "grep" | "Grep" | "grep_search" | "search_file_content" => &["grep"],
        "bash" | "Bash" | "shell" | "execute" | "run_shell_command" | "run_command" | "exec_command" => {
            &["bash"]
        }
        "BashOutput" | "bash_output" => &["bash_output"],
        "KillShell" | "KillBash" | "bash_kill" => &["bash_kill"],
        "webfetch" | "WebFetch" | "web_fetch" => &["webfetch"],
        "websearch" | "WebSearch" | "google_web_search" | "web_search" => &["websearch"],
        "task" | "Task" | "Agent" => &["task", "spawn_agent"],
        "todowrite" | "TodoWrite" | "write_todos" | "todo_write" | "update_plan" => &["todowrite"],
        "todoread" | "TodoRead" => &["todoread"],
        _ => return None,
    })
}

/// Whether a name is that of a tool from an MCP server, in one of the spellings that say so.
pub(super) fn is_mcp(name: &str) -> bool {
    name.starts_with("mcp__") || name.starts_with("mcp_") || name.contains('/')
}
