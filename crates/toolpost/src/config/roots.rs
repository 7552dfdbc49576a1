//! Which folders are the workspace, and why.

use super::env::Environment;
use super::private;
use crate::cli::Flags;
use std::path::{Path, PathBuf};
use toolpost_core::{Code, ToolError};
use toolpost_disk::Disk;

/// The folder the process stands in.
pub(crate) fn cwd(environment: &Environment) -> Result<PathBuf, ToolError> {
    environment.cwd.clone().ok_or_else(|| {
        ToolError::new(Code::FileNotFound, "the current folder is gone; change to one that exists")
    })
}

/// The folders that tools act in.
pub(crate) fn roots(flags: &Flags, environment: &Environment, cwd: &Path) -> Vec<PathBuf> {
    if !flags.workspace.is_empty() {
        return flags.workspace.iter().map(|root| cwd.join(root)).collect();
    }
    match &environment.workspace_root {
        Some(root) => vec![cwd.join(root)],
        None => vec![own_repository(cwd).unwrap_or(cwd).to_path_buf()],
    }
}

/// Opens the folders; a refusal names the flag.
pub(crate) fn open_disk(roots: impl IntoIterator<Item = PathBuf>) -> Result<Disk, ToolError> {
    Disk::open(roots).map_err(|error| {
        ToolError::new(error.code(), format!("{}; give a folder with `--workspace DIR`", error.message()))
    })
}

/// The warning when the enclosing repository belongs to another user, who could have put it there to make the workspace
/// larger. As in git, it is not used unless the user names it.
pub(crate) fn foreign_repository(flags: &Flags, environment: &Environment, cwd: &Path) -> Option<String> {
    if !flags.workspace.is_empty() || environment.workspace_root.is_some() {
        return None;
    }
    let folder = enclosing_repository(cwd).filter(|folder| is_foreign_repository(folder))?;
    let (shown, cwd) = (folder.display(), cwd.display());
    Some(format!(
        "`{shown}/.git` belongs to another user, so that repository is not taken for the workspace, which is `{cwd}`; \
         if you trust its owner, name it with `--workspace {shown}`"
    ))
}

fn is_foreign_repository(folder: &Path) -> bool {
    private::is_foreign(folder) || private::is_foreign(&folder.join(".git"))
}

/// The enclosing repository, unless it belongs to somebody else.
fn own_repository(cwd: &Path) -> Option<&Path> {
    enclosing_repository(cwd).filter(|folder| !is_foreign_repository(folder))
}

/// What made these folders the workspace.
pub(crate) fn roots_origin(flags: &Flags, environment: &Environment, cwd: &Path) -> &'static str {
    if !flags.workspace.is_empty() {
        return "--workspace";
    }
    match (&environment.workspace_root, own_repository(cwd)) {
        (Some(_), _) => "AGENT_WORKSPACE_ROOT",
        (None, Some(_)) => "the enclosing repository",
        (None, None) => "the current folder",
    }
}

/// The nearest folder upwards that git manages.
fn enclosing_repository(from: &Path) -> Option<&Path> {
    from.ancestors().find(|folder| folder.join(".git").exists())
}
