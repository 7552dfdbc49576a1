//! What a dry run leaves behind: the folder that took a command's changes, and what they were.
//!
//! The folder goes when the [`Scratch`] is dropped. Nothing in here touches what was run over.

use crate::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// A folder for the changes of one dry run, for nobody else to read, gone when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
}

/// How much is kept of what a dry run would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Changes, the first by path.
    pub changes: usize,
    /// Bytes of one file; of a larger one only its size is told.
    pub bytes_of_file: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// What a dry run would change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Each file, folder and link, by path.
    pub list: Vec<Change>,
    /// Whether there are more than were looked for, or some that could not be looked at.
    pub is_cut: bool,
}

/// One file, folder or link that a dry run would create, change or delete.
///
/// What becomes of another type is deleted and created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, by its absolute path.
    pub path: PathBuf,
    /// What is there; none if it would be created.
    pub before: Option<Node>,
    /// What would be there; none if it would be deleted.
    pub after: Option<Node>,
}

/// A file, folder or link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// The size of a file.
    pub bytes: u64,
    /// Its permissions, as in `0o644`.
    pub mode: u32,
    /// The bytes of a file that is not too large, or where a link leads.
    pub content: Option<Vec<u8>>,
}

/// What there can be under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// An ordinary file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe or a socket.
    Other,
}

impl Scratch {
    /// A new folder in the first of `bases` that can hold one: outside of all `roots`, on a disk that can lie over
    /// another. A base that is not there is made. What a killed process left in them is removed after a day.
    pub fn new(bases: &[PathBuf], roots: &[PathBuf]) -> Result<Scratch, Error> {
        #[cfg(target_os = "linux")]
        return crate::linux::new_scratch(bases, roots).map(|folder| Scratch { folder });
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (bases, roots);
            Err(Error::SandboxUnavailable {
                layer: "throw-away overlay".into(),
                why: "a dry run of a command needs Linux".into(),
            })
        }
    }

    /// The folder, for [`Sandbox::scratch`](crate::Sandbox::scratch).
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// What the command would have changed in these roots, which are those that its sandbox called writable.
    ///
    /// To be asked when the command has ended. Files that were written with the bytes they had are no changes.
    pub fn changes(&self, roots: &[PathBuf], keep: Keep) -> io::Result<Changes> {
        #[cfg(target_os = "linux")]
        return crate::linux::changes(&self.folder, roots, keep);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (roots, keep);
            Ok(Changes::default())
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        crate::linux::remove_scratch(&self.folder);
    }
}
