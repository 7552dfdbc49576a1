//! A layer of changes over another workspace, for dry runs: nothing below is ever changed.
//!
//! The layer knows no links. Those of the workspace below are followed by asking it, name by name.

mod layer;
mod merged;

use self::layer::{Layer, Upper};
use self::merged::{Last, Merged};
use super::memory::{MemoryFile, above, folder_stat};
use super::turns::Turns;
use super::{
    Entries, File, Kind, LockRequest, OuterRules, RunByGit, Stat, Workspace, WorkspacePath, Written, refusal,
};
use crate::error::{Code, ToolError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A workspace whose changes stay in memory.
pub struct Overlay {
    below: Arc<dyn Workspace>,
    layer: Mutex<Layer>,
    turns: Turns,
}

/// What would have changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Display name.
    pub path: String,
    /// The content before the first change; `None` where there was no file, empty where it is too large to be kept.
    pub before: Option<Vec<u8>>,
    /// The content now; `None` where the file is gone.
    pub after: Option<Vec<u8>>,
}

/// A file that was written or removed, perhaps to become what it was.
pub(crate) struct Touched {
    pub(crate) path: String,
    pub(crate) bytes_before: Option<u64>,
    pub(crate) bytes_after: Option<u64>,
    /// Whether the content is another one now.
    pub(crate) is_changed: bool,
}

impl Overlay {
    /// Lays an empty layer over `below`.
    pub fn over(below: Arc<dyn Workspace>) -> Overlay {
        Overlay { below, layer: Mutex::default(), turns: Turns::default() }
    }

    /// The files that differ from what lies below, sorted by name. Folders are not listed.
    pub fn changes(&self) -> Vec<Change> {
        self.layer().changes()
    }

    /// A number that grows with every change.
    pub(crate) fn revision(&self) -> u64 {
        self.layer().revision()
    }

    /// The files that were written or removed after a revision.
    pub(crate) fn touched_since(&self, revision: u64) -> Vec<Touched> {
        self.layer().touched_since(revision)
    }

    fn layer(&self) -> MutexGuard<'_, Layer> {
        self.layer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workspace for Overlay {
    fn root(&self) -> &str {
        self.below.root()
    }

    fn roots(&self) -> Vec<String> {
        self.below.roots()
    }

    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        self.below.name(path)
    }

    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        let name = self.resolve(path, Last::Follow)?;
        match self.look(&name)? {
            Merged::Upper(file) => Ok(file.stat(&name)),
            Merged::Below(stat) => Ok(stat),
            Merged::Folder => Ok(folder_stat(&name)),
            Merged::Missing => Err(self.missing(&name)),
        }
    }

    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        let name = self.resolve(path, Last::Follow)?;
        match self.look(&name)? {
            Merged::Upper(file) => Ok(file.open(&name)),
            Merged::Below(_) => self.below.open(&WorkspacePath::new(name)),
            Merged::Folder => Err(refusal::not_a_file(&name, "a folder")),
            Merged::Missing => Err(self.missing(&name)),
        }
    }

    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        let name = self.resolve(path, Last::Follow)?;
        match self.look(&name)? {
            Merged::Missing => Err(self.missing(&name)),
            _ => self.merged(&name),
        }
    }

    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError> {
        let name = self.resolve(path, Last::Follow)?;
        match self.look(&name)? {
            Merged::Folder => return Err(refusal::not_a_file(&name, "a folder")),
            Merged::Below(stat) if stat.kind == Kind::Folder => {
                return Err(refusal::not_a_file(&name, "a folder"));
            }
            Merged::Below(stat) if stat.kind != Kind::File => {
                return Err(refusal::not_a_file(&name, "a special file"));
            }
            _ => {}
        }
        let old = self.image(&name)?;
        self.make(above(&name).next().unwrap_or("."))?;
        let (old, mode) = old.map_or((None, 0o644), |(image, mode)| (Some(image), mode));
        let created = old.is_none();
        let mut layer = self.layer();
        layer.remember(&name, old);
        layer.set(&name, Upper::File(MemoryFile::new(content, mode)));
        Ok(Written { name, created, bytes: content.len() as u64 })
    }

    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        let name = self.resolve(path, Last::Keep)?;
        if self.is_root(&name) {
            return Err(refusal::is_root(&name));
        }
        let old = match self.look(&name) {
            // A link below, to nothing, out of the workspace or to another name: it goes, its target stays.
            Err(error) if error.details().contains_key("link") || error.code() == Code::PathEscape => None,
            Err(error) => return Err(error),
            Ok(Merged::Missing) => return Err(self.missing(&name)),
            Ok(Merged::Below(stat)) if stat.name != name => None,
            Ok(Merged::Below(stat)) if stat.kind == Kind::Folder => {
                self.must_be_empty(&name)?;
                None
            }
            Ok(Merged::Folder) => {
                self.must_be_empty(&name)?;
                None
            }
            Ok(Merged::Below(_) | Merged::Upper(_)) => self.image(&name)?,
        };
        let mut layer = self.layer();
        if let Some((image, _)) = old {
            layer.remember(&name, Some(image));
        }
        layer.set(&name, Upper::Gone);
        Ok(())
    }

    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        let from = self.resolve(from, Last::Keep)?;
        let to = self.resolve(to, Last::Keep)?;
        self.move_to(&from, &to)
    }

    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        let name = self.resolve(path, Last::Follow)?;
        self.make(&name)
    }

    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        let name = self.resolve(path, Last::Follow)?;
        Ok(self.turns.request(&name))
    }

    fn has_repositories(&self) -> bool {
        self.below.has_repositories()
    }

    fn run_by_git(&self, changed: &[String]) -> Vec<RunByGit> {
        self.below.run_by_git(changed)
    }

    fn outer_rules(&self, root: &str) -> OuterRules {
        self.below.outer_rules(root)
    }
}
