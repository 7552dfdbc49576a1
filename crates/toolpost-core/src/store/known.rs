//! What sessions have seen of files.

use crate::host::KnownVersion;

/// What a session has last seen of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// The canonical path of the workspace's root.
    pub workspace: String,
    /// The session.
    pub session: String,
    /// The run of the agent that has seen it; empty outside of one.
    pub activation: String,
    /// Display name in the workspace.
    pub name: String,
    /// When, in microseconds since 1970: of two, the later one holds.
    pub at_us: u64,
    /// What was seen; none where the session has removed the file.
    pub version: Option<KnownVersion>,
}
