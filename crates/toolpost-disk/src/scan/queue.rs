//! What is still to be done, shared by the threads of a scan. The newest comes first, so that the list stays short.

use super::folder::{Found, OpenFolder};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use toolpost_walk::Rules;

/// One piece of work.
pub(super) enum Work {
    /// A folder, by its path below the root.
    Folder { below: String, rules: Arc<Rules> },
    /// Some files of an open folder.
    Files { folder: Arc<OpenFolder>, files: Vec<Found> },
}

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    work: Vec<Work>,
    /// Pieces that are being worked on, which may bring more.
    busy: usize,
    waiting: usize,
    ended: bool,
}

impl Queue {
    /// The next piece; `None` once there is none and will be none. The taker says when it is [`Queue::done`].
    pub(super) fn next(&self) -> Option<Work> {
        let mut state = self.state();
        loop {
            if state.ended {
                return None;
            }
            if let Some(work) = state.work.pop() {
                state.busy += 1;
                return Some(work);
            }
            if state.busy == 0 {
                state.ended = true;
                self.changed.notify_all();
                return None;
            }
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    pub(super) fn done(&self) {
        let mut state = self.state();
        state.busy -= 1;
        if state.busy == 0 && state.work.is_empty() {
            self.changed.notify_all();
        }
    }

    pub(super) fn push(&self, work: Work) {
        self.extend(vec![work]);
    }

    pub(super) fn extend(&self, work: Vec<Work>) {
        if work.is_empty() {
            return;
        }
        let mut state = self.state();
        state.work.extend(work);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Whether some thread has nothing to do.
    pub(super) fn is_hungry(&self) -> bool {
        let state = self.state();
        state.waiting > state.work.len()
    }

    /// Nothing more is handed out.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    pub(super) fn end_on_panic(&self) -> EndOnPanic<'_> {
        EndOnPanic(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the queue when its thread unwinds.
pub(super) struct EndOnPanic<'a>(&'a Queue);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}
