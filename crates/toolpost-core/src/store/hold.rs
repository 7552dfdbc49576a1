//! Who goes on with a run.

use std::any::Any;
use std::fmt;

/// A run that this process holds, until this is dropped or the process ends.
pub struct Hold(#[expect(dead_code, reason = "it is kept to be dropped")] Box<dyn Any + Send>);

impl Hold {
    /// Held as long as this lock.
    pub fn new(lock: Box<dyn Any + Send>) -> Hold {
        Hold(lock)
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hold")
    }
}

/// Who may hold a run that is to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldBy {
    /// Nobody who lives.
    Nobody,
    /// Anybody: a process that hangs loses it.
    Anybody,
}
