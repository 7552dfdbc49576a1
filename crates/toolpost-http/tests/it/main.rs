//! The client and the listener as their users meet them, over real sockets.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod admitted;
mod bounds;
mod events;
mod peer;
mod pool;
mod trust;

/// Runs a test on a runtime of its own.
fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}
