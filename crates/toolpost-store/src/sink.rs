//! The log as a sink of events: what is recorded is written together, a few times a second or when somebody waits for it.

use crate::db::UNKNOWN;
use crate::store::now_ms;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use toolpost_core::event::{EventKind, EventSink};
use toolpost_core::host::BoxFuture;
use toolpost_core::store::{Retention, Store};
use toolpost_core::{Code, Event, ToolError};

/// Maximum time that an event waits where nobody asks for it.
const DELAY: Duration = Duration::from_millis(40);
/// Maximum number of events that are written together.
const TOGETHER: usize = 4_096;
/// Maximum number of events that wait for a store that fails; of more, the oldest are dropped.
const MOST_UNWRITTEN: usize = 20_000;
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
    loop {
        let Ok(first) = heard.recv() else { return };
        let mut batch = Batch::default();
        batch.take(first);
        let until = Instant::now() + DELAY;
        let mut is_over = false;
        while batch.waiting.is_empty() && batch.events.len() < TOGETHER && !is_over {
            match heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(said) => batch.take(said),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => is_over = true,
            }
        }
        // Whatever has come in meanwhile goes with it.
        while batch.events.len() < TOGETHER
            && let Ok(said) = heard.try_recv()
        {
            batch.take(said);
        }
        let written = unwritten.write(store, batch.events);
        for answer in batch.waiting {
            let _ = answer.send(written.clone());
        }
        // Nobody waits for this. What cannot be deleted today is tomorrow.
        if written.is_ok() && looked.is_none_or(|at| at.elapsed() > BETWEEN_LOOKS) {
            looked = Some(Instant::now());
            let _ = store.collect_daily(keep, now_ms());
        }
        if is_over {
            return;
        }
    }
}

/// What is written together, and who waits for it.
#[derive(Default)]
struct Batch {
    events: Vec<Arc<Event>>,
    waiting: Vec<oneshot::Sender<Result<(), ToolError>>>,
}

impl Batch {
    fn take(&mut self, said: Said) {
        match said {
            Said::Event(event) => self.events.push(event),
            Said::Commit(answer) => self.waiting.push(answer),
        }
    }
}

/// Events that the store would not take: they go with the next ones.
#[derive(Default)]
struct Unwritten {
    events: Vec<Arc<Event>>,
    /// How many had to be dropped.
    dropped: usize,
}

impl Unwritten {
    /// Writes what is left and what is new. While that fails, whoever waits hears of it.
    fn write(&mut self, store: &dyn Store, new: Vec<Arc<Event>>) -> Result<(), ToolError> {
        self.events.extend(new);
        if let (1.., Some(last)) = (self.dropped, self.events.last()) {
            let message = format!("{} events of the log were lost, because the store failed", self.dropped);
            let mut note = (**last).clone();
            (note.call, note.kind) = (None, EventKind::Warning { message });
            self.events.insert(0, Arc::new(note));
            self.dropped = 0;
        }
        if self.events.is_empty() {
            return Ok(());
        }
        match store.append(&self.events) {
            Ok(()) => {
                self.events.clear();
                Ok(())
            }
            Err(error) => {
                // What may have been written is not written again.
                let is_unknown = error.details().contains_key(UNKNOWN);
                let too_many = self.events.len().saturating_sub(MOST_UNWRITTEN);
                let drop = if is_unknown { self.events.len() } else { too_many };
                self.dropped += self.events.drain(..drop).count();
                Err(error)
            }
        }
    }
}
