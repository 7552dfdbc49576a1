//! What is kept so that changes of files can be taken back.

use crate::text::Spliced;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a name holds, before a change or after it. The bytes of files are kept apart, by their hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Held {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// SHA-256 of the content in hexadecimal digits.
        hash: String,
        /// Size in bytes.
        size: u64,
        /// Permission bits; none where a new file got the usual ones.
        mode: Option<u32>,
    },
    /// A file that is too large to be kept.
    TooLarge {
        /// Size in bytes.
        size: u64,
    },
    /// A folder.
    Folder {
        /// Permission bits; none where a new folder got the usual ones.
        mode: Option<u32>,
    },
    /// A link.
    Link {
        /// Where it leads, as it is written.
        text: String,
    },
    /// What nobody can tell.
    Unknown,
}

/// Who has made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// A tool.
    Tool,
    /// A command that a tool ran.
    Command,
    /// A person who took changes back.
    Undo,
    /// A person who made changes again that were taken back.
    Redo,
}

/// A change that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChange {
    /// The canonical path of the workspace's root.
    pub workspace: String,
    /// The session of the call.
    pub session: String,
    /// The call.
    pub call: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Who makes it.
    pub kind: ChangeKind,
    /// Whether a command has made it, also where this takes it back: who runs commands could say anything.
    pub by_command: bool,
    /// When the name was first touched, in microseconds since 1970.
    pub touched_us: u64,
    /// Display name in the workspace.
    pub name: String,
    /// What is there before. What a command has put back is the same before and after, and is no change.
    pub before: Held,
    /// What is there after it.
    pub after: Held,
    /// The bytes that those two have not yet in the store, by their hash.
    pub contents: Vec<(String, Spliced)>,
    /// Of an undo or a redo: what it is about.
    pub takes: Takes,
}

/// Other changes that one is about, each by the number of its call and its number in the call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Takes {
    /// Taken back by it.
    pub undone: Vec<(u64, u64)>,
    /// They hold again because of it.
    pub redone: Vec<(u64, u64)>,
}

/// What became of a change that was kept before it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// Display name in the workspace.
    pub name: String,
    /// What is there after the call; none where it is the same as before.
    pub after: Option<Held>,
    /// The bytes of it.
    pub content: Option<Arc<[u8]>>,
}

/// A change that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptChange {
    /// The number of its call, which grows with time.
    pub set: u64,
    /// Its number in the call.
    pub number: u64,
    /// The session of the call.
    pub session: String,
    /// The call.
    pub call: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Who has made it.
    pub kind: ChangeKind,
    /// See [`NewChange::by_command`].
    pub by_command: bool,
    /// See [`NewChange::touched_us`].
    pub touched_us: u64,
    /// Whether it is certain that it was made: an undo may have been interrupted.
    pub is_done: bool,
    /// Display name in the workspace.
    pub name: String,
    /// What was there before.
    pub before: Held,
    /// What was there after it.
    pub after: Held,
    /// The number of the undo that took it back, if one did.
    pub undone_by: Option<u64>,
    /// Of an undo or a redo: what it is about.
    pub takes: Takes,
}

/// Which changes are wanted; all of a workspace, unless narrowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeQuery {
    /// The canonical path of the workspace's root.
    pub workspace: String,
    /// Of this call.
    pub call: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Of this name.
    pub name: Option<String>,
    /// Of calls after this number.
    pub after: Option<u64>,
    /// Of calls that were kept at this moment or later, in milliseconds; also what their commands have touched and put back.
    pub since_ms: Option<u64>,
    /// Taken back by this undo.
    pub undone_by: Option<u64>,
    /// By undos, redos (true) or by calls (false).
    pub is_undo: Option<bool>,
    /// Taken back, or not.
    pub is_undone: Option<bool>,
    /// Of undos that were interrupted.
    pub is_open: bool,
    /// Only those of the last call that has any.
    pub is_last: bool,
}

/// An undo, or a redo, that is finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The canonical path of the workspace's root.
    pub workspace: String,
    /// Its own call, whose changes were kept before they were made.
    pub call: String,
    /// Names of its own changes that were made; the others are forgotten.
    pub made: Vec<String>,
    /// The call for the log.
    pub of: String,
    /// Whether an undo was taken back.
    pub is_redo: bool,
}
