//! Which process keeps all others from writing to a store in a file. Nothing is done to it.

#![expect(
    clippy::disallowed_methods,
    reason = "the files of a store are its own; what the system tells of a process is in /proc"
)]

use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The byte of the file beside the store that a process has locked while it writes, and the two behind it, locked while the
/// write-ahead log is moved into the file or read anew: a part of SQLite's format.
const LOCKS: (u64, u64) = (120, 3);

/// The bytes of the store's own file that a process has locked while it makes the store, before there is a write-ahead log.
const LOCKS_OF_NEW: (u64, u64) = (0x4000_0000, 2);

/// Files that stay open to the end of the process. Where a process closes any descriptor of a file, the system takes all its
/// locks on that file, those of SQLite too.
static OPEN: Mutex<Option<HashMap<(u64, u64), &'static File>>> = Mutex::new(None);

/// A process that writes to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blocker {
    pub(super) process: i32,
    /// Whether somebody has stopped it.
    pub(super) is_stopped: bool,
}

/// The process that writes to the store in this file; none where no process does, or the system does not tell.
pub(super) fn of_file(store: &str) -> Option<Blocker> {
    let store = Path::new(store);
    let beside = store.with_file_name(format!("{}-shm", store.file_name()?.display()));
    holder(&beside, LOCKS).or_else(|| holder(store, LOCKS_OF_NEW))
}

/// The process that has locked these bytes of a file.
fn holder(path: &Path, (start, length): (u64, u64)) -> Option<Blocker> {
    let file = opened(path)?;
    let wanted =
        Flock { start, length, pid: None, typ: FlockType::WriteLock, offset_type: FlockOffsetType::Set };
    let process = fcntl_getlk(file, &wanted).ok()??.pid?.as_raw_nonzero().get();
    Some(Blocker { process, is_stopped: is_stopped(process) })
}

fn opened(path: &Path) -> Option<&'static File> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_default();
    // Another file may have the name by now.
    let about = std::fs::metadata(path).ok()?;
    let key = (about.dev(), about.ino());
    if let Some(file) = open.get(&key) {
        return Some(file);
    }
    let file: &'static File = Box::leak(Box::new(OpenOptions::new().read(true).write(true).open(path).ok()?));
    open.insert(key, file);
    Some(file)
}

/// Whether a process was stopped, or is in the hands of a debugger. Only Linux tells.
fn is_stopped(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state stands behind the name, which may hold anything.
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|state| state.starts_with(['T', 't']))
}
