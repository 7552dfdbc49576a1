//! Other programs that start MCP servers, and where each keeps the list of them.

use super::env::Environment;
use clap::ValueEnum;
use serde::Serialize;
use std::path::{Path, PathBuf};
use toolpost_agent::agent_file::Format;

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// OpenCode.
    Opencode,
    /// Qwen Code.
    Qwen,
    /// Cline's command line.
    Cline,
    /// Copilot's command line.
    Copilot,
    /// VS Code.
    Vscode,
    /// Cursor.
    Cursor,
    /// Zed.
    Zed,
}

impl Host {
    /// Those whose servers can be taken over.
    pub(crate) const READ: [Host; 6] =
        [Host::Claude, Host::Codex, Host::Gemini, Host::Opencode, Host::Vscode, Host::Cursor];

    /// The word in flags and files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Host::Claude => "claude",
            Host::Codex => "codex",
            Host::Gemini => "gemini",
            Host::Opencode => "opencode",
            Host::Qwen => "qwen",
            Host::Cline => "cline",
            Host::Copilot => "copilot",
            Host::Vscode => "vscode",
            Host::Cursor => "cursor",
            Host::Zed => "zed",
        }
    }

    /// The name for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Host::Claude => "Claude Code",
            Host::Codex => "Codex",
            Host::Gemini => "Gemini CLI",
            Host::Opencode => "OpenCode",
            Host::Qwen => "Qwen Code",
            Host::Cline => "Cline CLI",
            Host::Copilot => "Copilot CLI",
            Host::Vscode => "VS Code",
            Host::Cursor => "Cursor",
            Host::Zed => "Zed",
        }
    }

    /// The host of a word in the configuration.
    pub(crate) fn read_from(word: &str) -> Result<Host, String> {
        Host::READ.into_iter().find(|host| host.as_str() == word).ok_or_else(|| {
            let known: Vec<&str> = Host::READ.iter().map(|host| host.as_str()).collect();
            format!("no servers can be taken over from `{word}`; there are {}", known.join(", "))
        })
    }

    /// Its files in a workspace, from the root; the first is the strongest. Some have none.
    pub(crate) fn project_files(self) -> &'static [&'static str] {
        match self {
            Host::Claude => &[".mcp.json"],
            Host::Codex => &[".codex/config.toml"],
            Host::Gemini => &[".gemini/settings.json"],
            Host::Opencode => &["opencode.jsonc", "opencode.json"],
            Host::Qwen => &[".qwen/settings.json"],
            Host::Cline => &[],
            Host::Copilot => &[".github/mcp.json"],
            Host::Vscode => &[".vscode/mcp.json"],
            Host::Cursor => &[".cursor/mcp.json"],
            Host::Zed => &[".zed/settings.json"],
        }
    }

    /// Its files of the user's, the strongest first; none without a home directory.
    pub(crate) fn user_files(self, homes: &Homes) -> Vec<PathBuf> {
        let below =
            |folder: &Option<PathBuf>, name: &str| folder.iter().map(|folder| folder.join(name)).collect();
        match self {
            Host::Claude => {
                below(homes.claude.as_ref().map_or(&homes.home, |_| &homes.claude), ".claude.json")
            }
            Host::Codex if homes.codex.is_some() => below(&homes.codex, "config.toml"),
            Host::Codex => below(&homes.home, ".codex/config.toml"),
            Host::Gemini => below(&homes.home, ".gemini/settings.json"),
            Host::Qwen => below(&homes.home, ".qwen/settings.json"),
            Host::Cline => below(&homes.home, ".cline/data/settings/cline_mcp_settings.json"),
            Host::Copilot if homes.copilot.is_some() => below(&homes.copilot, "mcp-config.json"),
            Host::Copilot => below(&homes.home, ".copilot/mcp-config.json"),
            Host::Opencode => ["opencode/opencode.jsonc", "opencode/opencode.json"]
                .iter()
                .flat_map(|name| homes.config.iter().map(move |folder| folder.join(name)))
                .collect(),
            Host::Vscode => below(&homes.config, "Code/User/mcp.json"),
            Host::Cursor => below(&homes.home, ".cursor/mcp.json"),
            Host::Zed => below(&homes.config, "zed/settings.json"),
        }
    }
}

/// The folders that a user's files lie in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Homes {
    pub(crate) home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, or what stands for it.
    config: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    claude: Option<PathBuf>,
    /// `CODEX_HOME`.
    codex: Option<PathBuf>,
    /// `COPILOT_HOME`.
    copilot: Option<PathBuf>,
}

impl Homes {
    /// The folders of the user's agent files, of hosts other than toolpost.
    pub(crate) fn agent_folders(&self) -> Vec<(Format, PathBuf)> {
        let claude = self.claude.clone().or_else(|| self.home.as_ref().map(|home| home.join(".claude")));
        let codex = self.codex.clone().or_else(|| self.home.as_ref().map(|home| home.join(".codex")));
        let opencode = self.config.as_ref().map(|config| config.join("opencode"));
        let gemini = self.home.as_ref().map(|home| home.join(".gemini"));
        let folders = [
            (Format::Claude, claude),
            (Format::Opencode, opencode),
            (Format::Gemini, gemini),
            (Format::Codex, codex),
        ];
        folders.into_iter().filter_map(|(format, folder)| Some((format, folder?.join("agents")))).collect()
    }

    pub(crate) fn of(environment: &Environment) -> Homes {
        let absolute = |name: &str| {
            let value = environment.variables.get(name).filter(|value| Path::new(value).is_absolute());
            value.map(PathBuf::from)
        };
        let config = environment.config_directory.as_deref().and_then(Path::parent);
        Homes {
            home: environment.home.clone(),
            config: config.map(Path::to_path_buf),
            claude: absolute("CLAUDE_CONFIG_DIR"),
            codex: absolute("CODEX_HOME"),
            copilot: absolute("COPILOT_HOME"),
        }
    }
}
