//! Work on many things at once, on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of threads; more gain nothing.
const MOST_THREADS: usize = 12;

/// The results of `work` for each of `all`, in their order. Each thread has its own state, made by `state`, and is only
/// started where there are `per_thread` things for it. A panic is passed on.
pub(super) fn fan_out<T: Sync, S, R: Send>(
    all: &[T],
    per_thread: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = state();
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(index) else { return done };
            done.push((index, work(&mut state, one)));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS));
    let threads = cores.min(all.len().div_ceil(per_thread));
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        for other in others {
            match other.join() {
                Ok(done) => results.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
