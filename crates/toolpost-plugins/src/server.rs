//! What is known of a server before it is started: how it is reached, what it may take, which tools are wanted.

use crate::complaint::harmless;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use toolpost_core::text::{misspelling_of, wildcard};
use toolpost_process::StartCheck;

/// One MCP server, as some configuration file describes it, with every variable already put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name in the file; the first part of its tools' names.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// How long it may take from its start to its first list of tools; none: the default.
    pub start: Option<Duration>,
    /// How long one call may take; none: the default.
    pub call: Option<Duration>,
    /// Patterns of the tools that are wanted, by the server's own names or those under which they are offered; none: all of
    /// them.
    pub only: Option<Vec<String>>,
    /// Tools that are not wanted; they win over those that are.
    pub without: Vec<String>,
    /// What the server's own word on its tools is worth.
    pub hints: Hints,
    /// The file and line that describe it, for messages.
    pub origin: String,
    /// Runs before every start of a program.
    pub check: StartCheck,
}

/// What a server's annotations are worth. They are the word of a program that nobody has checked, so that only the
/// user may say that they are believed, never the server or a workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hints {
    /// Nothing: every tool requires `exec` and `network`, and people who are asked are shown what the server says.
    #[default]
    Ignored,
    /// A tool that is said to change nothing requires `read` alone, and `network` where it is said to reach out.
    Believed,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A child process that speaks over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables it gets beside the few that every child gets.
        env: BTreeMap<String, String>,
        /// Its folder; none: the workspace's root.
        cwd: Option<PathBuf>,
    },
    /// A streamable HTTP endpoint.
    Http {
        /// Its address.
        url: String,
        /// Headers sent with every request.
        headers: BTreeMap<String, String>,
    },
}

/// How long a server may take to start where nothing is said.
const START: Duration = Duration::from_secs(30);

/// How long a call may take where nothing is said.
const CALL: Duration = Duration::from_secs(60);

impl Server {
    pub(crate) fn start_limit(&self) -> Duration {
        self.start.unwrap_or(START)
    }

    pub(crate) fn call_limit(&self) -> Duration {
        self.call.unwrap_or(CALL)
    }

    /// Whether a tool is named as one that is not wanted.
    pub(crate) fn is_without(&self, tool: &str) -> bool {
        self.without.iter().any(|pattern| self.names(pattern, tool))
    }

    /// Whether a tool is wanted.
    pub(crate) fn wants(&self, tool: &str) -> bool {
        let is_named = |patterns: &Vec<String>| patterns.iter().any(|pattern| self.names(pattern, tool));
        !self.is_without(tool) && self.only.as_ref().is_none_or(is_named)
    }

    /// Whether a pattern names a tool of this server.
    fn names(&self, pattern: &str, tool: &str) -> bool {
        wildcard::name_matches(self.own_part(pattern), tool)
    }

    /// The part of a pattern that is about the server's own names: `mcp__files__read` and `files/read` mean `read`.
    fn own_part<'p>(&self, pattern: &'p str) -> &'p str {
        let pattern = pattern.trim();
        let offered = pattern.strip_prefix("mcp__").unwrap_or(pattern);
        let own = offered.strip_prefix(self.name.as_str());
        own.and_then(|own| own.strip_prefix("__").or_else(|| own.strip_prefix('/'))).unwrap_or(pattern)
    }

    /// What is wrong with the names of unwanted tools, held against all tools of the server: a name that no tool has, and that
    /// one nearly has, was to take that one away.
    pub(crate) fn misspelt_exclusion(&self, tools: &[&str]) -> Option<String> {
        self.without.iter().find_map(|pattern| {
            if tools.iter().any(|tool| self.names(pattern, tool)) {
                return None;
            }
            let own = self.own_part(pattern);
            // Several names in one text, a regular expression or a condition name no tool, whatever tools come.
            let is_sign = |letter: &char| {
                !letter.is_alphanumeric() && !matches!(letter, '_' | '-' | '.' | '/' | ':' | '@' | '*' | '?')
            };
            if let Some(sign) = own.chars().find(is_sign) {
                return Some(format!(
                    "`{}`, which is to be left out, has `{}` in it, which no tool's name has; write one name in each text of the list",
                    harmless(pattern),
                    sign.escape_default()
                ));
            }
            let near = misspelling_of(own, tools.iter().copied())?;
            Some(format!(
                "it has no tool `{}`, which is to be left out; did you mean `{near}`",
                harmless(pattern)
            ))
        })
    }
}
