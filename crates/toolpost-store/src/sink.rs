//! The log as a sink of events: what is recorded is written together, a few times a second or when somebody waits for it.

use crate::store::now_ms;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use toolpost_core::event::EventSink;
use toolpost_core::host::BoxFuture;
use toolpost_core::store::{Retention, Store};
use toolpost_core::{Code, Event, ToolError};

/// An event waits so long at most, where nobody asks for it.
const DELAY: Duration = Duration::from_millis(40);
/// And so many at most are written together.
const TOGETHER: usize = 4_096;
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
    let mut failed: Option<ToolError> = None;
    let mut looked: Option<Instant> = None;
    loop {
        let Ok(first) = heard.recv() else { return };
        let (mut events, mut waiting) = (Vec::new(), Vec::new());
        let mut take = |said: Said| -> bool {
            match said {
                Said::Event(event) => events.push(event),
                Said::Commit(answer) => waiting.push(answer),
            }
            !waiting.is_empty() || events.len() >= TOGETHER
        };
        let until = Instant::now() + DELAY;
        let mut is_enough = take(first);
        let mut is_over = false;
        while !is_enough {
            match heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(said) => is_enough = take(said),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    is_over = true;
                    break;
                }
            }
        }
        // Whatever has come in meanwhile goes with it.
        while events.len() < TOGETHER
            && let Ok(said) = heard.try_recv()
        {
            match said {
                Said::Event(event) => events.push(event),
                Said::Commit(answer) => waiting.push(answer),
            }
        }
        let written = if events.is_empty() { Ok(()) } else { store.append(&events) };
        if let Err(error) = &written {
            failed = Some(error.clone());
        }
        for answer in waiting {
            // Events that were lost before are lost for whoever waits now, too.
            let _ = answer.send(failed.clone().map_or(Ok(()), Err));
        }
        // Nobody waits for this. What cannot be deleted today is tomorrow.
        if failed.is_none() && looked.is_none_or(|at| at.elapsed() > BETWEEN_LOOKS) {
            looked = Some(Instant::now());
            let _ = store.collect_daily(keep, now_ms());
        }
        if is_over {
            return;
        }
    }
}
