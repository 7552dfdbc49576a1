//! The dependency folders of a workspace. Which names they have is said by the policy.

pub use toolpost_policy::{DEPENDENCY_FOLDERS, DependencyFolder, Owner};

use std::path::PathBuf;

/// The dependency folders of a workspace, as a survey has found them.
///
/// No name leads into one unless some part of it is called like one: so whoever opens a name without such a part never
/// comes upon what a command has put there. Where a link of the workspace leads in under another name, no folder counts as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Names by which a folder below a root is one, existing or not.
    pub names: Vec<&'static str>,
    /// Folders that hold the marker of their row. Absolute, sorted.
    pub folders: Vec<PathBuf>,
    /// Files in them that a command may remove and move with their folders, and not read. Absolute, sorted.
    pub unreadable: Vec<PathBuf>,
}
