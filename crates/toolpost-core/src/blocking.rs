//! Work that blocks: what it asks the workspace for is done there and then, so that a call changes its thread at most
//! once and not with every file operation.
//!
//! On a runtime that is watched (see [`Watch`]) short work does not change its thread at all. Waking another thread
//! and being woken by it costs more than reading a small file.

mod watch;

pub use watch::Watch;

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

thread_local! {
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// The thread that blocking work runs on.
pub struct Here(());

impl Here {
    /// Waits for something asynchronous, such as a method of the workspace.
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        // Most are there at once, because this thread may block.
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The work crashed; this is what it said.
#[derive(Debug)]
pub struct Crashed(String);

impl std::fmt::Display for Crashed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Crashed {
    fn saying(payload: &(dyn Any + Send)) -> Crashed {
        Crashed(crate::executor::payload_message(payload))
    }
}

/// Runs work that blocks. For tools that open and read in one go.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&Here) -> T + Send + 'static,
) -> Result<T, Crashed> {
    let work = move || {
        let _allowed = Allowed::begin();
        work(&Here(()))
    };
    match watch::Turn::take() {
        Some(_turn) => catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Crashed::saying(&*payload)),
        None => tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| Crashed(crate::executor::panic_message(error))),
    }
}

/// Runs work that looks at a few files, on this thread where that may block.
pub(crate) async fn at_once<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, crate::ToolError> {
    if may_block() {
        return Ok(work());
    }
    let crashed = |crash| crate::ToolError::execution(format!("the file operation was given up: {crash}"));
    blocking(move |_| work()).await.map_err(crashed)
}

/// Whether this thread may block, so that another one is not needed for it.
pub fn may_block() -> bool {
    MAY_BLOCK.get()
}

/// Ends with the work, also when it crashes: the thread does other work next.
struct Allowed;

impl Allowed {
    fn begin() -> Allowed {
        MAY_BLOCK.set(true);
        Allowed
    }
}

impl Drop for Allowed {
    fn drop(&mut self) {
        MAY_BLOCK.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn only_the_work_may_block() {
        assert!(!may_block());
        assert!(blocking(|here| here.wait(async { may_block() })).await.unwrap());
        assert_eq!(blocking(|_| panic!("on purpose")).await.unwrap_err().to_string(), "on purpose");
        for _ in 0..50 {
            assert!(!tokio::task::spawn_blocking(may_block).await.unwrap());
        }
    }

    #[test]
    fn what_is_not_there_at_once_is_waited_for() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let waiting = std::thread::spawn(|| Here(()).wait(receiver));
        sender.send(7).unwrap();
        assert_eq!(waiting.join().unwrap(), Ok(7));
    }
}
