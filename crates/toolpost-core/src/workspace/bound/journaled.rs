//! What is there before a change, found and handed to the journal of the session.

use crate::error::{Code, ToolError};
use crate::workspace::{
    After, Before, Changed, CommandChange, Journal, Kind, Pending, PendingKind, Workspace, WorkspacePath,
};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use toolpost_text::hex;

/// A journal, and whose changes it is told.
pub(crate) struct Journaled {
    journal: Arc<dyn Journal>,
    session: String,
    call: String,
    /// What was handed over already: a name is as it was before the call only once.
    told: Mutex<HashSet<String>>,
    /// Whether a command of the call has handed anything over.
    is_command: AtomicBool,
}

impl Journaled {
    pub(crate) fn new(journal: &Arc<dyn Journal>, session: &str, call: &str) -> Journaled {
        let (session, call) = (session.to_owned(), call.to_owned());
        Journaled {
            journal: Arc::clone(journal),
            session,
            call,
            told: Mutex::default(),
            is_command: AtomicBool::new(false),
        }
    }

    /// Hands over what is there. Whatever cannot be handed over is not changed.
    pub(super) fn before(
        &self,
        workspace: &dyn Workspace,
        path: &WorkspacePath,
        kind: PendingKind,
    ) -> Result<(), ToolError> {
        let (name, before) = look(workspace, path, &kind)?;
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
            return Ok(());
        }
        let told = name.clone();
        let change = Pending { session: self.session.clone(), call: self.call.clone(), name, kind, before };
        self.journal.before(change)?;
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(told);
        Ok(())
    }
}

impl Journaled {
    /// Tells what a change has made of a name.
    pub(super) fn after(&self, name: String, after: After) -> Result<(), ToolError> {
        let change = Changed { session: self.session.clone(), call: self.call.clone(), name, after };
        self.journal.after(change)
    }

    /// Whether the call has handed anything over.
    pub(crate) fn has_changes(&self) -> bool {
        self.is_command.load(Ordering::Acquire)
            || !self.told.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Where a command writes what is about to change.
    pub(crate) fn spool(&self) -> Result<Option<std::fs::File>, ToolError> {
        let spool = self.journal.spool(&self.session, &self.call)?;
        self.is_command.fetch_or(spool.is_some(), Ordering::AcqRel);
        Ok(spool)
    }

    /// Tells what a command has changed.
    pub(crate) fn command_changed(&self, changes: Vec<CommandChange>) -> Result<(), ToolError> {
        self.is_command.store(true, Ordering::Release);
        self.journal.command_changed(&self.session, &self.call, changes)
    }

    /// Tells that the call, which has handed something over, is done.
    pub(crate) fn end(&self, is_success: bool) -> Result<(), ToolError> {
        self.journal.ended(&self.session, &self.call, is_success)
    }
}

/// A file of this content.
pub(super) fn file(content: &[u8]) -> After {
    After::File { bytes: content.len() as u64, hash: hex(&Sha256::digest(content)) }
}

/// What is there, by the name that the change is about: a write follows links, the other changes do not.
fn look(
    workspace: &dyn Workspace,
    path: &WorkspacePath,
    kind: &PendingKind,
) -> Result<(String, Before), ToolError> {
    let spelled = workspace.name(path)?;
    if matches!(kind, PendingKind::Remove | PendingKind::Rename { .. })
        && let Some(text) = workspace.link(path)
    {
        return Ok((spelled, Before::Link(Some(text))));
    }
    match workspace.stat(path) {
        Ok(stat) if stat.kind == Kind::Folder => Ok((stat.name, Before::Folder)),
        Ok(_) => {
            let file = workspace.open(path)?;
            Ok((file.stat.name.clone(), Before::File(file)))
        }
        Err(error) if error.code() == Code::FileNotFound => Ok((spelled, Before::Absent)),
        Err(error) => Err(error),
    }
}
