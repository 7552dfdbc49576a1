//! What the log knows of an event without reading it: the columns that queries go by.

use crate::db::Failure;
use toolpost_core::Event;
use toolpost_core::event::EventKind;

/// The columns of an event.
pub(super) struct Facts<'a> {
    pub(super) kind: &'static str,
    /// The tool that it names. Which tool its call is of, `super::tools` finds out.
    pub(super) tool: Option<&'a str>,
    /// For the end of a call: empty for one that worked, else the code.
    pub(super) code: Option<&'a str>,
    /// How long the call took, in millionths of a second.
    pub(super) micros: Option<u64>,
    /// Bytes of text that it gave.
    pub(super) bytes: Option<u64>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(event: &'a Event) -> Facts<'a> {
        let plain = |kind| Facts { kind, tool: None, code: None, micros: None, bytes: None };
        let named = |kind, tool: &'a str| Facts { tool: Some(tool), ..plain(kind) };
        match &event.kind {
            EventKind::CallRequested { tool, .. } => named("callRequested", tool),
            EventKind::ToolInitialized { tool } => named("toolInitialized", tool),
            EventKind::ArgumentsRepaired { .. } => plain("argumentsRepaired"),
            EventKind::HookIntervened { .. } => plain("hookIntervened"),
            EventKind::CallDecided { .. } => plain("callDecided"),
            EventKind::Asked { .. } => plain("asked"),
            EventKind::Answered { .. } => plain("answered"),
            EventKind::CallStarted { tool, .. } => named("callStarted", tool),
            EventKind::Progress { .. } => plain("progress"),
            EventKind::CallRetried { .. } => plain("callRetried"),
            EventKind::OutputSpilled { .. } => plain("outputSpilled"),
            EventKind::CallFinished { tool, output, error, metadata } => Facts {
                code: Some(error.as_ref().map_or("", |error| error.code().as_str())),
                micros: Some((metadata.execution_time_ms.max(0.0) * 1e3) as u64),
                bytes: Some(output.as_ref().map_or(0, |output| (output.text.len() + output.left_out) as u64)),
                ..named("callFinished", tool)
            },
            EventKind::FileStored { .. } => plain("fileStored"),
            EventKind::TaskChanged { .. } => plain("taskChanged"),
            EventKind::TodosChanged { .. } => plain("todosChanged"),
            EventKind::ChangesUndone { .. } => plain("changesUndone"),
            EventKind::Activation { .. } => plain("activation"),
            EventKind::Warning { .. } => plain("warning"),
        }
    }
}

/// An event as it is kept.
#[cfg(feature = "postgres")]
pub(super) fn body(event: &Event) -> Result<String, Failure> {
    serde_json::to_string(event).map_err(not_written)
}

/// Why an event could not be kept.
#[expect(clippy::needless_pass_by_value, reason = "what a `map_err` hands over")]
pub(super) fn not_written(error: serde_json::Error) -> Failure {
    Failure::Broken(format!("an event could not be written down: {error}"))
}
