//! Where file tools act: a tree of files that cannot be left.
//!
//! A tool names files by [`WorkspacePath`] and opens them through the [`Workspace`] it is given, never by itself.
//! What is read comes back as a reader over an already opened file: a name can be swapped for a link between two
//! looks at it, an open file cannot.
//!
//! All of it blocks. Asynchronous code gets there through [`Context::blocking`](crate::Context::blocking).

mod bound;
mod dependency;
mod ignored;
mod journal;
mod memory;
mod overlay;
mod path;
#[doc(hidden)]
pub mod place;
#[doc(hidden)]
pub mod refusal;
mod scan;
mod stage;
mod survey;
mod sweep;
#[doc(hidden)]
pub mod turns;

pub(crate) use bound::{Bound, Journaled};
pub use bound::{Guard, Usage};
pub use dependency::{DEPENDENCY_FOLDERS, Dependencies, DependencyFolder, Owner};
pub use ignored::{IgnoreFiles, OuterRules, Repository};
pub use journal::{
    After, Before, Changed, CommandBefore, CommandChange, Journal, NoJournal, Pending, PendingKind, SpoolFile,
};
pub use memory::Memory;
pub(crate) use overlay::Touched;
pub use overlay::{Change, Overlay};
pub use path::WorkspacePath;
pub use scan::{Candidate, ScanOptions, Scanned, Visit, Worker};
pub use stage::Staged;
pub use survey::{FolderAlias, Mark, Marked, RunByGit, Surveyed, Surveyor};
pub use sweep::{FileStamp, Select, SweepMemory};
pub use toolpost_text::Tracked;
pub use turns::LockRequest;

use crate::error::ToolError;
use crate::store::By;
use serde::{Deserialize, Serialize};
use std::io::{Read, Seek};
use std::sync::Arc;

/// What implementations of [`Workspace`] share: places from spellings, refusals, turns.
pub mod implement {
    pub use super::memory::{above, prefix};
    pub use super::{place, refusal, turns};
}

/// A tree of files: on disk, in memory, in a store, or laid over another one.
///
/// Implemented by [`Memory`], [`Overlay`] and, in `toolpost-disk`, by the disk; called by tools, through the [`Context`](crate::Context).
/// Implementations keep three promises: no path leads out of the roots, whatever its spelling and whatever links
/// lie on its way; nothing but regular files and folders is ever opened; a write is whole or absent.
///
/// The methods block their thread, and so do the readers and iterators they return. A tool calls them inside of
/// [`Context::blocking`](crate::Context::blocking) or
/// [`Context::blocking_in_pool`](crate::Context::blocking_in_pool). No method waits for another caller: a turn to
/// change a file is asked for by [`Workspace::lock`] and waited for afterwards, without a thread. An implementation
/// whose driver is asynchronous gives it a thread of its own and waits for the answer on a channel of the standard
/// library: `block_on` panics on the threads of a runtime, where short work stays.
///
/// Names in answers are *display names*: relative to the first root, absolute for the others, with `/` between
/// parts. The root itself is `.`.
pub trait Workspace: Send + Sync {
    /// The absolute path of the first root, for descriptions and messages.
    fn root(&self) -> &str;

    /// The absolute paths of all roots, the first one first.
    fn roots(&self) -> Vec<String> {
        vec![self.root().to_owned()]
    }

    /// The same workspace as one call acts on it, so that its changes are recorded as that call's; none where a workspace
    /// records nothing. The executor asks for it once for each call.
    fn for_call(&self, by: &dyn Fn() -> By) -> Option<Arc<dyn Workspace>> {
        let _ = by;
        None
    }

    /// The display name of a path, from its spelling alone: parts joined, `.` and `..` folded.
    ///
    /// `PATH_ESCAPE` where the spelling already leads out. Links are not looked at.
    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError>;

    /// Kind, size, time and mode of what the path leads to. Links are followed inside the workspace.
    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError>;

    /// Opens a regular file for reading.
    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError>;

    /// What is there before a change: for a tool that reports what it replaces, and need not know it.
    ///
    /// Inside a call the content comes only where the model may read the file: a decision to write one is no decision to
    /// show it. Fails like [`Workspace::open`] where there is no file at all.
    fn replaced(&self, path: &WorkspacePath) -> Result<Replaced, ToolError> {
        let file = self.open(path)?;
        Ok(Replaced { stat: file.stat.clone(), content: OldContent::Readable(file) })
    }

    /// Opens a folder; its entries come in no order, links as links.
    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError>;

    /// Puts `content` in place of the file, or makes it, with the folders above it. Whole or absent.
    ///
    /// The mode of a replaced file is kept; other names of it (hard links) keep the old content; a link is
    /// followed and its target replaced.
    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError>;

    /// The same as [`Workspace::write`]. `ready` is called once before the content shows, where possible when all else is
    /// done; its error refuses the change.
    fn write_when(
        &self,
        path: &WorkspacePath,
        content: &[u8],
        ready: &mut dyn FnMut() -> Result<(), ToolError>,
    ) -> Result<Written, ToolError> {
        ready()?;
        self.write(path, content)
    }

    /// Makes the new content of a file without showing it, so that several files can change at nearly one moment;
    /// `None` where there is no such way, and [`Workspace::write`] is all there is. Folders above it are made.
    fn stage(&self, _path: &WorkspacePath, _content: &[u8]) -> Result<Option<Box<dyn Staged>>, ToolError> {
        Ok(None)
    }

    /// Says that a change is about to come, for a tool that makes several: whoever keeps what is there before them has
    /// all of it, or has refused, before the first is made. Nobody does unless the call has a [`Journal`].
    /// `content` is what the file, after a rename that of the new name, is to hold in the end.
    fn announce(
        &self,
        _path: &WorkspacePath,
        _kind: PendingKind,
        _content: Option<&[u8]>,
    ) -> Result<(), ToolError> {
        Ok(())
    }

    /// The text of a link, where the last part of the path is one; `None` where it is not, or nobody can tell.
    fn link(&self, _path: &WorkspacePath) -> Option<String> {
        None
    }

    /// Removes a file, a link (not its target) or an empty folder. Never a root.
    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError>;

    /// Moves a file or folder to a name that does not exist yet or is a file, making the folders above it.
    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError>;

    /// Makes a folder and those above it; one that exists is fine.
    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError>;

    /// Asks for the turn to change the file, against every other writer, in other processes too.
    /// [`LockRequest::wait`] waits for it.
    ///
    /// The file need not exist. The turn ends when the lock is dropped.
    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError>;

    /// Who in another process has the turn to change the file now, in words.
    fn holder(&self, _path: &WorkspacePath) -> Option<String> {
        None
    }

    /// The folders that a change of this file, named by its absolute path, could make repositories: by their absolute paths.
    fn possible_repositories(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }

    /// Asks for the turn to make a repository of this folder, which need not exist: against commands too, where the
    /// folder does. Whoever may do so looks, and then creates.
    fn lock_repository(&self, folder: &WorkspacePath) -> Result<LockRequest, ToolError> {
        self.lock(folder)
    }

    /// Hands every file below a folder to the visitor, by a way that is quicker than opening folder after folder;
    /// `None` where there is no such way, and the scan goes through [`Workspace::entries`].
    ///
    /// An implementation keeps the promises of the trait for each file, asks [`Visit::wants`] and [`Visit::admits`]
    /// before it looks at one, and hands over what a scan by entries would.
    fn scan(
        &self,
        _from: &WorkspacePath,
        _options: ScanOptions,
        _visit: &dyn Visit,
    ) -> Result<Option<Scanned>, ToolError> {
        Ok(None)
    }

    /// The files below all roots that are selected, by display name, links and what ignore files leave out aside; `None` where
    /// a scan is the only way. What `memory` holds of an earlier sweep is used and replaced.
    fn sweep(
        &self,
        _select: &dyn Select,
        _memory: &mut SweepMemory,
    ) -> Result<Option<Vec<(String, FileStamp)>>, ToolError> {
        Ok(None)
    }

    /// Permission bits that a new file usually gets; none where files have none, or nobody knows.
    fn mode_of_new_files(&self) -> Option<u32> {
        None
    }

    /// Whether commands can see the files, so that [`Workspace::survey`] may find something.
    fn is_on_disk(&self) -> bool {
        false
    }

    /// Marks every file and folder, and tells which are not free.
    fn survey(&self, _surveyor: &dyn Surveyor) -> Result<Surveyed, ToolError> {
        Ok(Surveyed::default())
    }

    /// Whether [`Workspace::run_by_git`] may find something.
    fn has_repositories(&self) -> bool {
        false
    }

    /// Of these display names, which are about to change: those whose content git would run or take its configuration
    /// from, and those by which a folder becomes a repository. Each is given as the protected path that it is or lies
    /// in. Also the names that links in the folders above give to these.
    fn run_by_git(&self, _changed: &[String]) -> Vec<RunByGit> {
        Vec::new()
    }

    /// The ignore rules that hold in a root, given by its absolute path, and lie outside of it.
    fn outer_rules(&self, _root: &str) -> OuterRules {
        OuterRules::default()
    }
}

/// What kind of thing a name leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, where links are not followed.
    Link,
    /// A FIFO, socket or device: shown, never opened.
    Special,
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Display name after following links: what policy judges.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Size in bytes.
    pub size: u64,
    /// Last change, in milliseconds since 1970.
    pub modified_ms: i64,
    /// Permission bits.
    pub mode: u32,
    /// Whether it is a file that has other names too (hard links), which keep the old content when it is changed.
    pub has_other_names: bool,
}

/// An open regular file.
pub struct File {
    /// What was opened, as it was then.
    pub stat: Stat,
    /// Its bytes.
    pub reader: Box<dyn ReadSeek>,
}

/// A file that a call is about to change.
#[derive(Debug)]
pub struct Replaced {
    /// What is known of it: without its size and time where the content is withheld.
    pub stat: Stat,
    /// What it holds.
    pub content: OldContent,
}

/// What a file holds before it is changed.
#[derive(Debug)]
pub enum OldContent {
    /// Its bytes.
    Readable(File),
    /// Nothing: reading the file would ask or be denied, for this reason.
    Withheld(ToolError),
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("stat", &self.stat).finish_non_exhaustive()
    }
}

/// What a [`File`] reads from.
pub trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// One name in a folder. Names that are not UTF-8 are shown with replacement characters and `exact` false.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The last part of the path.
    pub name: String,
    /// What it is; links are not followed.
    pub kind: Kind,
    /// Whether `name` is the very name, so that it can be opened by it.
    pub exact: bool,
}

/// The names of one folder, streamed: a folder of a million entries costs no memory.
pub type Entries = Box<dyn Iterator<Item = Result<Entry, ToolError>> + Send>;

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Display name of what was written, links followed.
    pub name: String,
    /// Whether the file is new.
    pub created: bool,
    /// Bytes written.
    pub bytes: u64,
}

/// The turn to change one file; dropping it passes the turn on.
#[must_use = "the turn ends when this is dropped"]
pub struct Lock(#[expect(dead_code, reason = "held for its drop")] Box<dyn Send + Sync>);

impl Lock {
    /// Wraps whatever gives the turn back when dropped.
    pub fn new(guard: impl Send + Sync + 'static) -> Lock {
        Lock(Box::new(guard))
    }
}
