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
    /// Whether a file that has several names in the roots changes under all of them.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "dry runs of commands need Linux"))]
    has_all_names: bool,
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
    /// Where a link leads.
    pub target: Option<Vec<u8>>,
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
        return crate::linux::new_scratch(bases, roots)
            .map(|(folder, has_all_names)| Scratch { folder, has_all_names });
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
    pub fn changes(&self, roots: &[PathBuf]) -> io::Result<Changes> {
        #[cfg(target_os = "linux")]
        return crate::linux::changes(&self.folder, roots)
            .map(|found| Changes { is_cut: found.is_cut || !self.has_all_names, ..found });
        #[cfg(not(target_os = "linux"))]
        {
            let _ = roots;
            Ok(Changes::default())
        }
    }

    /// The bytes of a file before and after a change of these roots; none for what is not a file, or has more than
    /// `most`.
    pub fn contents(
        &self,
        roots: &[PathBuf],
        change: &Change,
        most: u64,
    ) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        #[cfg(target_os = "linux")]
        return crate::linux::contents(&self.folder, roots, change, most);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (roots, change, most);
            (None, None)
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        crate::linux::remove_scratch(&self.folder);
    }
}
