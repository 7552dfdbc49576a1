//! What every search keeps an eye on: its time, its caller, what the policy holds back, what could not be read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use toolpost_core::host::HeldBack;
use toolpost_core::workspace::Scanned;
use toolpost_core::{Code, Context, ToolError};

/// Kept while a search runs.
pub(super) struct Watch {
    pub(super) ctx: Context,
    reserve: Option<Duration>,
    held_back: HeldBack,
    unreadable: AtomicU64,
}

impl Watch {
    pub(super) fn new(ctx: &Context) -> Watch {
        Watch {
            ctx: ctx.clone(),
            // What was found must still be handed over before the time is over.
            reserve: ctx.time_left().map(|left| (left / 10).min(Duration::from_millis(500))),
            held_back: ctx.held_back(),
            unreadable: AtomicU64::new(0),
        }
    }

    pub(super) fn should_stop(&self) -> bool {
        self.is_nearly_over() || self.ctx.cancel().is_cancelled()
    }

    fn is_nearly_over(&self) -> bool {
        self.ctx.time_left() < self.reserve
    }

    /// Fails where the search was stopped by a caller who has given up, and wants no part of it.
    pub(super) fn must_be_wanted(&self, stopped: bool) -> Result<(), ToolError> {
        match stopped && !self.is_nearly_over() {
            true => self.ctx.checkpoint(),
            false => Ok(()),
        }
    }

    pub(super) fn held_back(&self, refusal: &ToolError) {
        self.held_back.count(refusal);
    }

    /// A file could not be looked at. What is gone by now is no loss.
    pub(super) fn failed(&self, error: &ToolError) {
        match error.code() {
            Code::PermissionDenied | Code::ProtectedFile => self.held_back.count(error),
            Code::ReadError => {
                self.unreadable.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    pub(super) fn total_held_back(&self) -> u64 {
        self.held_back.total()
    }

    /// What a model should know beside the result, in parentheses, or nothing.
    pub(super) fn note(&self, first: Vec<String>, scanned: &Scanned) -> String {
        let mut notes = first;
        if !scanned.unreadable.is_empty() {
            notes.push(format!("{} folders could not be read", scanned.unreadable.len()));
        }
        if self.unreadable() > 0 {
            notes.push(format!("{} files could not be read", self.unreadable()));
        }
        if scanned.not_utf8 > 0 {
            notes.push(format!("{} names are not UTF-8", scanned.not_utf8));
        }
        notes.extend(self.held_back.note());
        if scanned.stopped {
            notes.push("out of time: this is only a part; name a smaller path".to_owned());
        }
        match notes.is_empty() {
            true => String::new(),
            false => format!("({})", notes.join("; ")),
        }
    }
}
