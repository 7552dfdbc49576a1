//! The hosts: which package of which version, how each is started without a terminal, with our model and our server, and
//! which of its answers differ from yes.

use super::stage::{Dialect, Stage};
use super::wire::Naming;
use crate::installed::{Wanted, node, npm, pip, pip_of_newer_python};
use serde_json::json;
use std::process::Command;

/// What the host is asked to do; the model knows better.
const TASK: &str = "Do what there is to do.";

/// A host, and how it is started.
pub(super) struct Host {
    /// The package, as the table names it.
    pub(super) name: &'static str,
    pub(super) wanted: Wanted,
    pub(super) naming: Naming,
    pub(super) dialect: Dialect,
    /// By which words `mcp install` writes its entry; why it does not, otherwise.
    pub(super) install: Result<&'static [&'static str], &'static str>,
    /// The answers that are not yes, by their columns, with the host's reason.
    pub(super) otherwise: &'static [(Column, &'static str)],
    /// Places beyond loopback that it asks for unless it is told not to, and does without.
    pub(super) asks_for: &'static [&'static str],
    /// Writes the host's own settings, before the entry is installed.
    pub(super) prepare: fn(&Stage),
    pub(super) command: fn(&Stage, &Wanted) -> Command,
}

/// What is asked of every host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// The text of a file reaches the model, once.
    Text,
    /// So does the output of a command.
    Output,
    /// So does an error with its advice.
    Error,
    /// An edit changes the file.
    Edit,
    /// A picture reaches the model as a picture.
    Picture,
    /// What runs ends when the user interrupts the host.
    Cancel,
    /// The host reads the entry that `mcp install` writes.
    Install,
}

impl Column {
    pub(super) const ALL: [Column; 7] = [
        Column::Text,
        Column::Output,
        Column::Error,
        Column::Edit,
        Column::Picture,
        Column::Cancel,
        Column::Install,
    ];
}

/// A library has no file of its own in which a server could be entered.
const LIBRARY: &str = "a library: its program names the server";

const NOTHING: fn(&Stage) = |_| {};

/// A library, with the script that uses it.
macro_rules! library {
    ($name:literal, $folder:literal, $packages:expr, $script:literal, $otherwise:expr, $asks_for:expr) => {
        Host {
            name: $name,
            wanted: Wanted { folder: $folder, packages: &$packages },
            naming: Naming::Bare,
            dialect: Dialect::Toolpost,
            install: Err(LIBRARY),
            otherwise: &$otherwise,
            asks_for: &$asks_for,
            prepare: NOTHING,
            command: |stage, wanted| stage.script(pip(wanted), $script, TASK),
        }
    };
}

/// The hosts of every run, in the order of the table.
pub(super) const HOSTS: [Host; 8] = [
    Host {
        name: "@anthropic-ai/claude-code",
        wanted: Wanted { folder: "claude-code", packages: &["@anthropic-ai/claude-code@2.1.327"] },
        naming: Naming::Prefixed,
        dialect: Dialect::Claude,
        install: Ok(&["claude"]),
        otherwise: &[],
        asks_for: &[],
        // The user's answer to the question whether the servers of the project are wanted.
        prepare: |stage| {
            let settings = json!({"enabledMcpjsonServers": ["toolpost"]});
            stage.home.write(".claude/settings.json", settings.to_string());
        },
        command: |stage, wanted| {
            let program = npm(wanted).join("node_modules/@anthropic-ai/claude-code-linux-x64/claude");
            let mut command = stage.command(program);
            command
                .args(["-p", TASK, "--allowedTools", "mcp__toolpost"])
                .env("ANTHROPIC_BASE_URL", stage.url(""))
                .env("ANTHROPIC_API_KEY", "none")
                .env("DISABLE_AUTOUPDATER", "1")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            command
        },
    },
    Host {
        name: "@openai/codex",
        wanted: Wanted { folder: "codex", packages: &["@openai/codex@0.169.0"] },
        naming: Naming::Prefixed,
        dialect: Dialect::Codex,
        install: Ok(&["codex"]),
        otherwise: &[],
        asks_for: &["github.com", "api.github.com", "chatgpt.com"],
        prepare: |stage| {
            let settings = format!(
                "model = 'played'\nmodel_provider = 'played'\napproval_policy = 'never'\nsandbox_mode = 'danger-full-access'\n\
                 check_for_update_on_startup = false\n[analytics]\nenabled = false\n\
                 [model_providers.played]\nname = 'played'\nbase_url = '{}'\nwire_api = 'responses'\n",
                stage.url("/v1"),
            );
            stage.home.write(".codex/config.toml", settings);
        },
        command: |stage, wanted| {
            let mut command = stage.command(node());
            let program = npm(wanted).join("node_modules/@openai/codex/bin/codex.js");
            command.arg(program).args(["exec", "--skip-git-repo-check", TASK]);
            command
        },
    },
    Host {
        name: "@google/gemini-cli",
        wanted: Wanted { folder: "gemini-cli", packages: &["@google/gemini-cli@0.61.0"] },
        naming: Naming::Prefixed,
        dialect: Dialect::Gemini,
        install: Ok(&["gemini"]),
        otherwise: &[],
        asks_for: &[],
        prepare: |stage| {
            let settings = json!({
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
                "privacy": {"usageStatisticsEnabled": false},
                "telemetry": {"enabled": false},
            });
            stage.home.write(".gemini/settings.json", settings.to_string());
            // The user's answer to the question whether the folder is trusted.
            let trusted = json!({stage.home.path("repo").display().to_string(): "TRUST_FOLDER"});
            stage.home.write(".gemini/trustedFolders.json", trusted.to_string());
        },
        command: |stage, wanted| {
            let mut command = stage.command(node());
            command
                .arg(npm(wanted).join("node_modules/@google/gemini-cli/bundle/gemini.js"))
                .args(["--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", TASK])
                .env("GEMINI_API_KEY", "none")
                .env("GOOGLE_GEMINI_BASE_URL", stage.url(""));
            command
        },
    },
    Host {
        name: "opencode-ai",
        wanted: Wanted { folder: "opencode", packages: &["opencode-ai@1.18.33"] },
        naming: Naming::Prefixed,
        dialect: Dialect::Toolpost,
        install: Ok(&["opencode"]),
        otherwise: &[],
        asks_for: &[],
        prepare: |stage| {
            let model = json!({"tool_call": true, "attachment": true, "modalities": {"input": ["text", "image"], "output": ["text"]}});
            let settings = json!({
                "autoupdate": false,
                "share": "disabled",
                "provider": {"played": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": stage.url("/v1"), "apiKey": "none"},
                    "models": {"played": model},
                }},
            });
            stage.home.write(".config/opencode/opencode.json", settings.to_string());
        },
        command: |stage, wanted| {
            let program = npm(wanted).join("node_modules/opencode-linux-x64-baseline/bin/opencode");
            let mut command = stage.command(program);
            command
                .args(["run", "--model", "played/played", TASK])
                // It wants a package for plugins, and does without it.
                .env("NPM_CONFIG_REGISTRY", stage.url("/npm"))
                .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
                .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1");
            command
        },
    },
    Host {
        name: "@qwen-code/qwen-code",
        wanted: Wanted { folder: "qwen-code", packages: &["@qwen-code/qwen-code@0.24.4"] },
        naming: Naming::Prefixed,
        dialect: Dialect::Toolpost,
        install: Ok(&["qwen"]),
        otherwise: &[(Column::Error, "yes, twice")],
        asks_for: &[],
        prepare: |stage| {
            let settings = json!({
                "security": {"auth": {"selectedType": "openai"}},
                "privacy": {"usageStatisticsEnabled": false},
            });
            stage.home.write(".qwen/settings.json", settings.to_string());
        },
        command: |stage, wanted| {
            let mut command = stage.command(node());
            command
                .arg(npm(wanted).join("node_modules/@qwen-code/qwen-code/cli.js"))
                .args(["--approval-mode", "yolo", "-p", TASK])
                .env("OPENAI_API_KEY", "none")
                .env("OPENAI_BASE_URL", stage.url("/v1"))
                // By its name it knows that the model sees pictures.
                .env("OPENAI_MODEL", "qwen3-vl-plus");
            command
        },
    },
    Host {
        name: "@github/copilot",
        wanted: Wanted { folder: "copilot", packages: &["@github/copilot@1.0.102"] },
        naming: Naming::Prefixed,
        dialect: Dialect::Toolpost,
        install: Ok(&["copilot"]),
        otherwise: &[(Column::Picture, "no: it shows the picture, and sends its model the text alone")],
        asks_for: &[],
        prepare: NOTHING,
        command: |stage, wanted| {
            let program = npm(wanted).join("node_modules/@github/copilot-linux-x64/copilot");
            let mut command = stage.command(program);
            command
                .args(["-p", TASK, "--allow-all-tools", "--no-color"])
                .env("COPILOT_PROVIDER_BASE_URL", stage.url("/v1"))
                .env("COPILOT_PROVIDER_API_KEY", "none")
                .env("COPILOT_MODEL", "gpt-5.4")
                .env("COPILOT_OFFLINE", "true")
                .env("COPILOT_AUTO_UPDATE", "false");
            command
        },
    },
    library!(
        "smolagents",
        "smolagents",
        ["smolagents[mcp,openai]==1.26.0", "mcp==1.30.0"],
        "smolagents_host.py",
        [(Column::Picture, "no: its adapter takes the first part of a result")],
        []
    ),
    library!(
        "langchain-mcp-adapters",
        "langchain-host",
        ["langchain-mcp-adapters==0.3.2", "langchain==1.4.7", "langchain-openai==1.7.3"],
        "langchain_host.py",
        [],
        []
    ),
];

/// The hosts of `cargo xtask hosts` and `soak`.
pub(super) const OTHERS: [Host; 12] = [
    library!("pydantic-ai", "pydantic-ai", ["pydantic-ai==2.62.0"], "pydantic_ai_host.py", [], []),
    library!("openai-agents", "openai-agents", ["openai-agents==0.24.0"], "openai_agents_host.py", [], []),
    Host {
        name: "cline",
        wanted: Wanted { folder: "cline", packages: &["cline@3.0.65"] },
        naming: Naming::Prefixed,
        dialect: Dialect::Toolpost,
        install: Ok(&["cline"]),
        otherwise: &[(Column::Picture, "no: it sends the picture as letters in a text")],
        asks_for: &["data.cline.bot", "otel.cline.bot"],
        prepare: |stage| {
            let settings = json!({
                "provider": "anthropic", "apiKey": "none", "model": "claude-sonnet-4-5", "baseUrl": stage.url("/v1"),
            });
            let provider = json!({"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"});
            let providers = json!({
                "version": 1, "lastUsedProvider": "anthropic", "modes": {}, "providers": {"anthropic": provider},
            });
            stage.home.write(".cline/data/settings/providers.json", providers.to_string());
        },
        command: |stage, wanted| {
            let program = npm(wanted).join("node_modules/@cline/cli-linux-x64/bin/cline");
            let mut command = stage.command(program);
            command.arg(TASK);
            command
        },
    },
    library!(
        "google-adk",
        "google-adk",
        ["google-adk==2.13.0", "litellm==1.106.2", "mcp==2.3.0"],
        "google_adk_host.py",
        [(Column::Picture, "no: it sends the picture as letters in a text")],
        []
    ),
    library!("agno", "agno", ["agno==3.1.10", "fastmcp==4.1.2", "openai==3.51.0"], "agno_host.py", [], []),
    library!(
        "strands-agents",
        "strands-agents",
        ["strands-agents[openai]==1.62.0"],
        "strands_host.py",
        [],
        []
    ),
    library!(
        "mcp-use",
        "mcp-use",
        ["mcp-use==1.7.1", "langchain-openai==1.7.3"],
        "mcp_use_host.py",
        [(Column::Error, "yes, 3 times")],
        ["mcpuse.gateway.scarf.sh", "eu.i.posthog.com"]
    ),
    Host {
        naming: Naming::Prefixed,
        command: |stage, wanted| stage.script(pip_of_newer_python(wanted), "fast_agent_host.py", TASK),
        ..library!("fast-agent-mcp", "fast-agent", ["fast-agent-mcp==0.10.46"], "fast_agent_host.py", [], [])
    },
    library!(
        "autogen-agentchat",
        "autogen",
        ["autogen-agentchat==0.7.5", "autogen-ext[mcp,openai]==0.7.5", "mcp==1.30.0"],
        "autogen_host.py",
        [(Column::Picture, "no: it sends the picture as letters in a text")],
        []
    ),
    library!(
        "crewai",
        "crewai",
        ["crewai==1.15.30", "crewai-tools[mcp]==1.15.30"],
        "crewai_host.py",
        [
            (Column::Picture, "no: its adapter takes the first part of a result"),
            (Column::Cancel, "no: an interrupt waits until the call ends"),
        ],
        []
    ),
    library!(
        "agent-framework",
        "agent-framework",
        ["agent-framework-core==1.23.0", "agent-framework-openai==1.17.0", "mcp==2.3.0", "tenacity==9.2.1"],
        "agent_framework_host.py",
        [(Column::Error, "no: `Error: Function failed.`, unless the program asks for detailed errors")],
        []
    ),
    Host {
        name: "@continuedev/cli",
        wanted: Wanted { folder: "continue", packages: &["@continuedev/cli@1.5.47"] },
        naming: Naming::Bare,
        dialect: Dialect::Toolpost,
        install: Err("no: `install` does not write its YAML file"),
        otherwise: &[(Column::Picture, "no: it sends the picture as letters in a text")],
        asks_for: &["api.continue.dev"],
        prepare: |stage| {
            // JSON is YAML.
            let settings = json!({
                "name": "played", "version": "1.0.0", "schema": "v1",
                "models": [{
                    "name": "played", "provider": "openai", "model": "played", "apiKey": "none",
                    "apiBase": stage.url("/v1"), "roles": ["chat"], "capabilities": ["tool_use", "image_input"],
                }],
                "mcpServers": [{"name": "toolpost", "command": "toolpost", "args": ["mcp", "--policy", "privileged"]}],
            });
            stage.home.write(".continue/config.yaml", settings.to_string());
        },
        command: |stage, wanted| {
            let mut command = stage.command(node());
            command
                .arg(npm(wanted).join("node_modules/@continuedev/cli/dist/cn.js"))
                .args(["-p", "--auto", TASK])
                .env("CONTINUE_TELEMETRY_ENABLED", "0");
            command
        },
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

    /// What the table says of it in this column.
    pub(super) fn answer(&self, column: Column) -> &'static str {
        match self.install {
            Err(why) if column == Column::Install => why,
            _ => self.otherwise.iter().find(|(one, _)| *one == column).map_or("yes", |(_, answer)| answer),
        }
    }
}
