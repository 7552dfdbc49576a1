//! When the reading of a page has to stop: at a deadline, or because nobody waits for it any more.

use std::cell::Cell;
use std::fmt;

/// How often the caller is asked: once for this many steps.
const STEPS: u32 = 1024;

/// Says whether to stop. Loops over what a server sent ask it at each step; the caller's own test, which may look at the
/// clock, runs only now and then.
pub struct Stop<'a> {
    is_due: &'a dyn Fn() -> bool,
    steps: Cell<u32>,
    has_come: Cell<bool>,
}

/// The page was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the page takes too long to read")
    }
}

impl std::error::Error for Stopped {}

impl<'a> Stop<'a> {
    /// Stops when the test says so.
    pub fn when(is_due: &'a dyn Fn() -> bool) -> Stop<'a> {
        Stop { is_due, steps: Cell::new(0), has_come: Cell::new(false) }
    }

    /// Whether to stop. Once it has said so, it stays.
    pub(crate) fn is_due(&self) -> bool {
        let steps = self.steps.get() + 1;
        self.steps.set(steps % STEPS);
        if steps == STEPS && (self.is_due)() {
            self.has_come.set(true);
        }
        self.has_come.get()
    }

    /// A result that is whole; an error if something was left out because it was time to stop.
    pub(crate) fn checked<T>(&self, result: T) -> Result<T, Stopped> {
        if self.has_come.get() { Err(Stopped) } else { Ok(result) }
    }
}

impl Stop<'static> {
    /// Never stops.
    pub fn never() -> Stop<'static> {
        Stop::when(&|| false)
    }
}
