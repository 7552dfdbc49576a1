//! What a model is told of tasks: one on a line, or one in full; and what would become of one.

use super::Data;
use toolpost_core::store::{Task, TaskStatus};
use toolpost_core::{Code, Output, ToolError};

/// A task on one line.
pub(super) fn line(task: &Task) -> String {
    let title = crate::one_line(&task.title);
    let needs = match task.depends_on.as_slice() {
        [] => String::new(),
        needed => format!(" (depends on {})", needed.join(", ")),
    };
    format!("{} {}: {title}{needs}", task.id, standing(task))
}

/// A task with all that is known of it.
pub(super) fn whole(task: &Task) -> String {
    let mut text = line(task);
    if let Some(reason) = &task.reason {
        text.push_str(&format!("\nrejected before: {reason}"));
    }
    if !task.description.is_empty() {
        text.push_str(&format!("\n\n{}", task.description));
    }
    if let Some(result) = &task.result {
        text.push_str(&format!("\n\nresult:\n{result}"));
    }
    text
}

/// The outcome of a call that changed a task: where it stands now.
pub(super) fn changed(task: Task) -> Output<Data> {
    Output::new(format!("{} {}", task.id, task.status.as_str()), line(&task), Data { task })
}

fn standing(task: &Task) -> String {
    match (&task.owner, task.status) {
        (Some(owner), TaskStatus::Claimed | TaskStatus::Submitted) => {
            format!("{} by {} (claim {})", task.status.as_str(), crate::one_line(owner), task.claim)
        }
        (_, status) => status.as_str().to_owned(),
    }
}

/// The outcome of a dry run: what would happen to a task.
pub(super) fn would(doing: &str, task: Task) -> Output<Data> {
    Output::new(task.id.clone(), format!("would {doing} {}", line(&task)), Data { task })
}

/// The outcome of a dry run, or why the call would be refused.
pub(super) fn could(doing: &str, task: Task, is_possible: bool) -> Result<Output<Data>, ToolError> {
    if is_possible {
        return Ok(would(doing, task));
    }
    let message = format!("task `{}` is {}; you cannot {doing} it now", task.id, standing(&task));
    Err(ToolError::new(Code::TaskConflict, message)
        .with("taskId", task.id.as_str())
        .with("status", task.status.as_str()))
}
