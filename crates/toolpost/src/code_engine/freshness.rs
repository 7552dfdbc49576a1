//! Keeps the index as fresh as its files: each question compares them first. A long comparison goes on in a thread of its own,
//! and a question that cannot wait for its end is answered from what is there, and says so.

use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use toolpost_code::engine::{Engine, Refreshed};
use toolpost_core::code::Coverage;
use toolpost_core::{Code, Context, ToolError};

/// How long is waited before looking whether the call still wants an answer.
const STEP: Duration = Duration::from_millis(50);
/// The part of a call's time that is kept for the answer, and the most of it.
const RESERVE: u32 = 5;
const MOST_RESERVE: Duration = Duration::from_secs(5);

/// An index and how fresh it is.
pub(super) struct Freshness {
    engine: Arc<Engine>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    done: AtomicUsize,
    of: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// How many comparisons were started, and how many have ended.
    started: u64,
    ended: u64,
    is_running: bool,
    last: Option<Result<Refreshed, String>>,
}

impl Freshness {
    pub(super) fn new(engine: Engine) -> Freshness {
        Freshness { engine: Arc::new(engine), shared: Arc::default() }
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Waits until a comparison that began after this call has ended, or the time of the call is nearly over.
    pub(super) fn refresh(&self, ctx: &Context) -> Result<Coverage, ToolError> {
        let reserve = ctx.time_left().map(|left| (left / RESERVE).min(MOST_RESERVE));
        let mut state = self.shared.lock();
        // One that runs already may have passed over what has changed since.
        let wanted = state.started + 1;
        let mut told = Instant::now();
        loop {
            if state.ended >= wanted {
                return coverage(&state);
            }
            if !state.is_running {
                if state.started < wanted {
                    self.start(&mut state);
                } else {
                    return coverage(&state);
                }
            }
            state = match self.shared.changed.wait_timeout(state, STEP) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
            if state.ended >= wanted {
                return coverage(&state);
            }
            ctx.checkpoint()?;
            let (done, of) =
                (self.shared.done.load(Ordering::Relaxed), self.shared.of.load(Ordering::Relaxed));
            if ctx.time_left() < reserve {
                let part = if of > 0 { format!(" ({done} of {of} files)") } else { String::new() };
                let note = format!("the index is still being made{part}; ask again for the rest");
                return Ok(Coverage { complete: false, note: Some(note) });
            }
            if of > 0 && told.elapsed() > Duration::from_millis(200) {
                told = Instant::now();
                ctx.progress(format!("indexing, {done} of {of} files"), json!({"done": done, "of": of}));
            }
        }
    }

    fn start(&self, state: &mut State) {
        state.started += 1;
        state.is_running = true;
        self.shared.done.store(0, Ordering::Relaxed);
        self.shared.of.store(0, Ordering::Relaxed);
        let (engine, shared) = (Arc::clone(&self.engine), Arc::clone(&self.shared));
        let number = state.started;
        let work = move || {
            // Whatever happens, nobody may wait for it forever.
            let end = End { shared: &shared, number };
            let refreshed = engine.refresh(&|progress| {
                shared.done.store(progress.done, Ordering::Relaxed);
                shared.of.store(progress.of, Ordering::Relaxed);
            });
            shared.lock().last = Some(refreshed.map_err(|error| error.to_string()));
            drop(end);
        };
        if thread::Builder::new().name("code index".to_owned()).spawn(work).is_err() {
            state.is_running = false;
            state.ended = state.started;
            state.last = Some(Err("no thread could be started".to_owned()));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct End<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_running = false;
        state.ended = self.number;
        if thread::panicking() {
            state.last = Some(Err("the index crashed".to_owned()));
        }
        self.shared.changed.notify_all();
    }
}

fn coverage(state: &State) -> Result<Coverage, ToolError> {
    match &state.last {
        Some(Ok(_)) => Ok(Coverage { complete: true, note: None }),
        Some(Err(error)) => {
            let message = format!("the code could not be indexed: {error}; search the text of files instead");
            Err(ToolError::new(Code::SearchError, message))
        }
        None => Ok(Coverage { complete: false, note: None }),
    }
}
