//! Connections that have not shown yet that they may come in: few, for a short time, the oldest leaves first.
//!
//! They have a place of their own, so that no number of them keeps a client with a token from being served.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Maximum number of connections of clients that were let in.
const MOST_MEMBERS: usize = 512;

/// Maximum number of connections that have not sent a request that was let in.
const MOST_STRANGERS: usize = 128;

/// All connections of a server.
pub(super) struct Lobby {
    strangers: Mutex<Waiting>,
    seats: Arc<Semaphore>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    /// In the order of their coming.
    all: VecDeque<(u64, CancellationToken)>,
}

/// One connection. Dropped, its place is free.
pub(super) struct Guest {
    lobby: Arc<Lobby>,
    id: u64,
    leave: CancellationToken,
    seat: OnceLock<OwnedSemaphorePermit>,
}

/// There are too many connections that were let in.
pub(super) struct NoSeat;

impl Lobby {
    pub(super) fn new() -> Arc<Lobby> {
        Arc::new(Lobby { strangers: Mutex::default(), seats: Arc::new(Semaphore::new(MOST_MEMBERS)) })
    }

    /// A new connection. Where there are too many like it, the oldest of them must leave.
    pub(super) fn enter(self: &Arc<Lobby>) -> Guest {
        let leave = CancellationToken::new();
        let mut strangers = self.lock();
        let id = strangers.next;
        strangers.next += 1;
        strangers.all.push_back((id, leave.clone()));
        if strangers.all.len() > MOST_STRANGERS
            && let Some((_, oldest)) = strangers.all.pop_front()
        {
            oldest.cancel();
        }
        drop(strangers);
        Guest { lobby: Arc::clone(self), id, leave, seat: OnceLock::new() }
    }

    fn forget(&self, id: u64) {
        self.lock().all.retain(|(one, _)| *one != id);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// The connection has shown that it may come in: it is not counted among strangers any more.
    pub(super) fn is_let_in(&self) -> Result<(), NoSeat> {
        if self.seat.get().is_some() {
            return Ok(());
        }
        let seat = Arc::clone(&self.lobby.seats).try_acquire_owned().map_err(|_| NoSeat)?;
        self.lobby.forget(self.id);
        let _ = self.seat.set(seat);
        Ok(())
    }

    /// Returns when the connection must be closed: for a newer one, or because it was not let in within its time.
    pub(super) async fn must_leave(&self, patience: Duration) {
        tokio::select! {
            () = self.leave.cancelled() => return,
            () = tokio::time::sleep(patience) => {}
        }
        if self.seat.get().is_some() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.lobby.forget(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_leave_oldest_first_and_members_stay() {
        let lobby = Lobby::new();
        let member = lobby.enter();
        assert!(member.is_let_in().is_ok());
        let mut guests: Vec<Guest> = (0..MOST_STRANGERS).map(|_| lobby.enter()).collect();
        assert!(guests.iter().all(|guest| !guest.leave.is_cancelled()));
        guests.push(lobby.enter());
        let gone: Vec<usize> = guests
            .iter()
            .enumerate()
            .filter(|(_, guest)| guest.leave.is_cancelled())
            .map(|(at, _)| at)
            .collect();
        assert_eq!(gone, [0]);
        assert!(!member.leave.is_cancelled());
        guests.clear();
        assert_eq!(lobby.lock().all.len(), 0);
        // Those who were let in have a bound of their own.
        let members: Vec<Guest> = (1..MOST_MEMBERS).map(|_| lobby.enter()).collect();
        assert!(members.iter().all(|member| member.is_let_in().is_ok()));
        assert!(lobby.enter().is_let_in().is_err());
        drop(member);
        assert!(lobby.enter().is_let_in().is_ok());
    }
}
