//! Who goes on with a run.

use std::any::Any;
use std::fmt;

/// A run that this process holds, until this is dropped or the process ends.
pub struct Hold {
    lock: Box<dyn Any + Send>,
    release: Option<Box<dyn FnOnce() + Send>>,
}

impl Hold {
    /// Held as long as this lock.
    pub fn new(lock: Box<dyn Any + Send>) -> Hold {
        Hold { lock, release: None }
    }

    /// Does this too when it is released.
    #[must_use]
    pub fn with_release(self, release: impl FnOnce() + Send + 'static) -> Hold {
        Hold { release: Some(Box::new(release)), ..self }
    }

    /// Ends it for a process that goes on. The store writes on whoever holds the run next, so everything of the run must be
    /// written before. After a plain drop it may refuse to write instead.
    pub fn release(self) {
        if let Some(release) = self.release {
            release();
        }
        drop(self.lock);
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
