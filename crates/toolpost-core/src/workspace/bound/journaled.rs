//! What is there before a change, found and handed to the journal of the session.

use crate::error::{Code, ToolError};
use crate::workspace::{Before, Journal, Kind, Pending, PendingKind, Workspace, WorkspacePath};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A journal, and whose changes it is told.
pub(crate) struct Journaled {
    journal: Arc<dyn Journal>,
    session: String,
    call: String,
    /// What was handed over already: a name is as it was before the call only once.
    told: Mutex<HashSet<String>>,
}

impl Journaled {
    pub(crate) fn new(journal: &Arc<dyn Journal>, session: &str, call: &str) -> Journaled {
        let (session, call) = (session.to_owned(), call.to_owned());
        Journaled { journal: Arc::clone(journal), session, call, told: Mutex::default() }
    }

    /// Hands over what is there. Whatever cannot be handed over is not changed.
    pub(super) async fn before(
        &self,
        workspace: &dyn Workspace,
        path: &WorkspacePath,
        kind: PendingKind,
    ) -> Result<(), ToolError> {
        let (name, before) = look(workspace, path, &kind).await?;
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
            return Ok(());
        }
        let told = name.clone();
        let change = Pending { session: self.session.clone(), call: self.call.clone(), name, kind, before };
        let journal = Arc::clone(&self.journal);
        tokio::task::spawn_blocking(move || journal.before(change))
            .await
            .map_err(|error| ToolError::execution(format!("the journal stopped: {error}")))??;
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(told);
        Ok(())
    }
}

/// What is there, by the name that the change is about: a write follows links, the other changes do not.
async fn look(
    workspace: &dyn Workspace,
    path: &WorkspacePath,
    kind: &PendingKind,
) -> Result<(String, Before), ToolError> {
    let spelled = workspace.name(path)?;
    if matches!(kind, PendingKind::Remove | PendingKind::Rename { .. })
        && let Some(text) = workspace.link(path).await
    {
        return Ok((spelled, Before::Link(Some(text))));
    }
    match workspace.stat(path).await {
        Ok(stat) if stat.kind == Kind::Folder => Ok((stat.name, Before::Folder)),
        Ok(_) => {
            let file = workspace.open(path).await?;
            Ok((file.stat.name.clone(), Before::File(file)))
        }
        Err(error) if error.code() == Code::FileNotFound => Ok((spelled, Before::Absent)),
        Err(error) => Err(error),
    }
}
