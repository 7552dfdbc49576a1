//! Virtual files: versioned, and shared by all agents of a session.

use serde::Serialize;

/// A virtual file with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// What is known of it.
    pub about: FileVersion,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// One version of a virtual file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileVersion {
    /// The path, parts joined by `/`, without one at the beginning.
    pub path: String,
    /// From 1; a deletion counts.
    pub version: u64,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 of the content in hexadecimal digits; none for a deletion.
    pub hash: Option<String>,
    /// Permission bits.
    pub mode: u32,
    /// When it was made, in milliseconds since 1970.
    pub at_ms: u64,
    /// The agent that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The call that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// What is to become of a virtual file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path.
    pub path: String,
    /// The new content; none to delete the file.
    pub content: Option<Vec<u8>>,
    /// The version that must be the newest now, 0 for a file that must not be there. None where any will do.
    pub expected: Option<u64>,
    /// Permission bits; none to keep them.
    pub mode: Option<u32>,
}
