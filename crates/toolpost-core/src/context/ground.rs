//! What the policy leaves of the disk for a command that a tool starts.

use super::Context;
use crate::capability::Capability;
use crate::error::{Code, ToolError};
use crate::policy::{self, Protected};
use crate::workspace::{Guard, Mark, Marked, Surveyor};
use std::sync::Arc;

/// What a command may see and change, by absolute paths. A sandbox is made from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// The roots of the workspace.
    pub roots: Vec<String>,
    /// Whether they may be changed, apart from what is marked.
    pub is_writable: bool,
    /// Whether the network may be reached; never in a dry run.
    pub has_network: bool,
    /// What exists and is locked or hidden, each folder before what is in it.
    pub marked: Vec<Marked>,
    /// Names that may not come to be in the roots, as in [`Protected::pattern`].
    pub reserved: Vec<String>,
}

/// What holds a command to its ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// A sandbox: what is marked and reserved is looked for.
    Confined,
    /// Nothing: only the roots are told.
    Free,
}

impl Context {
    /// What the policy leaves of the disk for a command of this call.
    ///
    /// A fault where the workspace is not on disk: there is nothing that a command could see.
    pub async fn ground(&self, reach: Reach) -> Result<Ground, ToolError> {
        let not_on_disk = || {
            ToolError::new(
                Code::ExecutionError,
                "commands need a workspace on disk, and this one is kept elsewhere; use the file tools",
            )
        };
        let guard = self.call.guard.clone().ok_or_else(not_on_disk)?;
        // What leaves the machine cannot be thrown away.
        let has_network = self.granted(Capability::Network) && !self.is_dry_run();
        let surveyor = Arc::new(Judge { guard: Arc::clone(&guard), hides_sockets: !has_network });
        let survey = self.host_workspace().survey(surveyor).ok_or_else(not_on_disk)?;
        let (marked, reserved) = match reach {
            Reach::Confined => (survey.await?, reserved(guard.as_ref())),
            Reach::Free => (Vec::new(), Vec::new()),
        };
        Ok(Ground {
            roots: self.host_workspace().roots(),
            is_writable: self.granted(Capability::Write) && guard.is_open_to_commands(Capability::Write, "."),
            has_network,
            marked,
            reserved,
        })
    }
}

struct Judge {
    guard: Arc<dyn Guard>,
    hides_sockets: bool,
}

impl Surveyor for Judge {
    fn mark(&self, name: &str) -> Mark {
        if !self.guard.is_open_to_commands(Capability::Read, name) {
            Mark::Hidden
        } else if !self.guard.is_open_to_commands(Capability::Write, name) {
            Mark::Locked
        } else {
            Mark::Free
        }
    }

    fn hides_sockets(&self) -> bool {
        self.hides_sockets
    }
}

/// Parts of a repository that choose what git runs, beside those of the list. The rest of it is git's own to write.
const OF_GIT: &[&str] = &[
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules/*/config",
    ".git/modules/*/hooks",
    ".git/worktrees/*/config.worktree",
];

/// The protected names that no rule has opened.
fn reserved(guard: &dyn Guard) -> Vec<String> {
    let is_whole_repository = |row: &&Protected| matches!(row.pattern, ".git" | "git~1");
    let listed = policy::protected()
        .iter()
        .filter(|row| row.action == Capability::Write && !is_whole_repository(row))
        .map(|row| row.pattern);
    // Almost always nothing has been opened, and to ask for each name would cost more than a short command.
    let may_be_open = guard.may_open_protected();
    listed
        .chain(OF_GIT.iter().copied())
        .filter(|pattern| {
            !may_be_open || !guard.is_open_to_commands(Capability::Write, &pattern.replace('*', "x"))
        })
        .map(str::to_owned)
        .collect()
}
