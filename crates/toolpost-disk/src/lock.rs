//! Turns between processes: one lock file for each file being changed, in a directory of the user's.
//!
//! Waiting is a loop of attempts with short sleeps between them, so that giving up is dropping the future.

use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, flock, fstat, mkdirat, open, openat, statat, unlinkat,
};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::{Code, ToolError};

/// Where lock files lie. Every process that is to take turns must be given the same directory.
#[derive(Debug, Clone)]
pub struct Locks {
    folder: Arc<PathBuf>,
}

impl Locks {
    /// Lock files under `dir`, which is made, for its owner alone, when the first lock is taken.
    pub fn new(dir: PathBuf) -> Locks {
        Locks { folder: Arc::new(dir) }
    }

    /// Waits until no other process holds `key`, which must be fit for a file name.
    pub(super) async fn take(&self, key: String) -> Result<Held, ToolError> {
        let mut pause = Duration::from_millis(1);
        loop {
            let (folder, name) = (Arc::clone(&self.folder), key.clone());
            let attempt = tokio::task::spawn_blocking(move || attempt(&folder, name)).await;
            let attempt = attempt.map_err(|error| ToolError::execution(format!("taking a lock: {error}")))?;
            match attempt {
                Ok(Some(held)) => return Ok(held),
                Ok(None) => tokio::time::sleep(pause).await,
                Err(errno) => {
                    return Err(ToolError::new(
                        Code::WriteError,
                        format!(
                            "no lock can be made in `{}`: {errno}; check its owner and mode",
                            self.folder.display()
                        ),
                    ));
                }
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

/// Waits until nobody holds the folder itself, as the guard of a command does while it creates a name there by which the
/// folder could become a repository. None where there is no such folder, or its file system has no locks.
pub(super) async fn take_folder(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(path, flags, Mode::empty()).ok()?;
    loop {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(folder),
            Err(Errno::WOULDBLOCK | Errno::INTR) => tokio::time::sleep(Duration::from_millis(1)).await,
            Err(_) => return None,
        }
    }
}

/// A lock file that is ours until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    folder: OwnedFd,
    name: String,
    _file: OwnedFd,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Removed while still locked: whoever opened it before sees afterwards that the name has gone, and starts
        // again with a new file.
        let _ = unlinkat(&self.folder, self.name.as_str(), AtFlags::empty());
    }
}

fn attempt(folder: &Path, name: String) -> Result<Option<Held>, Errno> {
    let folder = match open_folder(folder) {
        Err(Errno::NOENT) => {
            create(folder)?;
            open_folder(folder)?
        }
        other => other?,
    };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = openat(&folder, name.as_str(), flags, Mode::from_raw_mode(0o600))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
        Err(errno) => return Err(errno),
    }
    let ours = fstat(&file)?;
    match statat(&folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) if named.st_ino == ours.st_ino && named.st_dev == ours.st_dev => {
            Ok(Some(Held { folder, name, _file: file }))
        }
        Ok(_) | Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn open_folder(folder: &Path) -> Result<OwnedFd, Errno> {
    open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn create(folder: &Path) -> Result<(), Errno> {
    for above in folder.ancestors().collect::<Vec<_>>().into_iter().rev() {
        if above.as_os_str().is_empty() {
            continue;
        }
        match mkdirat(CWD, above, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            // Folders further up may be read-only to us and still be there.
            Err(_) if open_folder(above).is_ok() => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
