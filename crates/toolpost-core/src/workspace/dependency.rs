//! Dependency folders: package managers and build tools fill them, and can fill them again.
//!
//! The protected names in them are those of packages, and no program takes them for the user's. So commands may create,
//! change and delete them there. The list is closed. `vendor` is not in it: that is often the user's own code.

use std::path::PathBuf;

/// Whose names those inside a folder are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The user's: the whole protected list holds.
    #[default]
    User,
    /// Those of packages: of the protected list, only what [`Protected::holds_in_dependencies`] says holds.
    ///
    /// [`Protected::holds_in_dependencies`]: crate::policy::Protected::holds_in_dependencies
    Dependency,
}

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DependencyFolder {
    /// The name of the folder, at any depth below a root.
    pub name: &'static str,
    /// A file that the folder must hold.
    pub marker: Option<&'static str>,
}

/// The list.
pub const DEPENDENCY_FOLDERS: &[DependencyFolder] = &[
    DependencyFolder { name: "node_modules", marker: None },
    DependencyFolder { name: ".venv", marker: Some("pyvenv.cfg") },
    DependencyFolder { name: "venv", marker: Some("pyvenv.cfg") },
    DependencyFolder { name: "target", marker: Some("CACHEDIR.TAG") },
];

impl DependencyFolder {
    /// The row of this name.
    pub fn named(name: &[u8]) -> Option<&'static DependencyFolder> {
        DEPENDENCY_FOLDERS.iter().find(|row| row.name.as_bytes() == name)
    }
}

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
