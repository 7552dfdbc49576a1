//! Files beside a SQLite store that hold its large contents, named by the SHA-256 of what is in them.
//!
//! A file is whole and on the disk before the row that names it is committed. All that writes or removes files does so in a
//! transaction that changes something, of which there is one at a time, whichever process it is of.
#![expect(clippy::disallowed_methods, reason = "a store lies outside every workspace")]

use crate::db::Failure;
use crate::files::hash;
use std::collections::HashSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What is being written has this name. There is one at a time.
const NEW: &str = "new";

/// A folder of contents. It is made when the first one is kept.
#[derive(Debug, Clone)]
pub(crate) struct ContentFiles(PathBuf);

impl ContentFiles {
    /// Those of the store in this file.
    pub(crate) fn of(store: &Path) -> ContentFiles {
        let mut folder = store.to_owned().into_os_string();
        folder.push(crate::url::CONTENTS);
        ContentFiles(PathBuf::from(folder))
    }

    /// Writes a file, so that it is durable when this returns. `step` is called before each step, and may stop it.
    pub(crate) fn put(
        &self,
        name: &str,
        parts: &[&[u8]],
        step: &dyn Fn() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let new = self.0.join(NEW);
        let written = self.write(&new, name, parts, step);
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written
    }

    fn write(
        &self,
        new: &Path,
        name: &str,
        parts: &[&[u8]],
        step: &dyn Fn() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let failed = |error: io::Error| failure(&format!("cannot write `{}`", new.display()), &error);
        step()?;
        self.make().map_err(|error| failure(&format!("cannot make `{}`", self.0.display()), &error))?;
        step()?;
        // One of a process that died may be there.
        match std::fs::remove_file(new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(new).map_err(failed)?;
        step()?;
        for part in parts {
            file.write_all(part).map_err(failed)?;
        }
        step()?;
        file.sync_all().map_err(failed)?;
        step()?;
        std::fs::rename(new, self.0.join(name)).map_err(failed)?;
        step()?;
        sync(&self.0).map_err(failed)
    }

    /// Makes the folder, for this user alone.
    fn make(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.0) {
            Ok(()) => self.0.parent().filter(|above| !above.as_os_str().is_empty()).map_or(Ok(()), sync),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                match std::fs::symlink_metadata(&self.0)?.is_dir() {
                    true => Ok(()),
                    false => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a file is there, with so many bytes.
    pub(crate) fn has(&self, name: &str, bytes: u64) -> bool {
        std::fs::symlink_metadata(self.0.join(name))
            .is_ok_and(|about| about.is_file() && about.len() == bytes)
    }

    /// The bytes of a file, which are those that were written.
    pub(crate) fn get(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let path = self.0.join(name);
        let content = std::fs::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::Missing(path.display().to_string()),
            _ => failure(&format!("cannot read `{}`", path.display()), &error),
        })?;
        match hash(&content) == name {
            true => Ok(content),
            false => Err(Failure::Broken(format!(
                "the file `{}`, which holds a kept content, is damaged: its SHA-256 is not its name; what needs it cannot be \
                 restored, unless you put the right file there",
                path.display()
            ))),
        }
    }

    /// Removes all files of this kind but these.
    pub(crate) fn keep(&self, named: &HashSet<String>) -> Result<(), Failure> {
        let failed = |error: io::Error| failure(&format!("cannot clear `{}`", self.0.display()), &error);
        let entries = match std::fs::read_dir(&self.0) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            if (name == NEW || is_file_name(&name)) && !named.contains(&name) {
                std::fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// Whether this is a SHA-256 as such a file is named by it.
pub(crate) fn is_file_name(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn failure(what: &str, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full: make room, and try again",
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            "it may not be written: give this user the right to read and write it, or name another store"
        }
        _ => "see that its folder may be written, or name another store",
    };
    Failure::Broken(format!("{what}: {error}; {advice}"))
}
