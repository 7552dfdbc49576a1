//! Locks beside a store: files that the system unlocks when their process ends.

#![expect(clippy::disallowed_methods, reason = "locks lie beside the store, outside every workspace")]

use crate::db::Failure;
use crate::hold::Lock;
use crate::url::HOLDS;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file that is locked; it goes with the lock.
struct LockFile {
    path: PathBuf,
    _file: File,
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Still locked: whoever opens a new one meanwhile has a lock of an attempt that is over.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The lock of this name beside the store; none where somebody else has it.
pub(super) fn of_file(store: &Path, name: &str) -> Result<Option<Lock>, Failure> {
    let folder = crate::url::with_ending(store, HOLDS);
    let broken = |error: &std::io::Error| {
        Failure::Broken(format!("no lock can be made in `{}`: {error}", folder.display()))
    };
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|error| broken(&error))?;
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '_' };
    let path = folder.join(name.chars().map(plain).collect::<String>());
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let file = file.map_err(|error| broken(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Box::new(LockFile { path, _file: file }))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(broken(&error)),
    }
}
