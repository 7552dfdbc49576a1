//! Work that blocks, on a thread that is meant for it: what it asks the workspace for is done there and then, so that a
//! call changes its thread once and not with every file operation.

use std::cell::Cell;
use tokio::runtime::Handle;
use tokio::task::JoinError;

thread_local! {
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// The thread that blocking work runs on.
pub struct Here(Handle);

impl Here {
    /// Waits for something asynchronous, such as a method of the workspace.
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

/// Runs work that blocks. For tools that open and read in one go; the error is a crash of the work.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&Here) -> T + Send + 'static,
) -> Result<T, JoinError> {
    let here = Here(Handle::current());
    tokio::task::spawn_blocking(move || {
        let _allowed = Allowed::begin();
        work(&here)
    })
    .await
}

/// Whether this thread may block, so that another one is not needed for it.
pub(crate) fn may_block() -> bool {
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
        assert!(blocking(|_| panic!("on purpose")).await.is_err());
        for _ in 0..50 {
            assert!(!tokio::task::spawn_blocking(may_block).await.unwrap());
        }
    }
}
