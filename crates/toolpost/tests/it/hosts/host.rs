//! The hosts: which package of which version, and how each is started without a terminal, with our model and our server.

use super::wire::Naming;
use crate::Home;
use crate::installed::{Wanted, node, npm, pip};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

/// What the host is asked to do; the model knows better.
const TASK: &str = "Do what there is to do.";

/// A host, and how it is started.
pub(super) struct Host {
    /// The package, as the table names it.
    pub(super) name: &'static str,
    pub(super) wanted: Wanted,
    pub(super) naming: Naming,
    pub(super) command: fn(&Stage, &Wanted) -> Command,
}

/// Where a host runs: a home of its own with a repository, and the model.
pub(super) struct Stage {
    pub(super) home: Home,
    pub(super) model: SocketAddr,
}

impl Stage {
    /// A program that knows nothing of this machine, and reaches nothing beyond it.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let proxy = format!("http://{}", self.model);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home.path(""))
            .env("TERM", "dumb")
            .env("TMPDIR", self.home.path("tmp"))
            .env("NODE_USE_ENV_PROXY", "1")
            .current_dir(self.home.path("repo"));
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, &proxy);
        }
        for name in ["NO_PROXY", "no_proxy"] {
            command.env(name, "127.0.0.1,localhost");
        }
        command
    }

    /// The arguments after `toolpost` with which the host starts the server.
    fn arguments(&self) -> Vec<String> {
        let root = self.home.path("repo").display().to_string();
        ["mcp", "--policy", "privileged", "--workspace", &root].map(str::to_owned).to_vec()
    }

    /// One of the scripts that lie beside this file, for a host that is a library.
    fn script(&self, wanted: &Wanted, name: &str) -> Command {
        let mut command = self.command(pip(wanted).join("bin/python"));
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hosts").join(name))
            .args([&format!("http://{}/v1", self.model), TASK, TOOLPOST])
            .args(self.arguments());
        command
    }
}

const TOOLPOST: &str = env!("CARGO_BIN_EXE_toolpost");

/// Every host of the table, in its order.
pub(super) const HOSTS: [Host; 8] = [
    Host {
        name: "@anthropic-ai/claude-code",
        wanted: Wanted { folder: "claude-code", packages: &["@anthropic-ai/claude-code@2.1.325"] },
        naming: Naming::Prefixed,
        command: |stage, wanted| {
            let server = json!({"mcpServers": {"toolpost": {"type": "stdio", "command": TOOLPOST, "args": stage.arguments()}}});
            stage.home.write("servers.json", server.to_string());
            let program = npm(wanted).join("node_modules/@anthropic-ai/claude-code-linux-x64/claude");
            let mut command = stage.command(program);
            command
                .args(["-p", TASK, "--strict-mcp-config", "--mcp-config"])
                .arg(stage.home.path("servers.json"))
                .args(["--allowedTools", "mcp__toolpost"])
                .env("ANTHROPIC_BASE_URL", format!("http://{}", stage.model))
                .env("ANTHROPIC_API_KEY", "none")
                .env("ENABLE_TOOL_SEARCH", "false")
                // The first request waits for the server, however long it takes to start.
                .env("MCP_CONNECTION_NONBLOCKING", "false")
                .env("CLAUDE_CODE_MCP_STARTUP_WAIT_MS", "120000")
                .env("MCP_CONNECT_TIMEOUT_MS", "120000")
                .env("MCP_TIMEOUT", "120000")
                .env("DISABLE_AUTOUPDATER", "1")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            command
        },
    },
    Host {
        name: "@openai/codex",
        wanted: Wanted { folder: "codex", packages: &["@openai/codex@0.166.0"] },
        naming: Naming::Prefixed,
        command: |stage, wanted| {
            let settings = format!(
                "model = 'played'\nmodel_provider = 'played'\napproval_policy = 'never'\nsandbox_mode = 'danger-full-access'\n\
                 check_for_update_on_startup = false\n[analytics]\nenabled = false\n\
                 [features]\nplugins = false\nremote_plugin = false\napps = false\n\
                 [model_providers.played]\nname = 'played'\nbase_url = 'http://{}/v1'\nwire_api = 'responses'\n\
                 [mcp_servers.toolpost]\ncommand = '{TOOLPOST}'\nargs = {}\ndefault_tools_approval_mode = 'approve'\n\
                 required = true\nstartup_timeout_sec = 120\ntool_timeout_sec = 120\n",
                stage.model,
                json!(stage.arguments()),
            );
            stage.home.write(".codex/config.toml", settings);
            let mut command = stage.command(node());
            command.arg(npm(wanted).join("node_modules/@openai/codex/bin/codex.js")).args([
                "exec",
                "--skip-git-repo-check",
                TASK,
            ]);
            command
        },
    },
    Host {
        name: "@google/gemini-cli",
        wanted: Wanted { folder: "gemini-cli", packages: &["@google/gemini-cli@0.61.0"] },
        naming: Naming::Prefixed,
        command: |stage, wanted| {
            let settings = json!({
                "mcpServers": {"toolpost": {"command": TOOLPOST, "args": stage.arguments(), "trust": true, "timeout": 120_000}},
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
                "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
                "privacy": {"usageStatisticsEnabled": false},
                "telemetry": {"enabled": false},
            });
            stage.home.write(".gemini/settings.json", settings.to_string());
            let mut command = stage.command(node());
            command
                .arg(npm(wanted).join("node_modules/@google/gemini-cli/bundle/gemini.js"))
                .args(["--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", TASK])
                .env("GEMINI_API_KEY", "none")
                .env("GOOGLE_GEMINI_BASE_URL", format!("http://{}", stage.model));
            command
        },
    },
    Host {
        name: "opencode-ai",
        wanted: Wanted { folder: "opencode", packages: &["opencode-ai@1.18.33"] },
        naming: Naming::Prefixed,
        command: |stage, wanted| {
            let command: Vec<String> =
                std::iter::once(TOOLPOST.to_owned()).chain(stage.arguments()).collect();
            let settings = json!({
                "autoupdate": false,
                "share": "disabled",
                "provider": {"played": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": format!("http://{}/v1", stage.model), "apiKey": "none"},
                    "models": {"played": {"tool_call": true}},
                }},
                "mcp": {"toolpost": {"type": "local", "command": command, "enabled": true, "timeout": 120_000}},
            });
            let program = npm(wanted).join("node_modules/opencode-linux-x64-baseline/bin/opencode");
            let mut command = stage.command(program);
            command
                .args(["run", "--model", "played/played", TASK])
                .env("OPENCODE_CONFIG_CONTENT", settings.to_string())
                // It wants a package for plugins, and does without it.
                .env("NPM_CONFIG_REGISTRY", format!("http://{}/npm", stage.model))
                .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
                .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1");
            command
        },
    },
    Host {
        name: "pydantic-ai",
        wanted: Wanted { folder: "pydantic-ai", packages: &["pydantic-ai==2.62.0"] },
        naming: Naming::Bare,
        command: |stage, wanted| stage.script(wanted, "pydantic_ai_host.py"),
    },
    Host {
        name: "openai-agents",
        wanted: Wanted { folder: "openai-agents", packages: &["openai-agents==0.24.0"] },
        naming: Naming::Bare,
        command: |stage, wanted| stage.script(wanted, "openai_agents_host.py"),
    },
    Host {
        name: "smolagents",
        wanted: Wanted { folder: "smolagents", packages: &["smolagents[mcp,openai]==1.26.0", "mcp==1.30.0"] },
        naming: Naming::Bare,
        command: |stage, wanted| stage.script(wanted, "smolagents_host.py"),
    },
    Host {
        name: "langchain-mcp-adapters",
        wanted: Wanted {
            folder: "langchain-host",
            packages: &["langchain-mcp-adapters==0.3.2", "langchain==1.4.7", "langchain-openai==1.7.3"],
        },
        naming: Naming::Bare,
        command: |stage, wanted| stage.script(wanted, "langchain_host.py"),
    },
];

impl Host {
    pub(super) fn named(name: &str) -> &'static Host {
        const ALL: &[Host] = &HOSTS;
        ALL.iter().find(|host| host.name == name).unwrap_or_else(|| panic!("no host `{name}`"))
    }

    /// The version of the package that gives the host its name.
    pub(super) fn version(&self) -> &'static str {
        let package = self.wanted.packages[0];
        package.rsplit(['@', '=']).next().unwrap()
    }
}
