//! `toolpost tasks`: the tasks that sessions share, for people.
//!
//! Models reach them through tools; which of those there are depends on the role.

mod file;
mod markdown;
mod tree;
mod watch;

use super::stored::{Reads, Stored, with_store};
use crate::calendar::{moment, now_ms};
use crate::cli::{Flags, TaskFormat, Tasks};
use crate::config::env::Environment;
use crate::output::{Printer, Tone, on_terminal};
use serde_json::json;
use toolpost_core::store::{By, NewTask, Task, TaskChange};
use toolpost_core::{Code, ToolError};
use toolpost_tools::tasklist::WORKER;

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, command: Option<&Tasks>) -> u8 {
    let reads = match command {
        None | Some(Tasks::List | Tasks::Show { .. } | Tasks::Export { .. }) => Reads::Only,
        // A watched store may be yet to be made.
        Some(_) => Reads::NotOnly,
    };
    with_store(printer, flags, environment, reads, |stored| {
        match command {
            None | Some(Tasks::List) => list(printer, stored),
            Some(Tasks::Add { title, description, depends_on }) => {
                let (title, description) = (title.clone(), description.clone());
                let new =
                    NewTask { title, description, depends_on: depends_on.clone(), ..NewTask::default() };
                add(printer, stored, new)
            }
            Some(Tasks::Show { id }) => stored.store.task(id).map(|task| show(printer, &task)),
            Some(Tasks::Watch) => watch::run(printer, &*stored.store),
            Some(Tasks::Release { id }) => change(printer, stored, "release", id, TaskChange::Release),
            Some(Tasks::Complete { id }) => change(printer, stored, "complete", id, TaskChange::Complete),
            Some(Tasks::Reject { id, reason }) => {
                change(printer, stored, "reject", id, TaskChange::Reject { reason: reason.clone() })
            }
            Some(Tasks::Import { file, format }) => import(printer, stored, file, *format),
            Some(Tasks::Export { format }) => export(printer, stored, *format),
        }?;
        Ok(0)
    })
}

fn list(printer: &Printer, stored: &Stored) -> Result<(), ToolError> {
    let tasks = stored.store.tasks(None)?;
    if printer.is_json() {
        printer.json(&json!({ "tasks": tasks }));
    } else if tasks.is_empty() {
        printer.say(Tone::Note, "there are no tasks yet; `toolpost tasks add TITLE` makes one");
    } else {
        printer.page(&tree::page(&tasks));
    }
    Ok(())
}

fn add(printer: &Printer, stored: &Stored, new: NewTask) -> Result<(), ToolError> {
    as_orchestrator(stored, "add")?;
    let created = stored.store.create_tasks(&by(stored), vec![new])?;
    created.iter().for_each(|task| tell(printer, task));
    Ok(())
}

fn change(
    printer: &Printer,
    stored: &Stored,
    command: &str,
    id: &str,
    change: TaskChange,
) -> Result<(), ToolError> {
    as_orchestrator(stored, command)?;
    let task = stored.store.change_task(&by(stored), id, change)?;
    tell(printer, &task);
    Ok(())
}

fn import(
    printer: &Printer,
    stored: &Stored,
    file: &std::path::Path,
    format: Option<TaskFormat>,
) -> Result<(), ToolError> {
    as_orchestrator(stored, "import")?;
    let (items, notes) = file::read(file, format)?;
    let created = file::create(&*stored.store, &by(stored), items)?;
    notes.iter().for_each(|note| printer.say(Tone::Note, &format!("note: {note}")));
    match printer.is_json() {
        true => printer.json(&json!({ "tasks": created })),
        false => created.iter().for_each(|task| tell(printer, task)),
    }
    Ok(())
}

fn export(printer: &Printer, stored: &Stored, format: TaskFormat) -> Result<(), ToolError> {
    if printer.is_json() && format == TaskFormat::Markdown {
        let message = "--json and --format markdown contradict each other; leave one of them out";
        return Err(ToolError::new(Code::ValidationError, message));
    }
    let tasks = stored.store.tasks(None)?;
    match format {
        TaskFormat::Json => printer.data(&file::json(&tasks)),
        TaskFormat::Markdown => printer.data(&markdown::write(&tasks)),
    }
    Ok(())
}

/// One task on one line, or as JSON.
fn tell(printer: &Printer, task: &Task) {
    match printer.is_json() {
        true => printer.json(task),
        false => printer.page(&format!("{}\n", tree::line(task))),
    }
}

fn show(printer: &Printer, task: &Task) {
    if printer.is_json() {
        printer.json(task);
        return;
    }
    let mut page = format!("{}\n", tree::line(task));
    let mut row = |name: &str, text: &str| {
        if !text.is_empty() {
            page.push_str(&format!("{} {}\n", printer.bold(&format!("{name:12}")), on_terminal(text)));
        }
    };
    row("depends on", &task.depends_on.join(", "));
    let claim = |owner: &String| format!("{owner} (claim {})", task.claim);
    row("owner", &task.owner.as_ref().map(claim).unwrap_or_default());
    row("created", &format!("{} UTC", moment(task.created_ms)));
    row("changed", &format!("{} UTC", moment(task.changed_ms)));
    row("rejected", task.reason.as_deref().unwrap_or_default());
    for (name, text) in [("description", Some(&task.description)), ("result", task.result.as_ref())] {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            page.push_str(&format!("\n{}\n{}\n", printer.bold(name), on_terminal(text)));
        }
    }
    printer.page(&page);
}

/// What a worker may not do, it may not do here either.
fn as_orchestrator(stored: &Stored, command: &str) -> Result<(), ToolError> {
    match stored.config.role.as_deref() {
        Some(WORKER) => {
            let message = format!(
                "`toolpost tasks {command}` is for the role orchestrator, and this session has the role worker; leave \
                 --role out, or set the other one"
            );
            Err(ToolError::new(Code::RoleForbidden, message))
        }
        _ => Ok(()),
    }
}

fn by(stored: &Stored) -> By {
    By { at_ms: now_ms(), session: stored.config.session.clone(), ..By::default() }
}
