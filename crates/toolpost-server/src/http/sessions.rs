//! The sessions of clients that have shaken hands, by the id that they were given.

use super::stream::{Bell, Lifetime};
use super::text;
use crate::seal::random;
use crate::session::Session;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use toolpost_core::text::hex;
use toolpost_http::HeaderMap;
use toolpost_mcp::header::SESSION;

/// So many are kept; of more, the one that was silent longest is forgotten.
const MOST: usize = 1_000;

#[derive(Default)]
pub(super) struct Sessions {
    all: Mutex<HashMap<String, Kept>>,
    keys: AtomicU64,
}

struct Kept {
    found: Found,
    seen: Instant,
}

/// A session and its stream.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) session: Arc<Session>,
    pub(super) bell: Bell,
}

impl Sessions {
    /// Keeps a session. Returns its id.
    pub(super) fn add(&self, session: Arc<Session>) -> String {
        let id = hex(&random::<16>());
        let mut all = self.all();
        if all.len() >= MOST
            && let Some(oldest) = all.iter().min_by_key(|(_, kept)| kept.seen).map(|(id, _)| id.clone())
            && let Some(gone) = all.remove(&oldest)
        {
            gone.found.session.close();
            gone.found.session.cancel.cancel();
        }
        let bell = Bell::new(Lifetime(session.closing.clone()));
        all.insert(id.clone(), Kept { found: Found { session, bell }, seen: Instant::now() });
        id
    }

    pub(super) fn find(&self, headers: &HeaderMap) -> Option<Found> {
        let mut all = self.all();
        let kept = all.get_mut(text(headers, SESSION)?)?;
        kept.seen = Instant::now();
        Some(kept.found.clone())
    }

    pub(super) fn remove(&self, headers: &HeaderMap) -> Option<Found> {
        self.all().remove(text(headers, SESSION)?).map(|kept| kept.found)
    }

    /// A number that no other request has.
    pub(super) fn next_key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Kept>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
