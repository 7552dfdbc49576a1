//! The state of the user's data directory, for `doctor`. Nothing is written to find out.

use rustix::fs::Access;
use serde::Serialize;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What is known of the data directory.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DataDirectory {
    pub(crate) path: Option<PathBuf>,
    pub(crate) state: State,
    /// Permission bits in octal, where it exists.
    pub(crate) mode: Option<String>,
    /// The root that it lies in, if it does: tools could then change it.
    pub(crate) inside: Option<PathBuf>,
}

/// What it is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    /// There is no home directory to put it in.
    Homeless,
    /// It is made when it is first needed.
    NotYet,
    /// It can be written.
    Writable,
    /// It can be written, by others too.
    OpenToOthers,
    /// It cannot be written, or cannot be made.
    ReadOnly,
}

impl DataDirectory {
    /// Looks at it.
    pub(crate) fn inspect(path: Option<&Path>, roots: &[PathBuf]) -> DataDirectory {
        let Some(path) = path else {
            return DataDirectory { path: None, state: State::Homeless, mode: None, inside: None };
        };
        let is_writable = |path: &Path| rustix::fs::access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        let found = fs::metadata(path).ok();
        let mode = found.as_ref().map(|found| found.permissions().mode() & 0o7777);
        let state = match (&found, mode) {
            (Some(found), Some(mode)) => match found.is_dir() && is_writable(path) {
                true if mode & 0o022 != 0 => State::OpenToOthers,
                true => State::Writable,
                false => State::ReadOnly,
            },
            _ => {
                let above = path.ancestors().find(|folder| fs::symlink_metadata(folder).is_ok());
                match above.is_some_and(|above| above.is_dir() && is_writable(above)) {
                    true => State::NotYet,
                    false => State::ReadOnly,
                }
            }
        };
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let inside = roots.iter().find(|root| real(path).starts_with(real(root))).cloned();
        let mode = mode.map(|mode| format!("{mode:04o}"));
        DataDirectory { path: Some(path.to_path_buf()), state, mode, inside }
    }
}
