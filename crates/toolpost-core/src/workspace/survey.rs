//! Which files of a disk a command may not see or change: asked of every name, for the kernel to enforce.

use super::{Dependencies, Kind, Owner};
use std::path::PathBuf;

/// What a command may do with a file or folder, and everything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Read and change it.
    Free,
    /// Read it.
    Locked,
    /// Nothing: it is not there.
    Hidden,
}

/// Marks names. Implemented by the context of a call; called by [`Workspace::survey`](super::Workspace::survey).
pub trait Surveyor: Send + Sync {
    /// The mark of what has this display name, in a folder of this owner.
    fn mark(&self, name: &str, kind: Kind, owner: Owner) -> Mark;

    /// The mark of a file that inherits one: something marked leads to it, or git runs it. A rule of the user's that
    /// opens the file goes before.
    fn inherited(&self, name: &str, mark: Mark) -> Mark;

    /// Whether a command may remove what it may not read, in a dependency folder.
    fn is_removable(&self, name: &str) -> bool;

    /// Whether a rule denies what the mark forbids, under this name. Then no rule about another name opens the file.
    fn denies(&self, name: &str, mark: Mark) -> bool;

    /// How far the name of a folder goes into the patterns of rules that have more than one part; none where no such
    /// pattern has begun. Names of equal progress and owner give equal marks to everything inside the folder.
    fn progress(&self, name: &str, owner: Owner) -> Option<Vec<(usize, u64)>>;

    /// Whether sockets are hidden, whatever their names.
    fn hides_sockets(&self) -> bool;

    /// All that its marks depend on: surveyors of equal identity give equal marks.
    fn identity(&self) -> String;
}

/// What a survey has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surveyed {
    /// What exists and is not free, each folder before what is in it.
    pub marked: Vec<Marked>,
    /// Paths inside the roots at which nothing exists and which something protected names: what is created there would
    /// be run or read in its place. Absolute, sorted.
    pub missing: Vec<PathBuf>,
    /// Names through which something protected is reached, existing or not: none of them may become a link or be moved.
    /// Absolute, sorted.
    pub fixed: Vec<PathBuf>,
    /// Folders, each with a glob for the files in it that something protected runs, existing or not. In the syntax of
    /// `globset`, from the folder.
    pub globs: Vec<(PathBuf, String)>,
    /// Other names of folders, for what is created in them.
    pub aliases: Vec<FolderAlias>,
    /// Where names are not the user's.
    pub dependencies: Dependencies,
}

/// Another name of a folder, by which rules may mean what is in it. Both paths are absolute; the folder need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderAlias {
    /// Where it really is.
    pub folder: PathBuf,
    /// What links call it.
    pub name: PathBuf,
}

/// A path that may be protected for another reason than its own name; see [`Workspace::run_by_git`](super::Workspace::run_by_git).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunByGit {
    /// By its display name: git runs it or something in it, or takes its configuration from there.
    Named(String),
    /// By its display name: once it is there, the folder above it is a repository.
    Completes(String),
    /// By its display name: without it, the folder above it would no longer be known for a repository, and its
    /// configuration would be free.
    Identifies(String),
    /// A link gives it another name, by which rules and the protected list may mean it.
    Linked {
        /// Its display name.
        path: String,
        /// The other one.
        name: String,
    },
}

/// The names that make a folder a repository.
const OF_REPOSITORY: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

impl RunByGit {
    /// Whether a change of this name may make a folder a repository.
    pub(crate) fn may_complete(name: &str) -> bool {
        name.split('/').any(|part| OF_REPOSITORY.iter().any(|known| part.eq_ignore_ascii_case(known)))
    }
}

/// A file or folder that is not free, by its absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// Where it is.
    pub path: PathBuf,
    /// What a command may do with it.
    pub mark: Mark,
}
