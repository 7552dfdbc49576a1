//! What is known of a server before it is started: how it is reached, what it may take, which tools are wanted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
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
    /// The tools that are wanted, by the server's own names; none: all of them.
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
        self.without.iter().any(|name| name == tool || name == "*")
    }

    /// Whether a tool is wanted.
    pub(crate) fn wants(&self, tool: &str) -> bool {
        let is_named = |names: &[String]| names.iter().any(|name| name == tool || name == "*");
        !is_named(&self.without) && self.only.as_deref().is_none_or(is_named)
    }
}
