//! The files into which commands write what they are about to change: one a call, for this user alone, locked while the
//! process of the call lives.
#![expect(clippy::disallowed_methods, reason = "a store lies outside every workspace")]

use crate::files::hash;
use crate::percent::percent_decoded;
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use toolpost_core::workspace::CommandChange;
use toolpost_core::{Code, ToolError};

/// Reads the file that a command has left, and looks at what has become of the names in it.
pub type ReadSpool = Box<dyn Fn(&mut File) -> Result<Vec<CommandChange>, ToolError> + Send + Sync>;

/// Bytes of a file's name at most, without what says which file it is.
const LONGEST: usize = 200;
const ENDING: &str = ".spool";

pub(super) struct Spools {
    folder: PathBuf,
    read: Option<ReadSpool>,
    is_used: AtomicBool,
    /// Those of the calls that run. The lock is that of the open file.
    open: Mutex<HashMap<PathBuf, File>>,
}

impl Spools {
    pub(super) fn new(folder: PathBuf, read: Option<ReadSpool>) -> Spools {
        Spools { folder, read, is_used: AtomicBool::new(false), open: Mutex::default() }
    }

    pub(super) fn is_first_use(&self) -> bool {
        !self.is_used.swap(true, Ordering::AcqRel)
    }

    pub(super) fn begin(&self, session: &str, call: &str) -> Result<File, ToolError> {
        let path = self.path(session, call);
        let failed = |error: io::Error| {
            let message = format!(
                "cannot make `{}`, where what the command changes would be kept for an undo: {error}; see that its folder \
                 may be written, or name another store with --store",
                path.display()
            );
            ToolError::new(Code::StoreNotAvailable, message)
        };
        let file = open(&path).map_err(failed)?;
        let kept = file.try_clone().map_err(failed)?;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), kept);
        Ok(file)
    }

    /// What was in it is safe, or is not needed.
    pub(super) fn end(&self, session: &str, call: &str) {
        let path = self.path(session, call);
        if self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&path).is_some() {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Hands over what processes that died have left. Returns what could not be taken over.
    pub(super) fn take_over(
        &self,
        mut take: impl FnMut(&str, &str, Vec<CommandChange>) -> Result<(), ToolError>,
    ) -> Vec<ToolError> {
        let Some(read) = &self.read else { return Vec::new() };
        let mut failed = Vec::new();
        for session in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            for left in std::fs::read_dir(session.path()).into_iter().flatten().flatten() {
                let names = (session.file_name(), left.file_name());
                let (Some(of), Some(call)) = (names.0.to_str(), names.1.to_str()) else { continue };
                let Some(call) = call.strip_suffix(ENDING) else { continue };
                let Ok(mut file) = OpenOptions::new().read(true).write(true).open(left.path()) else {
                    continue;
                };
                // Its process lives, or somebody else takes it over.
                if file.try_lock().is_err() || !is_at(&file, &left.path()) {
                    continue;
                }
                let taken = read(&mut file)
                    .and_then(|changes| take(&percent_decoded(of), &percent_decoded(call), changes));
                match taken {
                    Ok(()) => {
                        let _ = std::fs::remove_file(left.path());
                    }
                    Err(error) => failed.push(error),
                }
            }
        }
        failed
    }

    /// The calls whose files are in use and not empty.
    pub(super) fn running(&self) -> Vec<String> {
        let mut calls = Vec::new();
        for session in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            for entry in std::fs::read_dir(session.path()).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let Some(call) = name.to_str().and_then(|name| name.strip_suffix(ENDING)) else { continue };
                let Ok(file) = File::open(entry.path()) else { continue };
                let is_used = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
                if is_used && file.metadata().is_ok_and(|about| about.len() > 0) {
                    calls.push(percent_decoded(call));
                }
            }
        }
        calls
    }

    fn path(&self, session: &str, call: &str) -> PathBuf {
        self.folder.join(encoded(session)).join(format!("{}{ENDING}", encoded(call)))
    }
}

/// Opens the file and takes its lock, again where another process has just taken it over.
fn open(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(path);
    loop {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let file = match OpenOptions::new().append(true).read(true).create(true).mode(0o600).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => file.lock()?,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

/// Whether the open file is still the one of this name.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// An id as a file's name. One that is very long is cut, and told from others by its hash.
fn encoded(id: &str) -> String {
    let mut name = String::new();
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    if name.len() > LONGEST {
        let end = name[..LONGEST].rfind('%').filter(|at| at + 3 > LONGEST).unwrap_or(LONGEST);
        name.truncate(end);
        name.push_str(&format!("~{}", &hash(id.as_bytes())[..16]));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_names_of_files_and_come_back() {
        for id in ["a", "workspace-0123", "../x", "ä ö/%2f", "", "x\0y"] {
            let name = encoded(id);
            assert!(!name.contains(['/', '\0', '.']), "{name}");
            assert_eq!(percent_decoded(&name), id);
        }
        let long = encoded(&"ä".repeat(500));
        assert!(long.len() < 240 && long != encoded(&"ä".repeat(501)), "{long}");
    }
}
