//! What a caller asks for.

use crate::access::Access;
use crate::error::ToolError;
use crate::policy::{Foreseen, Outlook};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use toolpost_schema::Repair;

/// One call: which tool, with what, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool's name, in any spelling that the registry knows.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retry: Retry,
    pub(crate) skips_validation: bool,
    pub(crate) is_dry_run: bool,
    pub(crate) agreed: Option<Agreed>,
    pub(crate) id: Option<Arc<str>>,
}

/// What a person has agreed to before the server of a tool was started. Made by [`super::Executor::awaited`].
#[derive(Debug, Clone, PartialEq)]
pub struct Agreed {
    pub(crate) tool: String,
    pub(crate) accesses: Vec<Access>,
}

impl Call {
    /// A call with the tool's own limits and no retries.
    pub fn new(tool: impl Into<String>, arguments: Value) -> Call {
        Call {
            tool: tool.into(),
            arguments,
            timeout: None,
            retry: Retry::default(),
            skips_validation: false,
            is_dry_run: false,
            agreed: None,
            id: None,
        }
    }

    /// How long the tool may run, at most what it allows itself. A result that comes within the tool's
    /// [grace](crate::Spec::grace) after that still counts.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Call {
        self.timeout = Some(timeout);
        self
    }

    /// Tries again where both the tool and the error allow it.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Call {
        self.retry = retry;
        self
    }

    /// Neither repairs nor checks the arguments: they come from a place that did.
    #[must_use]
    pub fn skip_validation(mut self) -> Call {
        self.skips_validation = true;
        self
    }

    /// Does not ask again about what was agreed to while the tool's server was waited for.
    #[must_use]
    pub fn agreed(mut self, agreed: Option<Agreed>) -> Call {
        self.agreed = agreed;
        self
    }

    /// The id of the call, for a caller that must know it before the call is made; otherwise a new one. No other call may
    /// have it.
    #[must_use]
    pub fn id(mut self, id: impl Into<Arc<str>>) -> Call {
        self.id = Some(id.into());
        self
    }

    /// Only tells what would happen.
    #[must_use]
    pub fn dry_run(mut self) -> Call {
        self.is_dry_run = true;
        self
    }
}

/// How often a failed call is tried, and how long to wait in between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// Attempts in all; 1 means no retry.
    pub attempts: u32,
    /// Before the second attempt.
    pub delay: Duration,
    /// What the delay is multiplied by each time; at most one minute comes of it.
    pub backoff: f64,
}

/// Maximum number of seconds between two attempts.
const LONGEST: f64 = 60.0;

impl Retry {
    /// How long to wait after this attempt, counting from 1, at least as long as the error asks for. None where that is
    /// longer than anybody waits.
    pub(crate) fn pause(&self, attempt: u32, error: &ToolError) -> Option<Duration> {
        let asked = error.retry_after().unwrap_or_default();
        (asked.as_secs_f64() <= LONGEST).then(|| self.delay_after(attempt).max(asked))
    }

    /// The wait after this attempt, counting from 1.
    pub fn delay_after(&self, attempt: u32) -> Duration {
        let factor = self.backoff.max(0.0).powi(i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX));
        let seconds = self.delay.as_secs_f64() * factor;
        Duration::from_secs_f64(if seconds.is_finite() { seconds.clamp(0.0, LONGEST) } else { LONGEST })
    }
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { attempts: 1, delay: Duration::from_millis(100), backoff: 2.0 }
    }
}

/// A call that was checked and not run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// The tool's canonical name.
    pub tool: String,
    /// The arguments as the tool would get them.
    pub arguments: Value,
    /// What was mended in them.
    pub repairs: Vec<Repair>,
    /// What the call would touch.
    pub accesses: Vec<Access>,
    /// Whether it would be allowed, limited or asked about.
    pub effect: Outlook,
    /// What is known beside the decision.
    #[serde(flatten)]
    pub foreseen: Foreseen,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_and_end() {
        let retry = Retry { attempts: 9, delay: Duration::from_millis(100), backoff: 2.0 };
        let waits: Vec<u128> = (1..=3).map(|attempt| retry.delay_after(attempt).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400]);
        assert_eq!(retry.delay_after(u32::MAX).as_secs(), 60);
        assert_eq!(Retry { backoff: f64::NAN, ..retry }.delay_after(1).as_millis(), 100);
        for (asked, pause) in [(0, Some(400)), (5_000, Some(5_000)), (60_000, Some(60_000)), (60_001, None)] {
            let error = ToolError::execution("busy").retryable_after(Duration::from_millis(asked));
            assert_eq!(retry.pause(3, &error), pause.map(Duration::from_millis), "{asked}");
        }
    }
}
