//! What is known of a server before it is started: how it is reached, what it may take, which tools are wanted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

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
    /// The file and line that describe it, for messages.
    pub origin: String,
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
