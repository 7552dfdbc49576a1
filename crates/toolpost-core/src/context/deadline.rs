//! When a call must be done, not counting the time it waits for a person.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// A moment that moves on while the call is paused.
#[derive(Clone)]
pub(crate) struct Deadline(Option<Arc<Shared>>);

struct Shared {
    state: Mutex<State>,
    resumed: Notify,
}

struct State {
    at: Instant,
    /// Nested pauses, and when the outermost one began.
    pauses: usize,
    since: Instant,
}

impl Deadline {
    pub(crate) fn none() -> Deadline {
        Deadline(None)
    }

    pub(crate) fn after(limit: Duration) -> Deadline {
        let now = Instant::now();
        let state = State { at: now + limit, pauses: 0, since: now };
        Deadline(Some(Arc::new(Shared { state: Mutex::new(state), resumed: Notify::new() })))
    }

    /// Time left; what passes during a pause does not count.
    pub(crate) fn left(&self) -> Option<Duration> {
        let state = self.0.as_ref()?.state();
        let now = if state.pauses > 0 { state.since } else { Instant::now() };
        Some(state.at.saturating_duration_since(now))
    }

    /// Stops the clock until the guard is dropped.
    pub(crate) fn pause(&self) -> Pause<'_> {
        if let Some(shared) = &self.0 {
            let mut state = shared.state();
            if state.pauses == 0 {
                state.since = Instant::now();
            }
            state.pauses += 1;
        }
        Pause(self)
    }

    /// Returns when the time is over; never, if there is no limit.
    pub(crate) async fn reached(&self) {
        let Some(shared) = &self.0 else { return std::future::pending().await };
        loop {
            let resumed = shared.resumed.notified();
            let (at, is_paused) = {
                let state = shared.state();
                (state.at, state.pauses > 0)
            };
            if is_paused {
                resumed.await;
            } else if Instant::now() >= at {
                return;
            } else {
                tokio::time::sleep_until(at).await;
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clock stands still while this lives.
pub(crate) struct Pause<'a>(&'a Deadline);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        if let Some(shared) = &self.0.0 {
            let mut state = shared.state();
            state.pauses -= 1;
            if state.pauses == 0 {
                let waited = state.since.elapsed();
                state.at += waited;
            }
            drop(state);
            shared.resumed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_pause_moves_the_deadline() {
        let start = Instant::now();
        let deadline = Deadline::after(Duration::from_secs(10));
        let pausing = deadline.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            let _outer = pausing.pause();
            let _inner = pausing.pause();
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert_eq!(pausing.left(), Some(Duration::from_secs(6)));
        });
        deadline.reached().await;
        assert_eq!(start.elapsed().as_secs(), 70);
        assert_eq!(Deadline::none().left(), None);
    }
}
