//! What a log calls an event.

use toolpost_core::activation::Fact;
use toolpost_core::event::EventKind;

/// One word for what happened: a log shows it, and finds events by it.
pub fn label(kind: &EventKind) -> &str {
    match kind {
        EventKind::CallRequested { .. } => "asked",
        EventKind::ToolInitialized { .. } => "ready",
        EventKind::ArgumentsRepaired { .. } => "repaired",
        EventKind::HookIntervened { .. } => "hook",
        EventKind::CallDecided { effect, .. } => effect,
        EventKind::Asked { .. } => "question",
        EventKind::Answered { .. } => "answer",
        EventKind::CallStarted { .. } => "start",
        EventKind::Progress { .. } => "progress",
        EventKind::CallRetried { .. } => "retry",
        EventKind::OutputSpilled { .. } => "kept",
        EventKind::CallFinished { error: Some(_), .. } => "failed",
        EventKind::CallFinished { error: None, .. } => "done",
        EventKind::FileStored { deleted: true, .. } => "deleted",
        EventKind::FileStored { .. } => "file",
        EventKind::TaskChanged { .. } => "task",
        EventKind::TodosChanged { .. } => "todos",
        EventKind::ChangesUndone { is_redo: true, .. } => "redo",
        EventKind::ChangesUndone { .. } => "undo",
        EventKind::Activation { fact } => match fact {
            Fact::Started { .. } => "began",
            Fact::Offered { .. } => "offered",
            Fact::Decided { .. } => "decided",
            Fact::Answered { .. } => "model",
            Fact::ModelFailed { .. } => "model-failed",
            Fact::Returned { .. } => "returned",
            Fact::Paused { .. } => "paused",
            Fact::Compacted { .. } => "compacted",
            Fact::Spent { .. } => "spent",
            Fact::Spawned { .. } => "spawned",
            Fact::Signalled { .. } => "signal",
            Fact::Continued { .. } => "continued",
            Fact::Resumed { .. } => "resumed",
            Fact::StopAsked => "stop",
            Fact::Ended { .. } => "ended",
        },
        EventKind::Warning { .. } => "note",
    }
}
