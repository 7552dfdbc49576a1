//! When a call must be done, not counting the time it waits for a person.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Longer than any call: what `tokio` itself takes for never.
const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);

/// A moment that moves on while the call is paused.
#[derive(Clone)]
pub(crate) struct Deadline(Option<Arc<Shared>>);

struct Shared {
    state: Mutex<State>,
    resumed: Notify,
    /// The deadline of the call that made this one: it too stands still while a person is asked.
    above: Deadline,
}

struct State {
    at: Instant,
    /// Nested pauses, and when the outermost one began.
    pauses: usize,
    since: Instant,
    paused: Duration,
}

impl Deadline {
    pub(crate) fn none() -> Deadline {
        Deadline(None)
    }

    /// A deadline within this one.
    pub(crate) fn after(&self, limit: Duration) -> Deadline {
        let now = Instant::now();
        // A limit beyond all time is none that a clock could show.
        let at = now.checked_add(limit).unwrap_or(now + FAR);
        let state = State { at, pauses: 0, since: now, paused: Duration::ZERO };
        let shared = Shared { state: Mutex::new(state), resumed: Notify::new(), above: self.clone() };
        Deadline(Some(Arc::new(shared)))
    }

    /// Time left, here and above; what passes during a pause does not count.
    pub(crate) fn left(&self) -> Option<Duration> {
        let shared = self.0.as_ref()?;
        let state = shared.state();
        let now = if state.pauses > 0 { state.since } else { Instant::now() };
        let left = state.at.saturating_duration_since(now);
        drop(state);
        Some(shared.above.left().map_or(left, |above| above.min(left)))
    }

    /// How long the clock has stood still so far.
    pub(crate) fn paused(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |shared| shared.state().paused)
    }

    /// Stops the clock, here and above, until the guard is dropped.
    pub(crate) fn pause(&self) -> Pause<'_> {
        for shared in self.chain() {
            let mut state = shared.state();
            if state.pauses == 0 {
                state.since = Instant::now();
            }
            state.pauses += 1;
        }
        Pause(self)
    }

    fn chain(&self) -> impl Iterator<Item = &Shared> {
        std::iter::successors(self.0.as_deref(), |shared| shared.above.0.as_deref())
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
        for shared in self.0.chain() {
            let mut state = shared.state();
            state.pauses -= 1;
            if state.pauses == 0 {
                let waited = state.since.elapsed();
                state.at = state.at.checked_add(waited).unwrap_or(state.at);
                state.paused += waited;
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
        let outer = Deadline::none().after(Duration::from_secs(12));
        let deadline = outer.after(Duration::from_secs(10));
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
        assert_eq!(deadline.paused().as_secs(), 60);
        assert_eq!(outer.left(), Some(Duration::from_secs(2)));
        assert_eq!(outer.after(Duration::MAX).left(), Some(Duration::from_secs(2)));
        assert_eq!(Deadline::none().left(), None);
    }
}
