//! Who watches a run while it goes on. What is heard here is for people; what counts is in the events.

use std::sync::Arc;
use toolpost_core::host::Redactor;
use toolpost_core::model::{ModelError, Response};

/// Something that a run does at this moment.
#[derive(Debug)]
pub enum Heard<'a> {
    /// The model is asked.
    Asking,
    /// More of its text.
    Text(&'a str),
    /// More of what it thinks.
    Thinking(&'a str),
    /// It has begun to write a call of this tool.
    WritingCall(&'a str),
    /// The request failed and is made again; all text and thinking since `Asking` is void.
    Retry {
        /// The attempt that failed, from 1.
        attempt: u32,
        /// How long until the next one, in milliseconds.
        delay_ms: u64,
        /// Why.
        error: &'a ModelError,
    },
    /// It has answered.
    Answered {
        /// The step of the answer.
        seq: u64,
        /// The whole answer.
        response: &'a Response,
    },
    /// It gave no answer.
    Failed(&'a ModelError),
    /// The beginning of the conversation is being replaced by a summary.
    Compacting,
    /// It waits for agents that it has started.
    Waiting,
    /// A call was answered without being run.
    Refused {
        /// The call; none for calls that are not in the answer any more because there were too many.
        call: Option<&'a str>,
        /// The tool, as the model wrote it.
        tool: &'a str,
        /// What the model is told.
        text: &'a str,
    },
}

/// Watches runs. Implemented by terminals; called by drivers, from any thread. It must not block for long.
pub trait Listener: Send + Sync {
    /// A run begins, or goes on. What it says is not to be shown without this.
    fn begins(&self, _activation: &str, _redactor: &Arc<Redactor>) {}

    /// A run does something.
    fn heard(&self, activation: &str, heard: Heard<'_>);
}

/// For where nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoListener;

impl Listener for NoListener {
    fn heard(&self, _: &str, _: Heard<'_>) {}
}
