//! The turns of a call: writers to one file come one after another, readers do not wait.

use crate::access::{Access, Resource};
use crate::capability::Capability;
use crate::context::{Context, Held};
use crate::error::{Code, ToolError};
use crate::workspace::{Lock, Workspace, WorkspacePath};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The turn to change every file that a call names, until this is dropped.
#[derive(Default)]
pub(super) struct Turns {
    /// What the calls that this call makes take turns by, instead of waiting for their own parent.
    pub(super) held: Held,
    _locks: Vec<Lock>,
}

impl Turns {
    /// Waits for all turns, always in the same order, so that no two calls wait for each other; at most `limit`.
    pub(super) async fn take(
        ctx: &Context,
        tool: &str,
        limit: Duration,
        accesses: &[Access],
    ) -> Result<Turns, ToolError> {
        let above = &ctx.running().held;
        let mut paths = BTreeMap::new();
        for access in accesses {
            if let (Capability::Write, Resource::Path(path)) = (access.action, &access.resource) {
                let path = WorkspacePath::new(path.clone());
                let name = resolved(&**ctx.host_workspace(), &path).await?;
                paths.insert(name, path);
            }
        }
        if paths.is_empty() {
            return Ok(Turns { held: above.clone(), _locks: Vec::new() });
        }
        let all = async {
            let mut locks = Vec::with_capacity(paths.len());
            for (name, path) in &paths {
                locks.push(match above.get(name) {
                    Some(turn) => Lock::new(turn.clone().lock_owned().await),
                    None => ctx.host_workspace().lock(path).await?,
                });
            }
            Ok(locks)
        };
        let locks = tokio::select! {
            biased;
            () = ctx.cancel().cancelled() => return Err(super::run::cancelled(tool)),
            locks = tokio::time::timeout(limit, all) => locks.unwrap_or_else(|_| Err(late(tool, limit, paths.values())))?,
        };
        let mut held = (**above).clone();
        held.extend(paths.into_keys().map(|name| (name, Arc::default())));
        Ok(Turns { held: Arc::new(held), _locks: locks })
    }
}

/// One name for every spelling of a file, links followed as far as the path exists; absolute, so that the order is
/// the same in workspaces of other roots.
async fn resolved(workspace: &dyn Workspace, path: &WorkspacePath) -> Result<String, ToolError> {
    let name = match workspace.stat(path).await {
        Ok(stat) => stat.name,
        Err(_) => {
            let spelled = workspace.name(path)?;
            match spelled.rsplit_once('/') {
                Some((folder, last)) if !folder.is_empty() => {
                    let above = Box::pin(resolved(workspace, &WorkspacePath::new(folder))).await?;
                    format!("{above}/{last}")
                }
                _ => spelled,
            }
        }
    };
    Ok(match name.starts_with('/') {
        true => name,
        false => format!("{}/{name}", workspace.root().trim_end_matches('/')),
    })
}

fn late<'a>(tool: &str, limit: Duration, paths: impl Iterator<Item = &'a WorkspacePath>) -> ToolError {
    let paths: Vec<String> = paths.take(5).map(|path| format!("`{path}`")).collect();
    let message = format!(
        "`{tool}` waited {} for its turn to change {}, which another call is changing; try again",
        super::run::shown(limit),
        paths.join(", ")
    );
    ToolError::new(Code::Timeout, message).retryable()
}
