//! What a running tool says to those who follow it: lines in the span of its call. They are for people and programs beside
//! the conversation; no model sees them. Where nobody follows, a line is not even made.

use super::Context;
use crate::event::{Event, EventKind};
use std::fmt;
use tracing::Level;

/// The target of what tools say.
const SAID: &str = "toolpost::tool";
/// The target of what happens.
const HAPPENED: &str = "toolpost::event";
/// Bytes of a line that are shown of arguments and facts.
const MOST_SHOWN: usize = 400;

/// Takes lines of a call, by their importance. From [`Context::log`].
///
/// Known secrets are taken out of each line. After the end of the call nothing is taken any more.
///
/// ```
/// use toolpost_core::Context;
///
/// let ctx = Context::in_memory();
/// ctx.log().info(format_args!("{} of {} pages", 3, 7));
/// ```
#[derive(Clone, Copy)]
pub struct Log<'a> {
    ctx: &'a Context,
}

/// One line at a level, which has to be known when the program is compiled.
macro_rules! line {
    ($ctx:expr, $level:expr, $message:expr) => {
        if tracing::enabled!(target: SAID, $level) && !$ctx.has_ended() {
            let message = $message.to_string();
            let message = $ctx.redactor().redact(&message);
            tracing::event!(target: SAID, parent: $ctx.span(), $level, "{message}");
        }
    };
}

impl Log<'_> {
    /// What helps to find a fault.
    pub fn debug(&self, message: impl fmt::Display) {
        line!(self.ctx, Level::DEBUG, message);
    }

    /// What is good to know.
    pub fn info(&self, message: impl fmt::Display) {
        line!(self.ctx, Level::INFO, message);
    }

    /// What may be wrong, although the call goes on.
    pub fn warn(&self, message: impl fmt::Display) {
        line!(self.ctx, Level::WARN, message);
    }

    /// What went wrong.
    pub fn error(&self, message: impl fmt::Display) {
        line!(self.ctx, Level::ERROR, message);
    }
}

impl Context {
    /// Takes lines for those who follow what happens.
    pub fn log(&self) -> Log<'_> {
        Log { ctx: self }
    }
}

/// Whether anybody follows what happens.
pub(super) fn is_followed() -> bool {
    tracing::enabled!(target: HAPPENED, Level::WARN)
}

/// Says to those who follow that something happened. The event has no secrets any more.
pub(super) fn follow(span: &tracing::Span, event: &Event) {
    macro_rules! said {
        ($level:expr, $($words:tt)*) => { tracing::event!(target: HAPPENED, parent: span, $level, $($words)*) };
    }
    match &event.kind {
        EventKind::CallRequested { tool, arguments, .. } => {
            said!(Level::DEBUG, "{tool} was called with {}", short(&arguments.to_string()));
        }
        EventKind::ToolInitialized { tool } => said!(Level::DEBUG, "{tool} is ready"),
        EventKind::ArgumentsRepaired { repairs } => {
            let all: Vec<String> = repairs.iter().map(ToString::to_string).collect();
            said!(Level::DEBUG, "arguments were repaired: {}", short(&all.join("; ")));
        }
        EventKind::HookIntervened { hook, what } => said!(Level::INFO, "the hook {hook} {what}"),
        EventKind::CallDecided { effect, reason } => said!(Level::DEBUG, "decided: {effect}, {reason}"),
        EventKind::Asked { question } => said!(Level::INFO, "asked: {}", short(&question.text)),
        EventKind::Answered { answer } => said!(Level::INFO, "answered: {}", short(&format!("{answer:?}"))),
        EventKind::CallStarted { tool, attempt, .. } => {
            said!(Level::DEBUG, "{tool} starts, attempt {attempt}")
        }
        EventKind::Progress { title, .. } => said!(Level::DEBUG, "progress: {}", short(title)),
        EventKind::CallRetried { attempt, error, delay_ms } => {
            said!(Level::WARN, "attempt {attempt} failed, the next one follows in {delay_ms} ms: {error}");
        }
        EventKind::OutputSpilled { handle, bytes } => {
            said!(Level::DEBUG, "{bytes} bytes of output are kept as {handle}");
        }
        EventKind::CallFinished { tool, error, metadata, .. } => {
            let time = metadata.execution_time_ms;
            match error {
                Some(error) => said!(Level::INFO, "{tool} failed after {time} ms: {error}"),
                None => said!(Level::INFO, "{tool} succeeded after {time} ms"),
            }
        }
        EventKind::Warning { message } => said!(Level::WARN, "{message}"),
        EventKind::Activation { .. }
        | EventKind::FileStored { .. }
        | EventKind::TaskChanged { .. }
        | EventKind::TodosChanged { .. }
        | EventKind::ChangesUndone { .. } => {
            let fact = serde_json::to_string(&event.kind).unwrap_or_default();
            said!(Level::DEBUG, "{}", short(&fact));
        }
    }
}

fn short(text: &str) -> String {
    match text.len() > MOST_SHOWN {
        true => format!("{}…", &text[..text.floor_char_boundary(MOST_SHOWN)]),
        false => text.to_owned(),
    }
}
