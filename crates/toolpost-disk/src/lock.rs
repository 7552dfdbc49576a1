//! Turns between processes: one lock file for each file being changed, in a directory of the user's.
//!
//! Here is one attempt to take a lock. Waiting is repeating it, which is the business of [`LockRequest`].

use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, flock, fstat, mkdirat, open, openat, statat, unlinkat,
};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::workspace::{Lock, LockRequest};
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

    /// Which other process holds a key, in words.
    pub(super) fn holder(&self, key: &str) -> Option<String> {
        let folder = open_folder(&self.folder).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = openat(&folder, key, flags, Mode::empty()).ok()?;
        let mut digits = [0; 20];
        let count = rustix::io::read(&file, &mut digits).ok()?;
        let process: u32 = std::str::from_utf8(&digits[..count]).ok()?.parse().ok()?;
        (process != std::process::id()).then(|| format!("the toolpost process {process}"))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The request, which then also waits until no other process holds `key`, which must be fit for a file name.
    pub(super) fn added_to(&self, request: LockRequest, key: String) -> LockRequest {
        let folder = Arc::clone(&self.folder);
        request.then(Duration::from_millis(20), move || match attempt(&folder, key.clone()) {
            Ok(held) => Ok(held.map(Lock::new)),
            Err(errno) => Err(ToolError::new(
                Code::WriteError,
                format!("no lock can be made in `{}`: {errno}; check its owner and mode", folder.display()),
            )),
        })
    }
}

/// The request, which then also waits until nobody holds the folder itself, as the guard of a command does while it
/// creates a name there by which the folder could become a repository. Where there is no such folder, or its file system
/// has no locks, there is nothing to wait for.
pub(super) fn with_folder(request: LockRequest, path: &Path) -> LockRequest {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let path = path.to_owned();
    let mut opened = None;
    request.then(Duration::from_millis(1), move || {
        if opened.is_none() {
            opened = open(&path, flags, Mode::empty()).ok();
        }
        let Some(folder) = opened.take() else { return Ok(Some(Lock::new(()))) };
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock::new(folder))),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                opened = Some(folder);
                Ok(None)
            }
            Err(_) => Ok(Some(Lock::new(()))),
        }
    })
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
            // For who waits and wants to say for whom; without it the lock holds all the same.
            let _ = rustix::io::write(&file, std::process::id().to_string().as_bytes());
            Ok(Some(Held { folder, name, _file: file }))
        }
        Ok(_) | Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

pub(super) fn open_folder(folder: &Path) -> Result<OwnedFd, Errno> {
    open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

pub(super) fn create(folder: &Path) -> Result<(), Errno> {
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
