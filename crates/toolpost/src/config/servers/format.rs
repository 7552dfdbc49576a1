//! How each program writes down its servers: under which key, by which words. Everything that differs is in the tables
//! here; what the words mean is the same for all.

use super::expand::Way;
use crate::config::hosts::Host;

/// Whose manner a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// `mcpServers` of toolpost's own configuration.
    Own,
    /// `.mcp.json`, and the same in Claude Code's own file.
    Claude,
    Codex,
    Gemini,
    Opencode,
    Vscode,
    Cursor,
}

/// The unit of a number that is a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// A text with its unit, such as `30s`.
    Written,
    Milliseconds,
    Seconds,
}

/// The words of a format.
pub(super) struct Words {
    /// The table of servers.
    pub(super) table: &'static str,
    pub(super) environment: &'static str,
    pub(super) headers: &'static str,
    /// Keys of the address, the first that is there counts.
    pub(super) address: &'static [&'static str],
    /// Keys of the tools that are wanted, and of those that are not. Each that is there counts.
    pub(super) only: &'static [&'static str],
    pub(super) without: &'static [&'static str],
    /// Keys of times: for the start, for a call.
    pub(super) start: &'static [(&'static str, Unit)],
    pub(super) call: &'static [(&'static str, Unit)],
    /// Keys that mean something to that program and nothing here.
    pub(super) passed_over: &'static [&'static str],
    pub(super) way: Way,
}

/// What different programs call these lists. A server in a file of another program may have any of them, as such files are
/// often written for several programs.
const ONLY: &[&str] = &["includeTools", "enabled_tools", "enabledTools", "allowedTools"];
const WITHOUT: &[&str] = &["excludeTools", "disabled_tools", "disabledTools", "disallowedTools"];

const PLAIN: Words = Words {
    table: "mcpServers",
    environment: "env",
    headers: "headers",
    address: &["url"],
    only: ONLY,
    without: WITHOUT,
    start: &[],
    call: &[("timeout", Unit::Milliseconds)],
    passed_over: &[],
    way: Way::Braces,
};

impl Format {
    pub(crate) fn of(host: Host) -> Format {
        match host {
            Host::Codex => Format::Codex,
            Host::Gemini => Format::Gemini,
            Host::Opencode => Format::Opencode,
            Host::Vscode => Format::Vscode,
            Host::Cursor => Format::Cursor,
            // The files of the last four are written and never read.
            Host::Claude | Host::Zed | Host::Qwen | Host::Cline | Host::Copilot => Format::Claude,
        }
    }

    pub(crate) fn is_toml(self) -> bool {
        matches!(self, Format::Own | Format::Codex)
    }

    pub(super) fn words(self) -> &'static Words {
        match self {
            Format::Own => &Words {
                only: &["includeTools"],
                without: &["excludeTools"],
                start: &[("startTimeout", Unit::Written)],
                call: &[("timeout", Unit::Written)],
                ..PLAIN
            },
            Format::Claude => {
                &Words { passed_over: &["oauth", "headersHelper", "alwaysLoad", "description"], ..PLAIN }
            }
            Format::Cursor => &Words { passed_over: &["auth", "description", "autoApprove"], ..PLAIN },
            Format::Vscode => &Words {
                table: "servers",
                call: &[],
                passed_over: &["dev", "gallery", "version", "sandboxEnabled", "sandbox", "oauth"],
                ..PLAIN
            },
            Format::Gemini => &Words {
                address: &["httpUrl", "url"],
                passed_over: &[
                    "trust",
                    "description",
                    "oauth",
                    "authProviderType",
                    "targetAudience",
                    "targetServiceAccount",
                    "extension",
                    "extensionName",
                ],
                way: Way::Dollars,
                ..PLAIN
            },
            Format::Codex => &Words {
                table: "mcp_servers",
                headers: "http_headers",
                start: &[("startup_timeout_sec", Unit::Seconds), ("startup_timeout_ms", Unit::Milliseconds)],
                call: &[("tool_timeout_sec", Unit::Seconds)],
                passed_over: &[
                    "required",
                    "oauth",
                    "oauth_resource",
                    "scopes",
                    "default_tools_approval_mode",
                    "supports_parallel_tool_calls",
                    "experimental_environment",
                ],
                way: Way::Nothing,
                ..PLAIN
            },
            Format::Opencode => &Words {
                table: "mcp",
                environment: "environment",
                start: &[("timeout", Unit::Milliseconds)],
                call: &[],
                passed_over: &["oauth"],
                way: Way::Curly,
                ..PLAIN
            },
        }
    }
}
