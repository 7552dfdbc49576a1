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
    /// Whether a call with these accesses changes a file that it names.
    pub(super) fn are_needed(accesses: &[Access]) -> bool {
        accesses.iter().any(|access| written(access).is_some())
    }

    /// No turn of its own: only those of the calls above.
    pub(super) fn of(ctx: &Context) -> Turns {
        Turns { held: ctx.running().held.clone(), _locks: Vec::new() }
    }

    /// Waits for all turns, always in the same order, so that no two calls wait for each other; at most `limit`.
    pub(super) async fn take(
        ctx: &Context,
        tool: &str,
        limit: Duration,
        accesses: &[Access],
    ) -> Result<Turns, ToolError> {
        let above = &ctx.running().held;
        let mut paths = BTreeMap::new();
        for path in accesses.iter().filter_map(written) {
            let path = WorkspacePath::new(path);
            let name = match resolved(&**ctx.host_workspace(), &path).await {
                Ok(name) => name,
                // A command may write to folders of its own; a file tool is refused when it opens the file.
                Err(error) if error.code() == Code::PathEscape => continue,
                Err(error) => return Err(error),
            };
            paths.insert(name, path);
        }
        // A command has a guard that takes these turns by itself.
        let is_command = accesses.iter().any(|access| matches!(access.resource, Resource::Command(_)));
        let mut turns: BTreeMap<String, Turn<'_>> =
            paths.iter().map(|(name, path)| (name.clone(), Turn::File(path))).collect();
        if !is_command {
            for folder in paths.keys().flat_map(|name| ctx.host_workspace().possible_repositories(name)) {
                turns.entry(folder).or_insert(Turn::Repository);
            }
        }
        let all = async {
            let mut locks = Vec::with_capacity(turns.len());
            for (name, turn) in &turns {
                locks.push(match (above.get(name), turn) {
                    (Some(turn), _) => Lock::new(turn.clone().lock_owned().await),
                    (None, Turn::File(path)) => ctx.host_workspace().lock(path).await?,
                    (None, Turn::Repository) => {
                        ctx.host_workspace().lock_repository(&WorkspacePath::new(name.as_str())).await?
                    }
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
        held.extend(turns.into_keys().map(|name| (name, Arc::default())));
        Ok(Turns { held: Arc::new(held), _locks: locks })
    }
}

/// What a turn is for.
enum Turn<'a> {
    /// Changing a file.
    File(&'a WorkspacePath),
    /// Making a repository of a folder.
    Repository,
}

/// The file that an access changes.
fn written(access: &Access) -> Option<&str> {
    match (access.action, &access.resource) {
        (Capability::Write, Resource::Path(path)) => Some(path),
        _ => None,
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
