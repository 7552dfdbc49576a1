//! Connections that wait for the next request.

use super::Sender;
use super::connect::Target;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Maximum number of idle connections of one client; past it, the oldest is closed.
const MAX_IDLE: usize = 64;

pub(super) struct Pool {
    max_per_target: usize,
    lifetime: Duration,
    /// Oldest first.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    target: Target,
    sender: Sender,
    since: Instant,
}

impl Pool {
    pub(super) fn new(max_per_target: usize, lifetime: Duration) -> Pool {
        Pool { max_per_target, lifetime, idle: Mutex::default() }
    }

    /// A connection to this target, the one that was used last.
    pub(super) fn take(&self, target: &Target) -> Option<Sender> {
        let mut idle = self.swept();
        let found = idle.iter().rposition(|one| one.target == *target)?;
        Some(idle.remove(found).sender)
    }

    fn keep(&self, target: Target, sender: Sender) {
        let mut idle = self.swept();
        let count = idle.iter().filter(|one| one.target == target).count();
        if count >= self.max_per_target || sender.is_closed() {
            return;
        }
        if idle.len() >= MAX_IDLE {
            idle.remove(0);
        }
        idle.push(Idle { target, sender, since: Instant::now() });
    }

    /// The idle connections, without those that have ended or waited too long.
    fn swept(&self) -> MutexGuard<'_, Vec<Idle>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|one| !one.sender.is_closed() && one.since.elapsed() < self.lifetime);
        idle
    }
}

/// A connection that is in use. Dropped, it is closed.
pub(super) struct Lease {
    pool: Weak<Pool>,
    target: Target,
    sender: Sender,
}

impl Lease {
    pub(super) fn new(pool: &Arc<Pool>, target: &Target, sender: Sender) -> Lease {
        Lease { pool: Arc::downgrade(pool), target: target.clone(), sender }
    }

    /// Keeps the connection for the next request. Only for one whose response was read to its end.
    pub(super) fn end(self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.keep(self.target, self.sender);
        }
    }
}
