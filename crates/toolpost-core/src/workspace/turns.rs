//! The turn to change a file. Writers inside one process queue here, in the order they came; against other processes
//! a lock is tried for, again and again.
//!
//! Whoever waits holds no thread, and giving up is dropping the future.

use super::Lock;
use crate::blocking::in_pool;
use crate::error::ToolError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Mutex as Queue;

/// One queue a key, kept only while somebody holds or waits for the turn.
#[derive(Debug, Default)]
pub struct Turns(Mutex<HashMap<String, Weak<Queue<()>>>>);

impl Turns {
    /// Asks for the turn of a key.
    pub fn request(&self, key: &str) -> LockRequest {
        LockRequest { queue: self.queue(key), attempts: Vec::new() }
    }

    fn queue(&self, key: &str) -> Arc<Queue<()>> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(key).and_then(Weak::upgrade) {
            return queue;
        }
        // Whoever makes a new queue sweeps out the dead ones, so that the map is as large as what is in use.
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(Queue::new(()));
        queues.insert(key.to_owned(), Arc::downgrade(&queue));
        queue
    }
}

/// A turn that was asked for and not yet given.
#[must_use = "the turn is given by `wait`"]
pub struct LockRequest {
    queue: Arc<Queue<()>>,
    attempts: Vec<Attempt>,
}

/// One try for a lock that other processes may hold.
struct Attempt {
    longest_pause: Duration,
    run: Box<dyn FnMut() -> Result<Option<Lock>, ToolError> + Send>,
}

impl LockRequest {
    /// Takes another lock too, after those before it. `attempt` blocks for a short time at most and returns `None`
    /// where somebody else has the lock; it is then repeated, after pauses that grow up to the longest.
    pub fn then(
        mut self,
        longest_pause: Duration,
        attempt: impl FnMut() -> Result<Option<Lock>, ToolError> + Send + 'static,
    ) -> LockRequest {
        self.attempts.push(Attempt { longest_pause, run: Box::new(attempt) });
        self
    }

    /// Waits for the turn. Dropping the future gives up the place in the queue.
    pub async fn wait(self) -> Result<Lock, ToolError> {
        let mut lock = Lock::new(self.queue.lock_owned().await);
        for attempt in self.attempts {
            // Given back in the opposite order.
            lock = Lock::new((attempt.wait().await?, lock));
        }
        Ok(lock)
    }
}

impl Attempt {
    async fn wait(self) -> Result<Lock, ToolError> {
        let Attempt { longest_pause, mut run } = self;
        let mut pause = Duration::from_millis(1);
        loop {
            let (result, again) = in_pool(move || (run(), run)).await?;
            if let Some(lock) = result? {
                return Ok(lock);
            }
            run = again;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest_pause);
        }
    }
}
