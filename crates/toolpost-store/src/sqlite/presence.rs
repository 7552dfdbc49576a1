//! Whether the file of a store is still the one that was opened. SQLite goes on writing to a file that was deleted or replaced,
//! and whatever it writes there is lost with the process.

use crate::db::Failure;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What tells a file from another one of the same name: its device and its number there.
type Identity = (u64, u64);

/// The files of a store, as they were when it was opened.
pub(super) struct Presence {
    path: PathBuf,
    file: Option<Identity>,
    log: PathBuf,
    /// The write-ahead log, once something was written.
    known_log: OnceLock<Identity>,
}

impl Presence {
    /// Of a store that was just opened.
    pub(super) fn of(path: &Path) -> Presence {
        let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut log = whole.into_os_string();
        log.push("-wal");
        let log = PathBuf::from(log);
        Presence { path: path.to_owned(), file: identity(path), log, known_log: OnceLock::new() }
    }

    /// An error where the file, or the log that belongs to it, is not there any more or is another one.
    pub(super) fn check(&self) -> Result<(), Failure> {
        check(&self.path, self.file)?;
        match (self.known_log.get(), identity(&self.log)) {
            (Some(known), _) => check(&self.log, Some(*known)),
            (None, Some(found)) => {
                self.known_log.get_or_init(|| found);
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }
}

fn check(path: &Path, known: Option<Identity>) -> Result<(), Failure> {
    let Some(known) = known else { return Ok(()) };
    let what = match identity(path) {
        Some(found) if found == known => return Ok(()),
        Some(_) => "was replaced by another one",
        None => "is not there any more",
    };
    Err(Failure::Broken(format!(
        "its file `{}` {what} since the program opened it, so that what is written is lost; put the file back, and start the program again",
        path.display()
    )))
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}
