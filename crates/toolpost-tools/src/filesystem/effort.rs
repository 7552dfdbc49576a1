//! How much a computation over a text may do: counted in steps, of about a byte each, and ended when nobody waits for it.
//!
//! Steps do not depend on how busy the machine is, so that the same call is refused or answered everywhere.

use std::cell::Cell;
use toolpost_core::{Code, Context, ToolError};

/// Maximum number of steps of one call: a few seconds of work.
const MOST: u64 = 1_500_000_000;
/// Steps between two looks at the clock: a few milliseconds of work.
const BETWEEN_CHECKS: u64 = 1 << 20;

/// Counts the steps of a computation. Every loop over a text that a caller chose spends from it.
pub(crate) struct Effort {
    ctx: Option<Context>,
    most: u64,
    spent: Cell<u64>,
    next_check: Cell<u64>,
}

impl Effort {
    /// The effort that a call may make.
    pub(crate) fn of(ctx: &Context) -> Effort {
        Effort { ctx: Some(ctx.clone()), ..Effort::limited(MOST) }
    }

    /// A step budget that belongs to no call.
    pub(crate) fn limited(most: u64) -> Effort {
        Effort { ctx: None, most, spent: Cell::new(0), next_check: Cell::new(BETWEEN_CHECKS) }
    }

    /// Spends steps. Fails where the call has ended, or where there are none left.
    pub(crate) fn spend(&self, steps: usize) -> Result<(), ToolError> {
        let spent = self.spent.get().saturating_add(steps as u64);
        self.spent.set(spent);
        if spent > self.most {
            return Err(ToolError::new(
                Code::TooLarge,
                format!(
                    "comparing the texts takes more than {} steps; ask for fewer or smaller changes at once, or use a \
                     command",
                    self.most
                ),
            )
            .with("steps", self.most));
        }
        if spent >= self.next_check.get() {
            self.next_check.set(spent + BETWEEN_CHECKS);
            return self.check();
        }
        Ok(())
    }

    /// Fails where the call has ended.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        self.ctx.as_ref().map_or(Ok(()), Context::checkpoint)
    }

    /// Steps spent so far.
    #[cfg(test)]
    pub(crate) fn spent(&self) -> u64 {
        self.spent.get()
    }
}
