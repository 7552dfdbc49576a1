//! Drivers perform what the kernel decides.
//!
//! [`Steps`] is what has to be done, the same under every driver; [`Driver`] is who does it: [`LocalDriver`] here, in one
//! process. Each step is idempotent by (activation, sequence, index), so that a driver may repeat whatever it is not sure of.

mod activation;
mod count;
mod extras;
mod listener;
mod local;
mod pauses;
mod steps;
mod summary;

pub use activation::Activation;
pub use listener::{Heard, Listener, NoListener};
pub use local::LocalDriver;
pub use steps::LocalSteps;

use crate::kernel::Ended;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_core::ToolError;
use toolpost_core::activation::Todo;
use toolpost_core::host::BoxFuture;

/// What a driver has to do for a run. Implemented once, over the store's events and the executor; called by drivers.
pub trait Steps: Send + Sync {
    /// What is to be done at a step: folds the events, asks the kernel, records the decision. A second call returns what was
    /// decided.
    fn advance<'a>(&'a self, activation: &'a str, seq: u64) -> BoxFuture<'a, Result<Vec<Todo>, ToolError>>;

    /// Does one thing of a step, and records what came of it. What is done already is not done again.
    fn perform<'a>(
        &'a self,
        activation: &'a str,
        seq: u64,
        todo: Todo,
        cancel: CancellationToken,
        beat: Heartbeat,
    ) -> BoxFuture<'a, Result<(), ToolError>>;
}

/// Runs activations. Implemented for one process by [`LocalDriver`].
pub trait Driver: Send + Sync {
    /// Starts a run, or goes on with one.
    fn start(&self, activation: &str);

    /// Tells a running agent something; it hears it before its next turn. When this returns, it cannot be lost. What is too
    /// long, or too much for one turn, is refused; what tells of the end of an agent never is.
    fn signal<'a>(&'a self, activation: &'a str, signal: Signal) -> BoxFuture<'a, Result<(), ToolError>>;

    /// Ends a run: what is running is cancelled, and the run ends with what there is.
    fn cancel(&self, activation: &str);

    /// Waits until a run has ended.
    fn wait<'a>(&'a self, activation: &'a str) -> BoxFuture<'a, Result<Ended, ToolError>>;
}

/// Maximum number of bytes of one signal.
pub const LARGEST_SIGNAL: usize = 8 * 1024;
/// Maximum number of signals that a model hears at one turn.
pub const MOST_SIGNALS: usize = 32;
/// Maximum number of bytes of the signals that a model hears at one turn.
pub const MOST_SIGNAL_BYTES: usize = 64 * 1024;

/// What a running agent is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signal {
    /// By whom.
    pub from: String,
    /// What.
    pub text: String,
    /// What tells this signal from others; one that comes again is heard once.
    pub id: Option<String>,
    /// The run whose end it tells of.
    pub ended: Option<String>,
}

/// Is told that a step is alive: a driver that hears nothing for long gives the step to somebody else.
#[derive(Clone, Default)]
pub struct Heartbeat(Option<Arc<dyn Fn() + Send + Sync>>);

impl Heartbeat {
    /// Calls this for each sign of life.
    pub fn new(beat: impl Fn() + Send + Sync + 'static) -> Heartbeat {
        Heartbeat(Some(Arc::new(beat)))
    }

    /// A sign of life.
    pub fn beat(&self) {
        if let Some(beat) = &self.0 {
            beat();
        }
    }
}
