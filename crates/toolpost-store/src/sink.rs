//! The log as a sink of events: what is recorded is written together, a few times a second or when somebody waits for it.

use crate::store::now_ms;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use toolpost_core::event::EventSink;
use toolpost_core::host::BoxFuture;
use toolpost_core::store::{Retention, Store};
use toolpost_core::{Code, Event, ToolError};

/// The longest time that an event waits where nobody asks for it.
const DELAY: Duration = Duration::from_millis(40);
/// Maximum number of events that are written together.
const TOGETHER: usize = 4_096;
/// Maximum number of events that wait for a store which cannot be written.
const MOST_UNWRITTEN: usize = 100_000;
/// How often a long process looks whether something is to be deleted.
const BETWEEN_LOOKS: Duration = Duration::from_secs(60 * 60);

enum Said {
    Event(Arc<Event>),
    /// Somebody waits until all before is durable.
    Commit(oneshot::Sender<Result<(), ToolError>>),
}

/// What is done to an event before it is kept.
pub type Shape = Box<dyn Fn(&Arc<Event>) -> Arc<Event> + Send + Sync>;

/// Writes events into a store.
pub struct StoreLog {
    said: Mutex<Option<Sender<Said>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    shape: Shape,
}

impl StoreLog {
    /// A log in this store. Each event is kept as `shape` makes it, and what is older than `keep` says is deleted.
    pub fn new(store: Arc<dyn Store>, shape: Shape, keep: Retention) -> Result<StoreLog, ToolError> {
        let (said, heard) = channel();
        let thread = std::thread::Builder::new()
            .name("toolpost-log".to_owned())
            .spawn(move || serve(&*store, &heard, &keep))
            .map_err(|error| {
                ToolError::new(
                    Code::ExecutionError,
                    format!("no thread for the log could be started: {error}"),
                )
            })?;
        Ok(StoreLog { said: Mutex::new(Some(said)), thread: Mutex::new(Some(thread)), shape })
    }

    fn say(&self, said: Said) {
        if let Some(sender) = &*self.said.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = sender.send(said);
        }
    }
}

impl Drop for StoreLog {
    fn drop(&mut self) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}

impl EventSink for StoreLog {
    fn record(&self, event: &Arc<Event>) {
        self.say(Said::Event((self.shape)(event)));
    }

    fn commit(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        let (answer, done) = oneshot::channel();
        self.say(Said::Commit(answer));
        Box::pin(async move {
            done.await.unwrap_or_else(|_| {
                Err(ToolError::new(
                    Code::StoreNotAvailable,
                    "the log has ended, so nothing is recorded any more",
                ))
            })
        })
    }
}

fn serve(store: &dyn Store, heard: &Receiver<Said>, keep: &Retention) {
    let mut unwritten = Unwritten::default();
    let mut looked: Option<Instant> = None;
    let mut is_over = false;
    while !is_over {
        let Ok(first) = heard.recv() else { return };
        let (mut events, mut waiting) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        let until = Instant::now() + DELAY;
        while let Some(said) = next {
            match said {
                Said::Event(event) => events.push(event),
                Said::Commit(answer) => waiting.push(answer),
            }
            // Where somebody waits, only what has come in already goes with it.
            let left = if waiting.is_empty() {
                until.saturating_duration_since(Instant::now())
            } else {
                Duration::ZERO
            };
            next = match events.len() < TOGETHER {
                true => heard
                    .recv_timeout(left)
                    .inspect_err(|end| is_over = *end == RecvTimeoutError::Disconnected)
                    .ok(),
                false => None,
            };
        }
        let written = unwritten.write(store, events);
        let is_written = written.is_ok();
        for answer in waiting {
            let _ = answer.send(written.clone());
        }
        // Nobody waits for this. What cannot be deleted today is tomorrow.
        if is_written && looked.is_none_or(|at| at.elapsed() > BETWEEN_LOOKS) {
            looked = Some(Instant::now());
            let _ = store.collect_daily(keep, now_ms());
        }
    }
}

/// Events that could not be written, in the parts in which they came: they are tried again before any others.
#[derive(Default)]
struct Unwritten {
    parts: VecDeque<Vec<Arc<Event>>>,
    events: usize,
    /// Set where there were too many. From then on the log has a gap, and nobody is told that it is whole.
    lost: Option<ToolError>,
}

impl Unwritten {
    /// Writes everything, the oldest first.
    fn write(&mut self, store: &dyn Store, events: Vec<Arc<Event>>) -> Result<(), ToolError> {
        self.events += events.len();
        self.parts.extend((!events.is_empty()).then_some(events));
        while let Some(part) = self.parts.front() {
            if let Err(error) = store.append(part) {
                while self.events > MOST_UNWRITTEN {
                    self.events -= self.parts.pop_back().map_or(self.events, |part| part.len());
                    self.lost.get_or_insert(error.clone());
                }
                return Err(error);
            }
            self.events -= part.len();
            self.parts.pop_front();
        }
        self.lost.clone().map_or(Ok(()), Err)
    }
}
