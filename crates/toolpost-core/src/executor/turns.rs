//! The turns of a call: writers to one file come one after another, readers do not wait.

use crate::access::{Access, Resource};
use crate::capability::Capability;
use crate::context::{Context, Held};
use crate::error::{Code, ToolError};
use crate::workspace::{Lock, LockRequest, Workspace, WorkspacePath};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a call waits for its turn before it says so.
const QUIET: Duration = Duration::from_secs(1);

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
        let written: Vec<WorkspacePath> =
            accesses.iter().filter_map(written).map(WorkspacePath::new).collect();
        // A command has a guard that takes the turns of repositories by itself.
        let is_command = accesses.iter().any(|access| matches!(access.resource, Resource::Command(_)));
        let Wanted { paths, turns } = ctx.blocking(move |ctx| Wanted::of(ctx, written, is_command)).await?;
        let mut held = (*ctx.running().held).clone();
        held.extend(turns.keys().map(|name| (name.clone(), Arc::default())));
        let all = async {
            let mut locks = Vec::with_capacity(turns.len());
            for turn in turns.into_values() {
                locks.push(match turn {
                    Turn::Above(turn) => Lock::new(turn.lock_owned().await),
                    Turn::Requested(request) => request.wait().await?,
                });
            }
            Ok::<_, ToolError>(locks)
        };
        let waiting = async {
            let mut all = std::pin::pin!(all);
            if let Ok(locks) = tokio::time::timeout(QUIET, &mut all).await {
                return locks;
            }
            let others = blocking(ctx, &paths).await;
            ctx.progress(format!("waits for its turn to change {others}"), serde_json::Value::Null);
            all.await
        };
        let locks = tokio::select! {
            biased;
            () = ctx.cancel().cancelled() => return Err(super::run::cancelled(tool)),
            locks = tokio::time::timeout(limit, waiting) => locks,
        };
        let Ok(locks) = locks else { return Err(late(tool, limit, &blocking(ctx, &paths).await)) };
        Ok(Turns { held: Arc::new(held), _locks: locks? })
    }
}

/// The turns that a call needs.
struct Wanted {
    /// The files, by their resolved names.
    paths: BTreeMap<String, WorkspacePath>,
    /// By the resolved name of the file or folder, so that all calls wait in the same order.
    turns: BTreeMap<String, Turn>,
}

enum Turn {
    /// Among the calls of a call that has the turn itself.
    Above(Arc<tokio::sync::Mutex<()>>),
    Requested(LockRequest),
}

impl Wanted {
    /// Asks for the turns to change these files, and to make repositories of folders by that.
    fn of(ctx: &Context, written: Vec<WorkspacePath>, is_command: bool) -> Result<Wanted, ToolError> {
        let (workspace, above) = (ctx.host_workspace(), &ctx.running().held);
        let mut paths = BTreeMap::new();
        for path in written {
            match resolved(&**workspace, &path) {
                Ok(name) => paths.insert(name, path),
                // A command may write to folders of its own; a file tool is refused when it opens the file.
                Err(error) if error.code() == Code::PathEscape => continue,
                Err(error) => return Err(error),
            };
        }
        let mut turns = BTreeMap::new();
        for (name, path) in &paths {
            let turn = match above.get(name) {
                Some(turn) => Turn::Above(Arc::clone(turn)),
                None => Turn::Requested(workspace.lock(path)?),
            };
            turns.insert(name.clone(), turn);
        }
        let folders = paths.keys().filter(|_| !is_command);
        for folder in folders.flat_map(|name| workspace.possible_repositories(name)) {
            if turns.contains_key(&folder) {
                continue;
            }
            let turn = match above.get(&folder) {
                Some(turn) => Turn::Above(Arc::clone(turn)),
                None => Turn::Requested(workspace.lock_repository(&WorkspacePath::new(folder.as_str()))?),
            };
            turns.insert(folder, turn);
        }
        Ok(Wanted { paths, turns })
    }
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
fn resolved(workspace: &dyn Workspace, path: &WorkspacePath) -> Result<String, ToolError> {
    let name = match workspace.stat(path) {
        Ok(stat) => stat.name,
        Err(_) => {
            let spelled = workspace.name(path)?;
            match spelled.rsplit_once('/') {
                Some((folder, last)) if !folder.is_empty() => {
                    let above = resolved(workspace, &WorkspacePath::new(folder))?;
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

/// The files of a call with who is changing them, in words.
async fn blocking(ctx: &Context, paths: &BTreeMap<String, WorkspacePath>) -> String {
    let paths: Vec<WorkspacePath> = paths.values().take(5).cloned().collect();
    let look = move |ctx: &Context| -> Result<(String, Option<String>), ToolError> {
        let holder = paths.iter().find_map(|path| ctx.host_workspace().holder(path));
        Ok((paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", "), holder))
    };
    let (names, holder) = ctx.blocking(look).await.unwrap_or_default();
    let holder = holder.unwrap_or_else(|| "another call of this process".to_owned());
    format!("{names}, which {holder} is changing")
}

fn late(tool: &str, limit: Duration, others: &str) -> ToolError {
    let waited = super::run::shown(limit);
    let message =
        format!("`{tool}` waited {waited} for its turn to change {others}; try again when that has ended");
    ToolError::new(Code::Timeout, message).retryable()
}
