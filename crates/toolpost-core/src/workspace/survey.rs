//! Which files of a disk a command may not see or change: asked of every name, for the kernel to enforce.

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
    /// The mark of a display name.
    fn mark(&self, name: &str) -> Mark;

    /// Whether sockets are hidden, whatever their names.
    fn hides_sockets(&self) -> bool;
}

/// A file or folder that is not free, by its absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// Where it is.
    pub path: String,
    /// What a command may do with it.
    pub mark: Mark,
}
