//! Every file of a workspace with what tells whether it has changed, for those who keep what they found out about files.
//!
//! A sweep reads nothing but names and times. What it remembers lets the next one read only the folders that changed; it
//! never lets a change pass: whatever cannot be told apart by its times is looked at again.

use std::any::Any;

/// What tells a changed file from an unchanged one without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// Size in bytes.
    pub size: u64,
    /// A number of the file itself and of the time of its last change.
    pub mark: u64,
    /// Whether a later change is sure to have another mark. It is not while the last change is so recent that another
    /// one may get the same time.
    pub is_settled: bool,
}

/// Which files a sweep looks for. Implemented by who keeps an index; called by the workspace, from any thread. The answers
/// for one name are always the same.
pub trait Select: Send + Sync {
    /// Whether the file of this display name is of interest.
    fn wants(&self, name: &str) -> bool;

    /// Whether the file or folder of this display name may be seen.
    fn admits(&self, name: &str) -> bool;

    /// Whether the file or folder of this display name is looked at although its name begins with a dot.
    fn looks_at_dotted(&self, _name: &str) -> bool {
        false
    }

    /// The ignore files leave out a folder, or a file that is of interest.
    fn left_out(&self, _name: &str) {}
}

/// What a sweep leaves for the next one of the same workspace with the same selection. Only the workspace knows what it is.
#[derive(Default)]
pub struct SweepMemory(Option<Box<dyn Any + Send>>);

impl SweepMemory {
    /// Takes out what was left, if it is of this type.
    pub fn take<T: Any + Send>(&mut self) -> Option<T> {
        self.0.take()?.downcast().ok().map(|left| *left)
    }

    /// Leaves something.
    pub fn leave<T: Any + Send>(&mut self, left: T) {
        self.0 = Some(Box::new(left));
    }
}
