//! Tasks in files: read from JSON or a check list, and created in a store.

use super::markdown;
use crate::cli::TaskFormat;
use crate::config::foreign;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use toolpost_core::store::{By, NewTask, Store, Task, TaskStatus};
use toolpost_core::{Code, ToolError};

/// Maximum size of a file, in bytes.
const LARGEST: usize = 16 << 20;
/// Maximum number of tasks in a file.
const MOST: usize = 10_000;

/// The result of a task that was done before it was imported, where the file has none.
const DONE_BEFORE: &str = "done before it was imported";

/// A task of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Item {
    /// Its name in the file, for [`Item::depends_on`].
    pub(super) key: Option<String>,
    pub(super) title: String,
    pub(super) description: String,
    /// Names of tasks in the file, or ids of tasks that are there already.
    pub(super) depends_on: Vec<String>,
    /// Whether it is done.
    pub(super) is_completed: bool,
    /// What came of it.
    pub(super) result: Option<String>,
}

/// The tasks of a file, and what of the file is not taken over.
pub(super) fn read(path: &Path, format: Option<TaskFormat>) -> Result<(Vec<Item>, Vec<String>), ToolError> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = match is_stdin {
        true => from_stdin()?,
        false => foreign::read_at_most(path, LARGEST)?,
    };
    if bytes.len() > LARGEST {
        return Err(refused(format!("{name} is larger than {} MiB; import it in parts", LARGEST >> 20)));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused(format!("{name} is not UTF-8")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let (items, notes) = understood(&name, text, format)?;
    match items.len() {
        0 => Err(refused(format!(
            "{name} has no tasks; write JSON as `toolpost tasks export` does, or lines such as `- [ ] title`"
        ))),
        count if count > MOST => {
            Err(refused(format!("{name} has {count} tasks; import at most {MOST} at a time")))
        }
        _ => Ok((items, notes)),
    }
}

/// The tasks of a text; its first letter tells its format, where nobody does.
pub(super) fn understood(
    name: &str,
    text: &str,
    format: Option<TaskFormat>,
) -> Result<(Vec<Item>, Vec<String>), ToolError> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    match format {
        Some(TaskFormat::Json) => from_json(name, text),
        None if is_json => from_json(name, text),
        Some(TaskFormat::Markdown) | None => Ok(markdown::read(text)),
    }
}

fn from_stdin() -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LARGEST as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| refused(format!("standard input could not be read: {error}")))?;
    Ok(bytes)
}

fn refused(message: String) -> ToolError {
    ToolError::new(Code::ValidationError, message)
}

/// All tasks, with everything.
pub(super) fn json(tasks: &[Task]) -> String {
    format!("{:#}\n", json!({ "tasks": tasks }))
}

/// A task as `export` writes it. Only the title must be there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JsonTask {
    id: Option<String>,
    title: String,
    #[serde(default)]
    description: String,
    status: Option<TaskStatus>,
    #[serde(default)]
    depends_on: Vec<String>,
    result: Option<String>,
    #[serde(rename = "owner")]
    _owner: Option<String>,
    #[serde(rename = "claim")]
    _claim: Option<u64>,
    #[serde(rename = "reason")]
    _reason: Option<String>,
    #[serde(rename = "createdMs")]
    _created_ms: Option<u64>,
    #[serde(rename = "changedMs")]
    _changed_ms: Option<u64>,
}

fn from_json(name: &str, text: &str) -> Result<(Vec<Item>, Vec<String>), ToolError> {
    let parsed: Value = serde_json::from_str(text).map_err(|error| {
        refused(format!("{name} is not valid JSON: {error}; a check list is read with --format markdown"))
    })?;
    let tasks = match parsed {
        Value::Array(tasks) => Some(tasks),
        Value::Object(mut file) if file.len() == 1 => match file.remove("tasks") {
            Some(Value::Array(tasks)) => Some(tasks),
            _ => None,
        },
        _ => None,
    };
    let tasks = tasks.ok_or_else(|| {
        refused(format!("{name} is not a list of tasks; write {{\"tasks\": [{{\"title\": \"…\"}}]}}"))
    })?;
    let (mut items, mut begun) = (Vec::with_capacity(tasks.len()), 0);
    for (index, task) in tasks.into_iter().enumerate() {
        let task: JsonTask = serde_json::from_value(task)
            .map_err(|error| refused(format!("task {} of {name} does not fit: {error}", index + 1)))?;
        let status = task.status.unwrap_or(TaskStatus::Ready);
        begun +=
            usize::from(matches!(status, TaskStatus::Claimed | TaskStatus::Submitted | TaskStatus::Deferred));
        items.push(Item {
            key: task.id,
            title: task.title,
            description: task.description,
            depends_on: task.depends_on,
            is_completed: status == TaskStatus::Completed,
            result: task.result,
        });
    }
    let note =
        format!("{begun} tasks were claimed, submitted or deferred there; here they can be claimed again");
    Ok((items, (begun > 0).then_some(note).into_iter().collect()))
}

/// Creates the tasks, all or none; those that are done are created as completed.
pub(super) fn create(store: &dyn Store, by: &By, items: Vec<Item>) -> Result<Vec<Task>, ToolError> {
    let new = items.into_iter().map(|item| NewTask {
        key: item.key,
        title: item.title,
        description: item.description,
        depends_on: item.depends_on,
        result: item.is_completed.then(|| item.result.unwrap_or_else(|| DONE_BEFORE.to_owned())),
    });
    store.create_tasks(by, new.collect())
}

#[cfg(test)]
mod tests;
