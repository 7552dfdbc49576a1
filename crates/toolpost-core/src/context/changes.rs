//! What a call changes, on its way to whoever keeps it for an undo.

use super::Context;
use crate::error::ToolError;
use crate::workspace::{CommandChange, Journal, SpoolFile};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use toolpost_text::hex;

impl Context {
    /// Whether somebody keeps what this call changes, so that it can be taken back.
    pub fn keeps_changes(&self) -> bool {
        self.call.journal.is_some()
    }

    /// A file, opened for appending, into which whoever runs a command for this call writes what is about to change, before
    /// it changes; none where nobody keeps it. Blocks.
    pub fn spool(&self) -> Result<Option<SpoolFile>, ToolError> {
        self.call.journal.as_ref().map_or(Ok(None), |journal| journal.spool())
    }

    /// Hands over what a command of this call has changed, so that it can be taken back. Blocks; what was handed over is
    /// safe when it returns.
    pub fn command_changed(&self, changes: Vec<CommandChange>) -> Result<(), ToolError> {
        self.call.journal.as_ref().map_or(Ok(()), |journal| journal.command_changed(changes))
    }

    /// Takes note of folders, by their display names, in which a command of this call has changed something that is not
    /// recorded, so that an undo does not cover it.
    pub fn leave_out_of_undo(&self, folders: Vec<String>) {
        if let Some(journal) = &self.call.journal {
            journal.leave_out(folders);
        }
    }

    /// The SHA-256, in hexadecimal digits, of a file's content before or after this call; computed unless the journal knows it.
    pub fn hash_of(&self, name: &str, content: &[u8]) -> String {
        let known = self.call.journal.as_ref().and_then(|journal| journal.hash_of(name, content));
        known.unwrap_or_else(|| hex(&Sha256::digest(content)))
    }

    pub(crate) fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.host.journal.as_ref()
    }
}
