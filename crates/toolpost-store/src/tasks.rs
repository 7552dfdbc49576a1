//! The graph of tasks. A claim is a compare-and-set of the owner, with a number that grows.

mod create;

pub(crate) use create::create;

use crate::changes::event;
use crate::db::{Failure, Row, Tx, Value, first};
use crate::log;
use std::sync::Arc;
use toolpost_core::activation::Fact;
use toolpost_core::event::EventKind;
use toolpost_core::store::{By, Task, TaskChange, TaskStatus, WrittenEvent, WrittenEvents};
use toolpost_core::{Code, Event, ToolError};

const COLUMNS: &str =
    "number, title, description, status, owner, claim, result, reason, created_ms, changed_ms";

/// The id of a task by its number.
fn id(number: u64) -> String {
    format!("t{number}")
}

/// The number in an id, or why it is none. The number alone is one too, as some hosts take it for the id.
fn number(asked: &str) -> Result<u64, ToolError> {
    let digits = asked.strip_prefix('t').unwrap_or(asked);
    // One task has one id: `t01` and `t+1` are none.
    let number = digits.parse().ok().filter(|number: &u64| number.to_string() == digits);
    number.ok_or_else(|| unknown(asked))
}

fn unknown(id: &str) -> ToolError {
    let message = format!(
        "there is no task `{id}`; an id is like `t1`, and `list_tasks` or `toolpost tasks` shows which there are"
    );
    ToolError::new(Code::ValidationError, message).with("taskId", id)
}

fn read(row: &mut Row) -> Result<(u64, Task), Failure> {
    let number = row.number()?;
    let (title, description, status) = (row.text()?, row.text()?, row.text()?);
    let status = TaskStatus::named(&status)
        .ok_or_else(|| Failure::Broken(format!("task `{}` has the unknown status `{status}`", id(number))))?;
    let task = Task {
        id: id(number),
        title,
        description,
        status,
        depends_on: Vec::new(),
        owner: row.text_or_none()?,
        claim: row.number()?,
        result: row.text_or_none()?,
        reason: row.text_or_none()?,
        created_ms: row.number()?,
        changed_ms: row.number()?,
    };
    Ok((number, task))
}

pub(crate) fn task(tx: &mut dyn Tx, asked: &str) -> Result<Task, Failure> {
    let number = number(asked)?;
    let rows = tx.rows(&format!("SELECT {COLUMNS} FROM tasks WHERE number = ?1"), &[number.into()])?;
    whole(tx, asked, rows)
}

fn whole(tx: &mut dyn Tx, asked: &str, rows: Vec<Row>) -> Result<Task, Failure> {
    let mut row = first(rows).ok_or_else(|| unknown(asked))?;
    let (number, mut task) = read(&mut row)?;
    let needed = tx.rows("SELECT needed FROM needs WHERE task = ?1 ORDER BY needed", &[number.into()])?;
    for mut row in needed {
        task.depends_on.push(id(row.number()?));
    }
    Ok(task)
}

pub(crate) fn tasks(tx: &mut dyn Tx, status: Option<TaskStatus>) -> Result<Vec<Task>, Failure> {
    let rows = match status {
        None => tx.rows(&format!("SELECT {COLUMNS} FROM tasks ORDER BY number"), &[])?,
        Some(status) => tx.rows(
            &format!("SELECT {COLUMNS} FROM tasks WHERE status = ?1 ORDER BY number"),
            &[status.as_str().into()],
        )?,
    };
    let mut tasks = Vec::with_capacity(rows.len());
    for mut row in rows {
        tasks.push(read(&mut row)?);
    }
    let mut needs = tx.rows("SELECT task, needed FROM needs ORDER BY task, needed", &[])?.into_iter();
    let mut next =
        needs.next().map(|mut row| Ok::<_, Failure>((row.number()?, row.number()?))).transpose()?;
    for (number, task) in &mut tasks {
        while let Some((of, needed)) = next {
            if of > *number {
                break;
            }
            if of == *number {
                task.depends_on.push(id(needed));
            }
            next =
                needs.next().map(|mut row| Ok::<_, Failure>((row.number()?, row.number()?))).transpose()?;
        }
    }
    Ok(tasks.into_iter().map(|(_, task)| task).collect())
}

/// What becomes of a task, where the change is allowed; none where it is so already. `open` are the tasks that it still
/// waits for.
fn next(by: &By, task: &Task, open: &[String], change: &TaskChange) -> Result<Option<Task>, ToolError> {
    use TaskStatus::{Claimed, Completed, Deferred, Ready, Submitted};
    let is_owner = task.owner.as_deref() == Some(by.owner());
    let mut next = Task { changed_ms: by.at_ms, ..task.clone() };
    match (change, task.status) {
        (TaskChange::Claim, Ready | Deferred) => {
            next.status = Claimed;
            next.owner = Some(by.owner().to_owned());
            next.claim += 1;
        }
        (TaskChange::Claim, Claimed) if is_owner => return Ok(None),
        (TaskChange::Submit { claim: Some(claim), .. }, Claimed | Ready | Deferred)
            if *claim != task.claim =>
        {
            return Err(late(task, *claim));
        }
        (TaskChange::Submit { claim: Some(_), .. }, Ready | Deferred) => return Err(released(task)),
        (TaskChange::Submit { result, .. }, Claimed) if is_owner => {
            next.status = Submitted;
            next.result = Some(result.clone());
        }
        (TaskChange::Submit { result, .. }, Ready | Deferred) => {
            next.status = Submitted;
            next.owner = Some(by.owner().to_owned());
            next.claim += 1;
            next.result = Some(result.clone());
        }
        (TaskChange::Submit { result, .. }, Submitted | Completed)
            if is_owner && task.result.as_ref() == Some(result) =>
        {
            return Ok(None);
        }
        (TaskChange::Complete, Submitted) => next.status = Completed,
        (TaskChange::Complete, Completed) => return Ok(None),
        (TaskChange::Reject { reason }, Submitted) => {
            next.status = Deferred;
            next.owner = None;
            next.reason = Some(reason.clone());
        }
        (TaskChange::Reject { reason }, Deferred) if task.reason.as_ref() == Some(reason) => return Ok(None),
        (TaskChange::Release, Claimed) => {
            next.status = if task.reason.is_some() { Deferred } else { Ready };
            next.owner = None;
        }
        (change, _) => return Err(conflict(task, open, change)),
    }
    Ok(Some(next))
}

/// Why a change is refused, and what may be done instead. `open` are the tasks that it still waits for.
fn conflict(task: &Task, open: &[String], change: &TaskChange) -> ToolError {
    use TaskStatus::{Claimed, Completed, Deferred, Pending, Ready, Submitted};
    let doing = match change {
        TaskChange::Claim => "claimed",
        TaskChange::Submit { .. } => "submitted",
        TaskChange::Complete => "completed",
        TaskChange::Reject { .. } => "rejected",
        TaskChange::Release => "released",
    };
    let owner = task.owner.as_deref().unwrap_or("nobody");
    let is = match task.status {
        Pending => format!("waits for {}", open.join(", ")),
        Ready => "is ready and not claimed".to_owned(),
        Deferred => "was rejected and not claimed again".to_owned(),
        Claimed => format!("is claimed by `{owner}` (claim {})", task.claim),
        Submitted => format!("was submitted by `{owner}`"),
        Completed => "is completed".to_owned(),
    };
    let advice = match (change, task.status) {
        (_, Completed) => "nothing is left to do for it",
        (TaskChange::Claim | TaskChange::Submit { .. }, _) => "take another one that is ready",
        (TaskChange::Release, Submitted) => "complete or reject it instead",
        (TaskChange::Release, _) => "there is no claim to release",
        (TaskChange::Complete | TaskChange::Reject { .. }, _) => "it must be submitted first",
    };
    told(task, format!("task `{}` {is}, so it cannot be {doing}; {advice}", task.id))
}

fn late(task: &Task, claim: u64) -> ToolError {
    let (id, now) = (&task.id, task.claim);
    told(
        task,
        format!(
            "task `{id}` was claimed again since: your claim has the number {claim}, the last one {now}; leave it, and take another one"
        ),
    )
}

fn released(task: &Task) -> ToolError {
    let (id, claim) = (&task.id, task.claim);
    told(task, format!("your claim {claim} of task `{id}` was released; claim it again before you submit"))
}

fn told(task: &Task, message: String) -> ToolError {
    ToolError::new(Code::TaskConflict, message)
        .with("taskId", task.id.as_str())
        .with("status", task.status.as_str())
        .with("claim", task.claim)
}

pub(crate) fn change(tx: &mut dyn Tx, by: &By, asked: &str, change: &TaskChange) -> Result<Task, Failure> {
    let of = number(asked)?;
    let rows = tx.locked(&format!("SELECT {COLUMNS} FROM tasks WHERE number = ?1"), &[of.into()])?;
    let task = whole(tx, asked, rows)?;
    let is_free = matches!(task.status, TaskStatus::Ready | TaskStatus::Deferred);
    if is_free && matches!(change, TaskChange::Submit { claim: None, .. }) {
        // A new process of the owner does not know the number, but the log does.
        match lost_claim(tx, by, &task.id)? {
            Some(number) if number == task.claim => return Err(released(&task).into()),
            Some(number) => return Err(late(&task, number).into()),
            None => {}
        }
    }
    let open = if task.status == TaskStatus::Pending { open(tx, of)? } else { Vec::new() };
    let Some(next) = next(by, &task, &open, change)? else { return Ok(task) };
    tx.run(
        "UPDATE tasks SET status = ?2, owner = ?3, claim = ?4, result = ?5, reason = ?6, changed_ms = ?7 WHERE number = ?1",
        &[
            of.into(),
            next.status.as_str().into(),
            Value::text(next.owner.as_deref()),
            next.claim.into(),
            Value::text(next.result.as_deref()),
            Value::text(next.reason.as_deref()),
            next.changed_ms.into(),
        ],
    )?;
    let mut events = vec![changed(by, &next)];
    if next.status == TaskStatus::Completed {
        events.extend(free(tx, by, of)?);
    }
    log::add(tx, &events)?;
    Ok(next)
}

/// Frees the tasks whose owners have ended, by what the log is about to be told. Returns what is to be told of them.
pub(crate) fn free_of_ended(tx: &mut dyn Tx, events: &WrittenEvents) -> Result<Vec<Arc<Event>>, Failure> {
    const END: &[u8] = b"\"fact\":\"ended\"";
    let is_end = |event: &WrittenEvent<'_>| {
        event.kind == "activation" && memchr::memmem::find(event.json, END).is_some()
    };
    let mut freed = Vec::new();
    for event in events.iter().filter(is_end) {
        // It may also be the data of some call that look like one.
        let Ok(event) = serde_json::from_slice::<Event>(event.json) else { continue };
        let EventKind::Activation { fact: Fact::Ended { .. } } = &event.kind else { continue };
        let Some(activation) = event.activation.clone() else { continue };
        let rows = tx.locked(
            &format!("SELECT {COLUMNS} FROM tasks WHERE owner = ?1 AND status = 'claimed' ORDER BY number"),
            &[activation.as_str().into()],
        )?;
        let by = By {
            session: event.session,
            agent: event.agent,
            activation: Some(activation),
            call: None,
            at_ms: event.at_ms,
        };
        for mut row in rows {
            let (number, task) = read(&mut row)?;
            if let Some(next) = next(&by, &task, &[], &TaskChange::Release)? {
                tx.run(
                    "UPDATE tasks SET status = ?2, owner = NULL, changed_ms = ?3 WHERE number = ?1",
                    &[number.into(), next.status.as_str().into(), next.changed_ms.into()],
                )?;
                freed.push(changed(&by, &next));
            }
        }
    }
    Ok(freed)
}

/// The number of a claim that was taken from this owner, who has neither submitted nor claimed the task since.
fn lost_claim(tx: &mut dyn Tx, by: &By, task: &str) -> Result<Option<u64>, Failure> {
    log::settle_all(tx)?;
    let own = tx.rows(
        "SELECT body FROM log WHERE session = ?1 AND kind = 'taskChanged' AND body LIKE ?2 ORDER BY sequence DESC LIMIT 1",
        &[by.session.as_str().into(), format!("%\"task\":\"{task}\"%").as_str().into()],
    )?;
    let Some(mut row) = first(own) else { return Ok(None) };
    let event: Option<Event> = serde_json::from_str(&row.text()?).ok();
    Ok(match event.map(|event| event.kind) {
        Some(EventKind::TaskChanged { status: TaskStatus::Claimed, owner, claim, .. })
            if owner.as_deref() == Some(by.owner()) =>
        {
            Some(claim)
        }
        _ => None,
    })
}

/// The tasks that this one depends on and that are not completed.
fn open(tx: &mut dyn Tx, of: u64) -> Result<Vec<String>, Failure> {
    let rows = tx.rows(
        "SELECT needs.needed FROM needs JOIN tasks ON tasks.number = needs.needed
         WHERE needs.task = ?1 AND tasks.status <> 'completed' ORDER BY needs.needed",
        &[of.into()],
    )?;
    rows.into_iter().map(|mut row| Ok(id(row.number()?))).collect()
}

fn changed(by: &By, task: &Task) -> Arc<Event> {
    let kind = EventKind::TaskChanged {
        task: task.id.clone(),
        status: task.status,
        owner: task.owner.clone(),
        claim: task.claim,
    };
    Arc::new(event(by, kind))
}

/// Makes ready what has waited for this task alone.
fn free(tx: &mut dyn Tx, by: &By, completed: u64) -> Result<Vec<Arc<Event>>, Failure> {
    // Locked first: another task that they wait for may be completed at this moment.
    let waiting = tx.locked(
        "SELECT number FROM tasks WHERE status = 'pending' AND number IN (SELECT task FROM needs WHERE needed = ?1)
         ORDER BY number",
        &[completed.into()],
    )?;
    let mut events = Vec::new();
    for mut row in waiting {
        let number = row.number()?;
        if !open(tx, number)?.is_empty() {
            continue;
        }
        tx.run(
            "UPDATE tasks SET status = 'ready', changed_ms = ?2 WHERE number = ?1",
            &[number.into(), by.at_ms.into()],
        )?;
        let kind =
            EventKind::TaskChanged { task: id(number), status: TaskStatus::Ready, owner: None, claim: 0 };
        events.push(Arc::new(event(by, kind)));
    }
    Ok(events)
}
