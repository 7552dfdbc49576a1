//! The log as a sink of events: what is recorded is written together, a few times a second or when somebody waits for it.

use crate::store::now_ms;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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

/// What was said, until the thread that writes takes it.
#[derive(Default)]
struct Said {
    heap: Mutex<Heap>,
    /// Woken for the first of a heap, for one that is full, and where somebody waits: a wake for each event would cost as much
    /// as writing it.
    is_due: Condvar,
}

#[derive(Default)]
struct Heap {
    events: Vec<Arc<Event>>,
    /// Those who wait until all before is durable.
    waiting: Vec<oneshot::Sender<Result<(), ToolError>>>,
    is_over: bool,
    /// Whether nobody takes anything any more.
    is_left: bool,
}

/// Whoever waits is told when the thread ends, whatever ends it.
struct Leaves<'a>(&'a Said);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        let mut heap = self.0.heap();
        heap.is_left = true;
        heap.waiting.clear();
    }
}

impl Said {
    fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something, and then for what comes with it. None where nothing more can come.
    fn take(&self) -> Option<Heap> {
        let is_quiet = |heap: &mut Heap| heap.waiting.is_empty() && !heap.is_over;
        let heap = self.is_due.wait_while(self.heap(), |heap| is_quiet(heap) && heap.events.is_empty());
        let heap = heap.unwrap_or_else(PoisonError::into_inner);
        // Where somebody waits, only what has come in already goes with it.
        let heap = self
            .is_due
            .wait_timeout_while(heap, DELAY, |heap| is_quiet(heap) && heap.events.len() < TOGETHER);
        let (mut heap, _) = heap.unwrap_or_else(PoisonError::into_inner);
        let is_over = heap.is_over;
        let taken = std::mem::replace(&mut *heap, Heap { is_over, ..Heap::default() });
        (!is_over || !taken.events.is_empty() || !taken.waiting.is_empty()).then_some(taken)
    }
}

/// What is done to an event before it is kept.
pub type Shape = Box<dyn Fn(&Arc<Event>) -> Arc<Event> + Send + Sync>;

/// Writes events into a store.
pub struct StoreLog {
    said: Arc<Said>,
    thread: Mutex<Option<JoinHandle<()>>>,
    shape: Shape,
}

impl StoreLog {
    /// A log in this store. Each event is kept as `shape` makes it, and what is older than `keep` says is deleted.
    pub fn new(store: Arc<dyn Store>, shape: Shape, keep: Retention) -> Result<StoreLog, ToolError> {
        let said = Arc::new(Said::default());
        let heard = Arc::clone(&said);
        let thread = std::thread::Builder::new()
            .name("toolpost-log".to_owned())
            .spawn(move || serve(&*store, &heard, &keep))
            .map_err(|error| {
                ToolError::new(
                    Code::ExecutionError,
                    format!("no thread for the log could be started: {error}"),
                )
            })?;
        Ok(StoreLog { said, thread: Mutex::new(Some(thread)), shape })
    }
}

impl Drop for StoreLog {
    fn drop(&mut self) {
        self.said.heap().is_over = true;
        self.said.is_due.notify_one();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}

impl EventSink for StoreLog {
    fn record(&self, event: &Arc<Event>) {
        let event = (self.shape)(event);
        let mut heap = self.said.heap();
        heap.events.push(event);
        let is_due = heap.events.len() == 1 || heap.events.len() == TOGETHER;
        drop(heap);
        if is_due {
            self.said.is_due.notify_one();
        }
    }

    fn commit(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        let (answer, done) = oneshot::channel();
        let mut heap = self.said.heap();
        if !heap.is_left {
            heap.waiting.push(answer);
        }
        drop(heap);
        self.said.is_due.notify_one();
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

fn serve(store: &dyn Store, said: &Said, keep: &Retention) {
    let _leaves = Leaves(said);
    let mut unwritten = Unwritten::default();
    let mut looked: Option<Instant> = None;
    while let Some(heap) = said.take() {
        let written = unwritten.write(store, &heap.events);
        let is_written = written.is_ok();
        for answer in heap.waiting {
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
    fn write(&mut self, store: &dyn Store, events: &[Arc<Event>]) -> Result<(), ToolError> {
        self.events += events.len();
        self.parts.extend(events.chunks(TOGETHER).map(<[_]>::to_vec));
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
