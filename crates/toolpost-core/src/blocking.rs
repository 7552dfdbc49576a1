//! The border between asynchronous code and work that blocks its thread: reading, writing, long computing.
//!
//! A call crosses it once with all of its work, not with every file operation. On a runtime that is watched (see
//! [`Watch`]) short work does not change its thread at all: to wake another thread and to be woken by it costs more
//! than to read a small file.

mod watch;

pub use watch::Watch;

use crate::context::Context;
use crate::error::ToolError;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

impl From<Crashed> for ToolError {
    fn from(crashed: Crashed) -> ToolError {
        ToolError::execution(format!("the file operation crashed: {crashed}"))
    }
}

/// Runs work that blocks for a short time as a rule, such as reading files. It stays on this thread where a [`Watch`]
/// sees to it that nobody else has to wait for it; otherwise it goes to the pool. Once begun, it goes on when the future
/// is dropped.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Crashed> {
    match watch::Turn::take() {
        Some(turn) => here(turn, work).await,
        None => in_pool(work).await,
    }
}

/// Runs work on a thread of the runtime, in a task of its own. A thread has one task set aside that it runs next and that
/// no other thread can take: this one pushes out the one that was set aside before, which could otherwise not run until
/// the work is over.
async fn here<T: Send + 'static>(
    turn: watch::Turn,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Crashed> {
    let done = tokio::spawn(async move { turn.run(|| catch_unwind(AssertUnwindSafe(work))) });
    match done.await {
        Ok(done) => done.map_err(|payload| Crashed::saying(&*payload)),
        Err(error) => Err(Crashed(crate::executor::panic_message(error))),
    }
}

/// To be called after tasks of the runtime were woken by work that may be on one of its threads: the task that this
/// thread has set aside, and would only run when the work is over, is run by another one.
pub(crate) fn let_others_run() {
    watch::push_out();
}

/// Runs work that blocks for long, such as writing files, on a thread of the runtime's pool for blocking work.
pub async fn in_pool<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Crashed> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Crashed(crate::executor::panic_message(error)))
}

impl Context {
    /// Runs a tool's work on files, whose methods block. For work that is over soon as a rule: looking, reading,
    /// searching. It may stay on the thread of the caller, without holding up anybody else.
    ///
    /// The work goes on when the call is cancelled or out of time, until it asks [`Context::checkpoint`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use toolpost_core::{Context, Memory, Workspace, WorkspacePath};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toolpost_core::ToolError> {
    /// let ctx = Context::builder(Arc::new(Memory::from_fixture("//- notes.txt\nbuy milk\n"))).build();
    /// let path = WorkspacePath::new("notes.txt");
    /// let size = ctx.blocking(move |ctx| Ok(ctx.workspace().stat(&path)?.size)).await?;
    /// assert_eq!(size, 9);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Context) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let ctx = self.clone();
        blocking(move || work(&ctx)).await?
    }

    /// The same for work that takes long as a rule: writing, which waits for the disk, and long computing.
    pub async fn blocking_in_pool<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Context) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let ctx = self.clone();
        in_pool(move || work(&ctx)).await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_crash_is_told() {
        assert_eq!(blocking(|| panic!("on purpose")).await.unwrap_err().to_string(), "on purpose");
        assert_eq!(in_pool(|| panic!("on purpose")).await.unwrap_err().to_string(), "on purpose");
    }
}
