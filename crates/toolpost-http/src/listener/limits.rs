//! Limits for connections: unauthenticated ones are few and short, and the oldest is closed first.
//!
//! They are counted apart, so that no number of them keeps a client with a token from being served.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Maximum number of connections that have sent an authenticated request.
const MAX_AUTHENTICATED: usize = 512;

/// Maximum number of connections that have not.
const MAX_UNAUTHENTICATED: usize = 128;

/// All connections of a server.
pub(super) struct ConnectionLimits {
    waiting: Mutex<Waiting>,
    seats: Arc<Semaphore>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    /// Oldest first.
    all: VecDeque<(u64, CancellationToken)>,
}

/// The slot of one connection, free again when it is dropped.
pub(super) struct Slot {
    limits: Arc<ConnectionLimits>,
    id: u64,
    close: CancellationToken,
    seat: OnceLock<OwnedSemaphorePermit>,
}

/// There are too many authenticated connections.
pub(super) struct TooManyConnections;

impl ConnectionLimits {
    pub(super) fn new() -> Arc<ConnectionLimits> {
        Arc::new(ConnectionLimits {
            waiting: Mutex::default(),
            seats: Arc::new(Semaphore::new(MAX_AUTHENTICATED)),
        })
    }

    /// The slot of a new connection. If there are too many unauthenticated ones, the oldest is closed.
    pub(super) fn enter(self: &Arc<ConnectionLimits>) -> Slot {
        let close = CancellationToken::new();
        let mut waiting = self.lock();
        let id = waiting.next;
        waiting.next += 1;
        waiting.all.push_back((id, close.clone()));
        if waiting.all.len() > MAX_UNAUTHENTICATED
            && let Some((_, oldest)) = waiting.all.pop_front()
        {
            oldest.cancel();
        }
        drop(waiting);
        Slot { limits: Arc::clone(self), id, close, seat: OnceLock::new() }
    }

    fn forget(&self, id: u64) {
        self.lock().all.retain(|(one, _)| *one != id);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Takes note of an authenticated request: the connection no longer counts as unauthenticated.
    pub(super) fn admit(&self) -> Result<(), TooManyConnections> {
        if self.seat.get().is_some() {
            return Ok(());
        }
        let seat = Arc::clone(&self.limits.seats).try_acquire_owned().map_err(|_| TooManyConnections)?;
        self.limits.forget(self.id);
        let _ = self.seat.set(seat);
        Ok(())
    }

    /// Returns when the connection must be closed: for a newer one, or because it did not authenticate in time.
    pub(super) async fn closed(&self, timeout: Duration) {
        tokio::select! {
            () = self.close.cancelled() => return,
            () = tokio::time::sleep(timeout) => {}
        }
        if self.seat.get().is_some() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.limits.forget(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_closed_first_and_authenticated_ones_stay() {
        let limits = ConnectionLimits::new();
        let admitted = limits.enter();
        assert!(admitted.admit().is_ok());
        let mut slots: Vec<Slot> = (0..MAX_UNAUTHENTICATED).map(|_| limits.enter()).collect();
        assert!(slots.iter().all(|slot| !slot.close.is_cancelled()));
        slots.push(limits.enter());
        let gone: Vec<usize> = slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.close.is_cancelled())
            .map(|(at, _)| at)
            .collect();
        assert_eq!(gone, [0]);
        assert!(!admitted.close.is_cancelled());
        slots.clear();
        assert_eq!(limits.lock().all.len(), 0);
        // Authenticated connections have a limit of their own.
        let others: Vec<Slot> = (1..MAX_AUTHENTICATED).map(|_| limits.enter()).collect();
        assert!(others.iter().all(|slot| slot.admit().is_ok()));
        assert!(limits.enter().admit().is_err());
        drop(others);
        assert!(limits.enter().admit().is_ok());
    }
}
