//! What a file was before a tool changed it, handed over before the change shows.
//!
//! Who keeps it, and for how long, is the journal's own business; here is only the door.

use super::File;
use crate::error::ToolError;
use std::sync::Arc;

/// Keeps what is needed to take a change back.
///
/// Implemented by stores and tests; called by the workspace of a running call before each change, never in a dry run,
/// and once a call for each name: what the call itself made of it is nothing to go back to. A call that is refused or
/// fails later may have handed over what it then did not change. An error refuses the change, and nothing has happened.
pub trait Journal: Send + Sync {
    /// Called where blocking is allowed, and followed by [`Journal::settle`] before the change shows.
    fn before(&self, change: Pending) -> Result<(), ToolError>;

    /// Waits until everything that was told of a call is safe. What changes together is told together, and new content is
    /// made meanwhile, so that several changes cost one wait.
    fn settle(&self, session: &str, call: &str) -> Result<(), ToolError> {
        let _ = (session, call);
        Ok(())
    }

    /// Whether anything is kept. Where not, nothing is told, and calls that change something say that they cannot be undone.
    fn is_kept(&self) -> bool {
        true
    }

    /// Bytes of the largest file that is kept. A call that changes a larger one says that it cannot be undone.
    fn largest(&self) -> u64 {
        u64::MAX
    }

    /// What a change has made of a name, told as soon as it is there. Whoever takes the change back later knows by it
    /// whether somebody else has changed the file since. Called where blocking is allowed, for every change.
    fn after(&self, change: Changed) -> Result<(), ToolError> {
        let _ = change;
        Ok(())
    }

    /// The SHA-256, in hexadecimal digits, of the content that a file had before a call or has after it, if the journal
    /// knows that it is this content, so that it is not computed twice.
    fn hash_of(&self, call: &str, name: &str, content: &[u8]) -> Option<String> {
        let _ = (call, name, content);
        None
    }

    /// A call that has handed something over is done; told once, where blocking is allowed. A call whose caller went
    /// away, or whose process died, has no end.
    fn ended(&self, session: &str, call: &str, is_success: bool) -> Result<(), ToolError> {
        let _ = (session, call, is_success);
        Ok(())
    }

    /// A file, opened for appending, into which whoever runs the command of a call writes what is about to change, before
    /// it changes. None where nobody would read it. What is left of it by a process that died is taken over later.
    fn spool(&self, session: &str, call: &str) -> Result<Option<SpoolFile>, ToolError> {
        let _ = (session, call);
        Ok(None)
    }

    /// A command has ended that has changed this, all of it or nothing is kept; afterwards the spool of the call is not
    /// needed any more. Called where blocking is allowed. What it was told is safe when it returns.
    fn command_changed(
        &self,
        session: &str,
        call: &str,
        changes: Vec<CommandChange>,
    ) -> Result<(), ToolError> {
        let _ = (session, call, changes);
        Ok(())
    }
}

/// An open file for what a command is about to change. Nothing is opened here: it is only handed on.
pub type SpoolFile = std::fs::File;

/// What a command has made of one name that it has touched; it may be what was there before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandChange {
    /// Display name in the workspace.
    pub name: String,
    /// When the command first touched it, in microseconds since 1970.
    pub at_us: u64,
    /// What was there when the command began.
    pub before: CommandBefore,
    /// What was there when it had ended.
    pub after: CommandBefore,
}

/// What was there before a command or after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandBefore {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// Its bytes.
        content: Arc<[u8]>,
        /// Permission bits.
        mode: u32,
    },
    /// A file that is too large to be kept: the change cannot be taken back.
    TooLarge {
        /// Bytes.
        bytes: u64,
    },
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A link, with its text.
    Link(String),
    /// What the command has left is not known: somebody else has changed it too, it came from where nothing is recorded, or
    /// it is no file.
    Unknown,
}

/// A change that has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// The session of the call.
    pub session: String,
    /// The call.
    pub call: String,
    /// Display name of what has changed, as in [`Pending::name`].
    pub name: String,
    /// What is there now.
    pub after: After,
}

/// What is there after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum After {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// The content: the same allocation as in [`Pending::content`] if it was announced with this change.
        content: Arc<[u8]>,
        /// Permission bits, where the workspace has any.
        mode: Option<u32>,
    },
    /// The same as before the call: the change was taken back.
    AsBefore,
    /// A folder.
    Folder,
    /// What had this name before.
    Moved {
        /// The old display name.
        from: String,
    },
}

/// A change that is about to happen.
#[derive(Debug)]
#[non_exhaustive]
pub struct Pending {
    /// The session of the call.
    pub session: String,
    /// The call.
    pub call: String,
    /// Display name of what changes, links followed where the change follows them.
    pub name: String,
    /// What is about to happen to it.
    pub kind: PendingKind,
    /// What is there now.
    pub before: Before,
    /// What the file is to hold in the end, where that is known: for a rename, the file of the new name.
    pub content: Option<Arc<[u8]>>,
    /// Permission bits that a new file is expected to get, where that is known.
    pub new_mode: Option<u32>,
}

/// What is about to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PendingKind {
    /// Other content, or a new file.
    Write,
    /// It goes.
    Remove,
    /// It gets another name. What that name held before is handed over as a [`PendingKind::Write`] of its own.
    Rename {
        /// The new display name.
        to: String,
    },
    /// A folder is made.
    CreateFolder,
}

/// What is there before a change.
#[derive(Debug)]
#[non_exhaustive]
pub enum Before {
    /// Nothing.
    Absent,
    /// A file, opened: it gives the old bytes whatever happens to its name.
    File(File),
    /// A folder; only empty ones are removed, and a rename keeps what is in it.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A link, with the text that it holds where the workspace can tell.
    Link(Option<String>),
}

/// For where nothing is kept: calls that change something say so.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn before(&self, _: Pending) -> Result<(), ToolError> {
        Ok(())
    }

    fn is_kept(&self) -> bool {
        false
    }
}
