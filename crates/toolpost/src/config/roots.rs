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

/// What the name of a workspace of virtual files begins with, before that of the session.
const VIRTUAL: &str = "vfs:";

/// The session that a workspace of virtual files names; none for a folder.
pub(crate) fn virtual_session(workspace: &Path) -> Option<&str> {
    workspace.to_str()?.strip_prefix(VIRTUAL)
}

/// The session whose virtual files the tools act on, if they do; empty for the session itself.
pub(crate) fn named_session(flags: &Flags) -> Result<Option<&str>, ToolError> {
    let named = flags.workspace.iter().find_map(|workspace| virtual_session(workspace));
    match named {
        Some(session) if flags.workspace.len() > 1 => {
            let message = format!(
                "`--workspace {VIRTUAL}{session}` cannot be combined with another workspace; name one of them"
            );
            Err(ToolError::new(Code::ValidationError, message))
        }
        named => Ok(named),
    }
}

/// The folders that flags name.
fn named_folders(flags: &Flags) -> Vec<&PathBuf> {
    flags.workspace.iter().filter(|workspace| virtual_session(workspace).is_none()).collect()
}

/// The folders that tools act in and, where these are virtual files, those that the configuration belongs to.
pub(crate) fn roots(flags: &Flags, environment: &Environment, cwd: &Path) -> Vec<PathBuf> {
    let named = named_folders(flags);
    if !named.is_empty() {
        return named.into_iter().map(|root| cwd.join(root)).collect();
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
    if !named_folders(flags).is_empty() || environment.workspace_root.is_some() {
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
    if !named_folders(flags).is_empty() {
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
