//! The log as a sink of events: what is recorded is written together, a few times a second or when somebody waits for it.
//!
//! An event is made into JSON by the thread that records it, while it is at hand there; to hand it over to another thread, which
//! would have to give its memory back, costs more.

use crate::store::now_ms;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use toolpost_core::event::EventSink;
use toolpost_core::host::BoxFuture;
use toolpost_core::store::{Retention, Store, WrittenEvents};
use toolpost_core::{Code, Event, ToolError};

/// The longest time that an event waits where nobody asks for it.
const DELAY: Duration = Duration::from_millis(40);
/// Maximum number of events that are written together.
const TOGETHER: usize = 4_096;
/// Maximum number of events that wait for a store which cannot be written.
const MOST_UNWRITTEN: usize = 100_000;
/// Maximum number of bytes that wait to be written: past it the log is overloaded, and calls wait.
const MOST_WAITING: usize = 8 << 20;
/// Maximum size of a list of events that is kept for reuse.
const MOST_ROOM: usize = 8 << 20;
/// Maximum number of such lists: while one is written, the next is filled.
const MOST_SPARE: usize = 2;
/// Maximum size of the list of one event, of which each thread keeps one.
const MOST_SCRATCH: usize = 64 << 10;
/// How often a long process looks whether something is to be deleted.
const BETWEEN_LOOKS: Duration = Duration::from_secs(60 * 60);

/// What was said, until the thread that writes takes it.
#[derive(Default)]
struct Said {
    heap: Mutex<Heap>,
    /// Woken for the first of a heap, for one that is full, and where somebody waits: a wake for each event would cost as much
    /// as writing it.
    is_due: Condvar,
    /// Bytes of events that nobody has tried to write yet.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Heap {
    /// What was said, in parts that are written together: all but the last have [`TOGETHER`] events.
    parts: Vec<WrittenEvents>,
    events: usize,
    /// Empty lists with room from before.
    spare: Vec<WrittenEvents>,
    /// Why an event is missing.
    lost: Option<ToolError>,
    /// Those who wait until all before is durable.
    waiting: Vec<oneshot::Sender<Result<(), ToolError>>>,
    is_over: bool,
    /// Whether nobody takes anything any more.
    is_left: bool,
}

impl Heap {
    fn add(&mut self, event: &mut WrittenEvents) {
        self.events += event.len();
        match self.parts.last_mut().filter(|part| part.len() < TOGETHER) {
            Some(part) => part.append(event),
            None => {
                let mut part = self.spare.pop().unwrap_or_default();
                part.append(event);
                self.parts.push(part);
            }
        }
    }
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
        let heap = self.is_due.wait_while(self.heap(), |heap| is_quiet(heap) && heap.events == 0);
        let heap = heap.unwrap_or_else(PoisonError::into_inner);
        // Where somebody waits, only what has come in already goes with it.
        let heap =
            self.is_due.wait_timeout_while(heap, DELAY, |heap| is_quiet(heap) && heap.events < TOGETHER);
        let (mut heap, _) = heap.unwrap_or_else(PoisonError::into_inner);
        let is_over = heap.is_over;
        let left = Heap { is_over, spare: std::mem::take(&mut heap.spare), ..Heap::default() };
        let taken = std::mem::replace(&mut *heap, left);
        (!is_over || taken.events > 0 || !taken.waiting.is_empty()).then_some(taken)
    }

    /// Takes back a list that is not used any more.
    fn give_back(&self, mut list: WrittenEvents) {
        let mut heap = self.heap();
        if list.room() <= MOST_ROOM && heap.spare.len() < MOST_SPARE {
            list.clear();
            heap.spare.push(list);
        }
    }
}

/// What is done to an event before it is kept.
pub type Shape = Box<dyn Fn(&Arc<Event>) -> Arc<Event> + Send + Sync>;

thread_local! {
    /// Where a thread writes an event down before it takes its turn.
    static SCRATCH: RefCell<WrittenEvents> = RefCell::default();
}

/// Writes events into a store. The thread that writes is started by the first event, so that a process in which nothing happens
/// has no such thread and opens no store.
pub struct StoreLog {
    said: Arc<Said>,
    store: Arc<dyn Store>,
    keep: Retention,
    shape: Shape,
    /// Empty until the first event; none where the thread could not be started.
    thread: OnceLock<Option<JoinHandle<()>>>,
}

impl StoreLog {
    /// A log in this store. Each event is kept as `shape` makes it, and what is older than `keep` says is deleted.
    pub fn new(store: Arc<dyn Store>, shape: Shape, keep: Retention) -> StoreLog {
        StoreLog { said: Arc::default(), store, keep, shape, thread: OnceLock::new() }
    }

    /// Starts the thread that writes.
    fn start(&self) -> Option<JoinHandle<()>> {
        let (store, said, keep) = (Arc::clone(&self.store), Arc::clone(&self.said), self.keep.clone());
        let thread = std::thread::Builder::new().name("toolpost-log".to_owned());
        match thread.spawn(move || serve(&*store, &said, &keep)) {
            Ok(thread) => Some(thread),
            Err(error) => {
                let mut heap = self.said.heap();
                heap.is_left = true;
                let message = format!("the log has no thread, so nothing is recorded: {error}");
                heap.lost = Some(ToolError::new(Code::ExecutionError, message));
                None
            }
        }
    }
}

impl Drop for StoreLog {
    fn drop(&mut self) {
        self.said.heap().is_over = true;
        self.said.is_due.notify_one();
        if let Some(thread) = self.thread.take().flatten() {
            let _ = thread.join();
        }
    }
}

impl EventSink for StoreLog {
    fn record(&self, event: &Arc<Event>) {
        if self.thread.get_or_init(|| self.start()).is_none() {
            return;
        }
        let event = (self.shape)(event);
        let is_due = SCRATCH.with_borrow_mut(|scratch| {
            let written = scratch.add(&event);
            self.said.waiting.fetch_add(scratch.bytes(), Ordering::Relaxed);
            let mut heap = self.said.heap();
            match written {
                Ok(()) => heap.add(scratch),
                Err(error) => {
                    heap.lost = Some(ToolError::execution(format!("an event was not recorded: {error}")))
                }
            }
            let is_due = heap.events == 1 || heap.events == TOGETHER;
            drop(heap);
            if scratch.room() > MOST_SCRATCH {
                *scratch = WrittenEvents::default();
            }
            is_due
        });
        if is_due {
            self.said.is_due.notify_one();
        }
    }

    fn kept(&self, event: &Arc<Event>) -> Arc<Event> {
        (self.shape)(event)
    }

    fn is_overloaded(&self) -> bool {
        self.said.waiting.load(Ordering::Relaxed) > MOST_WAITING
    }

    fn commit(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        // Before the first event there is nothing to wait for.
        if self.thread.get().is_none() {
            return Box::pin(async { Ok(()) });
        }
        let (answer, done) = oneshot::channel();
        let mut heap = self.said.heap();
        let lost = heap.lost.clone().filter(|_| heap.is_left);
        if !heap.is_left {
            heap.waiting.push(answer);
        }
        drop(heap);
        self.said.is_due.notify_one();
        Box::pin(async move {
            done.await.unwrap_or_else(|_| {
                Err(lost.unwrap_or_else(|| {
                    let message = "the log has ended, so nothing is recorded any more";
                    ToolError::new(Code::StoreNotAvailable, message)
                }))
            })
        })
    }
}

fn serve(store: &dyn Store, said: &Said, keep: &Retention) {
    let _leaves = Leaves(said);
    let mut unwritten = Unwritten::default();
    let mut looked: Option<Instant> = None;
    while let Some(heap) = said.take() {
        unwritten.lost = unwritten.lost.take().or(heap.lost);
        let bytes: usize = heap.parts.iter().map(WrittenEvents::bytes).sum();
        let written = unwritten.write(store, heap.parts, |list| said.give_back(list));
        said.waiting.fetch_sub(bytes, Ordering::Relaxed);
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
    parts: VecDeque<Arc<WrittenEvents>>,
    events: usize,
    /// Set where there were too many. From then on the log has a gap, and nobody is told that it is whole.
    lost: Option<ToolError>,
}

impl Unwritten {
    /// Writes everything, the oldest first. Each list is given back when it is written.
    fn write(
        &mut self,
        store: &dyn Store,
        parts: Vec<WrittenEvents>,
        give_back: impl Fn(WrittenEvents),
    ) -> Result<(), ToolError> {
        self.events += parts.iter().map(WrittenEvents::len).sum::<usize>();
        self.parts.extend(parts.into_iter().map(Arc::new));
        while let Some(part) = self.parts.front() {
            if let Err(error) = store.append_written(part) {
                while self.events > MOST_UNWRITTEN {
                    self.events -= self.parts.pop_back().map_or(self.events, |part| part.len());
                    self.lost.get_or_insert(error.clone());
                }
                return Err(error);
            }
            self.events -= part.len();
            // Who has written it has no part in it any more.
            if let Some(Ok(list)) = self.parts.pop_front().map(Arc::try_unwrap) {
                give_back(list);
            }
        }
        self.lost.clone().map_or(Ok(()), Err)
    }
}
