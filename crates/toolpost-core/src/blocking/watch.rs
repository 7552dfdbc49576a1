//! Blocking work on the threads of a runtime, and one thread that sees to it that nobody else waits for it.
//!
//! A runtime's thread that blocks hears of nothing: no message, no time-out. While such work goes on, the watch looks
//! every millisecond whether some has lasted longer, and then wakes another of the runtime's threads, which listens
//! from then on. While nothing goes on, it sleeps, and after a while it ends.
//!
//! No task may be left behind on a thread that blocks. Two kinds can be taken by no other thread. The first is the task
//! that was woken last: work begins in a task of its own, which pushes that one out, and [`push_out`] does so when the work
//! itself has woken one. The second are tasks that have yielded by `tokio::task::yield_now`, or used up their share of a
//! turn: tasks that others depend on must do neither (see `tokio::task::unconstrained`).

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// How long work may hold a thread before another one is woken.
const PATIENCE: Duration = Duration::from_millis(1);

/// After so many looks at nothing, the watch sleeps,
const QUIET: u32 = 50;

/// and after so long it ends, until it is needed again.
const LINGER: Duration = Duration::from_secs(10);

/// Nearer than the usual time-out of a call.
const NEARER: Duration = Duration::from_secs(20);

/// Maximum number of threads for work that changes its thread: more than calls of one client may run at a time, so that
/// each of them can wait for a disk.
const MOST_IN_POOL: usize = 1_200;

thread_local! {
    static WATCHED: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
    /// Whether this thread is one of the runtime's and runs work that blocks.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Watches over the blocking work on the threads of one runtime.
pub struct Watch {
    /// In each place that work can take: the look at which it began.
    places: Vec<AtomicU64>,
    looks: AtomicU64,
    /// How often a place was taken.
    taken: AtomicU64,
    is_asleep: AtomicBool,
    thread: Mutex<Option<Thread>>,
    runtime: OnceLock<Handle>,
}

/// In a place that nobody has taken.
const FREE: u64 = 0;

/// In the place of work that another thread was already woken for.
const TOLD: u64 = u64::MAX;

impl Watch {
    /// A runtime whose threads do short blocking work themselves. It has one more of them than may do so at once, so
    /// that there is always one to listen. With more, work would find no place too often, and go to another thread.
    pub fn runtime() -> std::io::Result<Runtime> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let watch = Arc::new(Watch {
            places: (0..cores).map(|_| AtomicU64::new(FREE)).collect(),
            looks: AtomicU64::new(1),
            taken: AtomicU64::new(0),
            is_asleep: AtomicBool::new(true),
            thread: Mutex::default(),
            runtime: OnceLock::new(),
        });
        let theirs = Arc::clone(&watch);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores + 1)
            .max_blocking_threads(MOST_IN_POOL)
            .on_thread_start(move || WATCHED.set(Some(Arc::clone(&theirs))))
            .enable_all()
            .build()?;
        let _ = watch.runtime.set(runtime.handle().clone());
        // While a nearer one is waited for, the time-out of a call is noted without waking anybody.
        runtime.spawn(async {
            loop {
                tokio::time::sleep(NEARER).await;
            }
        });
        Ok(runtime)
    }

    /// Whether the watch looks, or could be made to.
    fn rouse(self: &Arc<Watch>) -> bool {
        if !self.is_asleep.load(Ordering::Acquire) || !self.is_asleep.swap(false, Ordering::AcqRel) {
            return true;
        }
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = &*thread {
            thread.unpark();
            return true;
        }
        let watch = Arc::clone(self);
        let started = std::thread::Builder::new().name("watch".to_owned()).spawn(move || watch.run());
        *thread = started.as_ref().ok().map(|started| started.thread().clone());
        self.is_asleep.store(started.is_err(), Ordering::Release);
        started.is_ok()
    }

    fn run(&self) {
        let (mut quiet, mut last) = (0, 0);
        loop {
            std::thread::sleep(PATIENCE);
            self.look();
            let taken = self.taken.load(Ordering::Acquire);
            let is_quiet = taken == last && self.places.iter().all(|place| !is_held(place));
            quiet = if is_quiet { quiet + 1 } else { 0 };
            last = taken;
            if quiet == QUIET && !self.sleep() {
                return;
            }
        }
    }

    /// Wakes a thread for each work that has lasted since before the last look.
    fn look(&self) {
        let now = self.looks.fetch_add(1, Ordering::AcqRel) + 1;
        for place in &self.places {
            let begun = place.load(Ordering::Acquire);
            let is_long = begun != FREE && begun != TOLD && begun + 1 < now;
            let told = || place.compare_exchange(begun, TOLD, Ordering::AcqRel, Ordering::Relaxed);
            if is_long
                && told().is_ok()
                && let Some(runtime) = self.runtime.get()
            {
                // Whoever runs this listens for what comes next.
                runtime.spawn(std::future::ready(()));
            }
        }
    }

    /// Until there is work. Whether there was any in time.
    fn sleep(&self) -> bool {
        self.is_asleep.store(true, Ordering::Release);
        std::thread::park_timeout(LINGER);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let is_needed = !self.is_asleep.load(Ordering::Acquire);
        if !is_needed {
            *thread = None;
        }
        is_needed
    }
}

fn is_held(place: &AtomicU64) -> bool {
    place.load(Ordering::Acquire) != FREE
}

/// A place, held while the work goes on.
pub(super) struct Turn {
    watch: Arc<Watch>,
    place: usize,
}

impl Turn {
    /// None where nobody watches, or too much such work goes on already.
    pub(super) fn take() -> Option<Turn> {
        WATCHED.with_borrow(|watched| {
            let watch = watched.as_ref()?;
            let look = watch.looks.load(Ordering::Acquire);
            let takes = |place: &AtomicU64| {
                place.compare_exchange(FREE, look, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            };
            let place = watch.places.iter().position(takes)?;
            watch.taken.fetch_add(1, Ordering::AcqRel);
            let turn = Turn { watch: Arc::clone(watch), place };
            watch.rouse().then_some(turn)
        })
    }
}

impl Turn {
    /// Runs work on this thread.
    pub(super) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        IS_BUSY.set(true);
        let done = work();
        IS_BUSY.set(false);
        done
    }
}

/// Where this thread of the runtime runs work that blocks: lets another thread run the task that was woken last.
pub(super) fn push_out() {
    if IS_BUSY.get() {
        // The task that is set aside gives its place to this one and waits where every thread looks for tasks.
        drop(tokio::spawn(std::future::ready(())));
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.watch.places[self.place].store(FREE, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use crate::blocking::blocking;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn short_work_stays_on_its_thread_and_long_work_keeps_nobody() {
        let runtime = super::Watch::runtime().unwrap();
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let stays = runtime.spawn(async {
            let mine = std::thread::current().id();
            blocking(move || std::thread::current().id() == mine).await.unwrap()
        });
        assert!(runtime.block_on(stays).unwrap());
        // More work than there are places, none of which ends before a timer and a message have been heard.
        let (release, held): (Vec<_>, Vec<_>) = (0..cores + 3).map(|_| mpsc::channel::<()>()).unzip();
        let works: Vec<_> =
            held.into_iter().map(|held| runtime.spawn(blocking(move || held.recv().is_ok()))).collect();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let heard = runtime.spawn(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            receiver.await.unwrap()
        });
        runtime.spawn(async move { sender.send(7) });
        assert_eq!(runtime.block_on(heard).unwrap(), 7);
        for release in release {
            release.send(()).unwrap();
        }
        for work in works {
            assert!(runtime.block_on(work).unwrap().unwrap());
        }
    }

    #[test]
    fn a_task_that_was_woken_before_the_work_does_not_wait_for_it() {
        let runtime = super::Watch::runtime().unwrap();
        for _ in 0..50 {
            let (release, held) = mpsc::channel::<()>();
            let (wake, woken) = tokio::sync::oneshot::channel();
            let (heard, hears) = mpsc::channel();
            runtime.spawn(async move { heard.send(woken.await.is_ok()) });
            let work = runtime.spawn(async move {
                wake.send(()).unwrap();
                blocking(move || held.recv().is_ok()).await
            });
            assert_eq!(hears.recv_timeout(Duration::from_secs(5)), Ok(true));
            release.send(()).unwrap();
            assert!(runtime.block_on(work).unwrap().unwrap());
        }
    }

    #[test]
    fn a_task_that_the_work_wakes_does_not_wait_for_its_end() {
        let runtime = super::Watch::runtime().unwrap();
        for _ in 0..50 {
            let (release, held) = mpsc::channel::<()>();
            let (wake, woken) = tokio::sync::oneshot::channel();
            let (heard, hears) = mpsc::channel();
            runtime.spawn(async move { heard.send(woken.await.is_ok()) });
            let work = runtime.spawn(blocking(move || {
                wake.send(()).unwrap();
                crate::blocking::let_others_run();
                held.recv().is_ok()
            }));
            assert_eq!(hears.recv_timeout(Duration::from_secs(5)), Ok(true));
            release.send(()).unwrap();
            assert!(runtime.block_on(work).unwrap().unwrap());
        }
    }

    #[test]
    fn a_watch_that_slept_is_woken() {
        let runtime = super::Watch::runtime().unwrap();
        for pause in [0, 120, 0] {
            std::thread::sleep(Duration::from_millis(pause));
            let (release, held) = mpsc::channel::<()>();
            let work = runtime.spawn(blocking(move || held.recv().is_ok()));
            let heard = runtime.spawn(async { tokio::time::sleep(Duration::from_millis(3)).await });
            runtime.block_on(heard).unwrap();
            release.send(()).unwrap();
            assert!(runtime.block_on(work).unwrap().unwrap());
        }
    }

    #[test]
    fn a_crash_gives_the_place_back() {
        let runtime = super::Watch::runtime().unwrap();
        for _ in 0..64 {
            let crashed = runtime.spawn(blocking(|| panic!("on purpose")));
            assert_eq!(runtime.block_on(crashed).unwrap().unwrap_err().to_string(), "on purpose");
        }
    }
}
