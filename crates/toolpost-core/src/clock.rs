//! Time, so that a test can hold it still.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Tells the time. Implemented by [`SystemClock`] and [`FakeClock`]; called by the executor for records and ids.
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

/// A clock that a test moves by hand: it stands still until told otherwise.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use toolpost_core::{Context, Memory};
/// use toolpost_core::host::{Clock, FakeClock};
///
/// let clock = Arc::new(FakeClock::at(1_700_000_000_000));
/// let ctx = Context::builder(Arc::new(Memory::new())).clock(clock.clone()).build();
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(ctx.clock().now_ms(), 1_700_000_090_000);
/// assert_eq!(ctx.clock().elapsed(), Duration::from_secs(90));
/// ```
#[derive(Debug, Default)]
pub struct FakeClock {
    start_ms: u64,
    passed: Mutex<Duration>,
}

impl FakeClock {
    /// A clock that stands at this moment, in milliseconds since 1970.
    pub fn at(now_ms: u64) -> FakeClock {
        FakeClock { start_ms: now_ms, passed: Mutex::default() }
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        *passed = passed.saturating_add(by);
    }
}

impl Clock for FakeClock {
    fn now_ms(&self) -> u64 {
        let passed = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.start_ms.saturating_add(passed)
    }

    fn elapsed(&self) -> Duration {
        *self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
