//! A last check before a program is started.

use std::fmt;
use std::sync::Arc;

/// A check that runs immediately before a program is started, every time it is started. The default always passes.
///
/// Made by whoever decides what may be started; called by whoever starts it. It may read files, so callers run it where
/// blocking is allowed. The error says what is wrong and what to do.
#[derive(Clone, Default)]
pub struct StartCheck(Option<Arc<Check>>);

type Check = dyn Fn() -> Result<(), String> + Send + Sync;

impl StartCheck {
    /// Runs `check` before every start.
    pub fn new(check: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> StartCheck {
        StartCheck(Some(Arc::new(check)))
    }

    /// Whether the program may be started now.
    pub fn run(&self) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |check| check())
    }

    /// Whether there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for StartCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "StartCheck(none)" } else { "StartCheck" })
    }
}

impl PartialEq for StartCheck {
    /// Two checks are equal if they are the same one.
    fn eq(&self, other: &StartCheck) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => Arc::ptr_eq(mine, theirs),
            _ => false,
        }
    }
}

impl Eq for StartCheck {}
