//! What a confined command may see, change and reach. The platform's module makes it so.

use std::path::PathBuf;

/// The view that a confined command has of the machine.
///
/// Beside what is named here it sees the system's own folders, read-only, an empty home folder and temporary folders
/// of its own that vanish with it. It has no capabilities, can gain no privileges, and sees no process but its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders and files that it may change.
    pub writable: Vec<PathBuf>,
    /// Folders and files that it may read beside the system's own.
    pub readable: Vec<PathBuf>,
    /// Inside what is writable: existing files and folders that it may read and not change, move or replace.
    pub locked: Vec<PathBuf>,
    /// Inside what is visible: existing files and folders whose content is not there for it.
    pub hidden: Vec<PathBuf>,
    /// Inside what is writable: names that may not come to be. One or more parts with `*`, at any depth, whatever the
    /// case, with everything inside, such as `.git/hooks` or `*.code-workspace`.
    pub reserved: Vec<String>,
    /// Whether it reaches the network. Without, it has a loopback that it shares with the other commands of this
    /// process and with nobody else.
    pub network: bool,
    /// A folder outside of everything visible, to which all changes of `writable` folders go instead: a dry run. See
    /// [`Scratch`](crate::Scratch).
    pub scratch: Option<PathBuf>,
}

/// A layer of the sandbox, as this machine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// What it is called.
    pub name: &'static str,
    /// What it does for a command.
    pub does: &'static str,
    /// What cannot be had without it.
    pub need: Need,
    /// What there is, or why it is not there and what can be done.
    pub state: Result<String, String>,
}

/// What a layer is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Any command.
    Commands,
    /// Commands in the sandbox.
    Sandbox,
    /// Dry runs of commands.
    DryRun,
}

/// The layers of the sandbox on this machine, each tried out by a process of its own: this one is not changed.
pub fn layers() -> Vec<Layer> {
    crate::platform::layers()
}
