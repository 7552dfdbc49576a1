//! Time, so that a test can hold it still.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Tells the time. Implemented by [`SystemClock`] and by tests; called by the executor for records and ids.
///
/// Sleeping and deadlines use tokio's timer, which tests pause by themselves.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;

    /// Time since some fixed moment, never going back.
    fn elapsed(&self) -> Duration;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose `elapsed` counts from now.
    pub fn new() -> SystemClock {
        SystemClock { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}
