//! What the entry for `toolpost mcp` says in the words of each program.

use super::NAME;
use crate::cli::Flags;
use crate::config::env::Environment;
use crate::config::hosts::Host;
use crate::config::key::{DIR, On, text_of};
use crate::config::keys::KEYS;
use crate::config::virtual_session;
use serde_json::{Map, Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toolpost_core::{Code, ToolError};

impl Host {
    /// The table of servers.
    pub(super) fn table(self) -> &'static str {
        match self {
            Host::Claude | Host::Gemini | Host::Qwen | Host::Cline | Host::Copilot | Host::Cursor => {
                "mcpServers"
            }
            Host::Vscode => "servers",
            Host::Opencode => "mcp",
            Host::Zed => "context_servers",
            Host::Codex => "mcp_servers",
        }
    }

    /// The entry.
    pub(super) fn entry(self, command: &str, args: &[String]) -> Map<String, Value> {
        let entry = match self {
            // Otherwise its model sees no tool before it searches for one, and the first request does not wait for the server.
            Host::Claude => json!({"type": "stdio", "command": command, "args": args, "alwaysLoad": true}),
            Host::Vscode | Host::Cursor => json!({"type": "stdio", "command": command, "args": args}),
            Host::Gemini | Host::Zed | Host::Codex | Host::Cline => json!({"command": command, "args": args}),
            // Its model too sees no tool before it searches for one.
            Host::Qwen => json!({"command": command, "args": args, "alwaysLoadTools": true}),
            Host::Copilot => json!({"type": "local", "command": command, "args": args, "tools": ["*"]}),
            Host::Opencode => {
                let words: Vec<&str> =
                    std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
                json!({"type": "local", "command": words})
            }
        };
        entry.as_object().cloned().unwrap_or_default()
    }
}

/// How this program is started: by its name, if that finds it, else by its path.
pub(super) fn program(environment: &Environment) -> Result<String, ToolError> {
    let lost = |why: &str| ToolError::new(Code::FileNotFound, format!("this program's own file {why}"));
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let own =
        own.map_err(|error| lost(&format!("cannot be found: {error}; start it from where it is installed")))?;
    let path = environment.variables.get("PATH").map(String::as_str).unwrap_or_default();
    let is_program = |file: &Path| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let first =
        path.split(':').filter(|folder| folder.starts_with('/')).map(|folder| Path::new(folder).join(NAME));
    let first = first.into_iter().find(|file| is_program(file)).and_then(|file| file.canonicalize().ok());
    match first {
        Some(first) if first == own => Ok(NAME.to_owned()),
        _ => own.to_str().map(str::to_owned).ok_or_else(|| lost("has a name that is not UTF-8; move it")),
    }
}

/// The arguments of the entry: those that were given here, and what fits the program.
pub(super) fn arguments(host: Host, flags: &Flags, cwd: &Path) -> Result<Vec<String>, ToolError> {
    let mut args = vec!["mcp".to_owned()];
    let mut add = |flag: &str, value: String| args.extend([flag.to_owned(), value]);
    let absolute = |path: &PathBuf| {
        let path = cwd.join(path);
        let path = path.canonicalize().unwrap_or(path);
        path.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("`{}` is not UTF-8, so no entry can name it; rename it", path.display());
            ToolError::new(Code::ValidationError, message)
        })
    };
    for folder in &flags.workspace {
        let session = virtual_session(folder).map(|_| folder.display().to_string());
        add("--workspace", session.map_or_else(|| absolute(folder), Ok)?);
    }
    // Editors start servers in a folder of their own choice; agents in the project.
    if flags.workspace.is_empty() && matches!(host, Host::Vscode | Host::Cursor) {
        add("--workspace", "${workspaceFolder}".to_owned());
    }
    for key in KEYS {
        let Some(flag) = key.flag().filter(|flag| flag.on == On::Everywhere) else { continue };
        let mut values: Vec<String> =
            key.values(&flags.keys.settings).iter().map(|value| text_of(&value.value)).collect();
        if key.name() == "dialect" && values.is_empty() {
            values.extend(
                toolpost_tools::dialects().named(host.as_str()).ok().map(|fitting| fitting.name().to_owned()),
            );
        }
        for value in values {
            let value = if flag.value == DIR { absolute(&PathBuf::from(value))? } else { value };
            add(&format!("--{}", flag.long), value);
        }
    }
    if let Some(path) = &flags.config {
        add("--config", absolute(path)?);
    }
    if flags.yes {
        args.push("--yes".to_owned());
    }
    Ok(args)
}
