//! Turns inside one process: writers to one file queue here, in the order they came.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// One queue a key, kept only while somebody holds or waits for the turn.
#[derive(Debug, Default)]
pub struct Turns(Mutex<HashMap<String, Weak<Turn<()>>>>);

impl Turns {
    /// Waits for the turn; giving up the future gives up the place in the queue.
    pub async fn take(&self, key: &str) -> OwnedMutexGuard<()> {
        self.turn(key).lock_owned().await
    }

    fn turn(&self, key: &str) -> Arc<Turn<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(key).and_then(Weak::upgrade) {
            return turn;
        }
        // Whoever makes a new queue sweeps out the dead ones, so that the map is as large as what is in use.
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Turn::new(()));
        turns.insert(key.to_owned(), Arc::downgrade(&turn));
        turn
    }
}
