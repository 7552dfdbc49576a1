//! New tasks, with what they depend on.

use super::{changed, id, number, unknown};
use crate::db::{Failure, Tx, Value, first};
use crate::log;
use std::collections::HashMap;
use toolpost_core::store::{By, NewTask, Task, TaskStatus};
use toolpost_core::{Code, ToolError};

/// Bytes of a title, at most.
const LONGEST_TITLE: usize = 1_000;

/// On what a new task depends: on one that is there, or on one of those that are created with it.
enum Needed {
    There(u64),
    New(usize),
}

pub(crate) fn create(tx: &mut dyn Tx, by: &By, new: &[NewTask]) -> Result<Vec<Task>, Failure> {
    let needed = needed(new)?;
    refuse_cycle(new, &needed)?;
    let mut there: Vec<u64> = needed
        .iter()
        .flatten()
        .filter_map(|needed| match needed {
            Needed::There(number) => Some(*number),
            Needed::New(_) => None,
        })
        .collect();
    there.sort_unstable();
    there.dedup();
    let mut is_completed = HashMap::new();
    for number in there {
        // Locked, so that none is completed between this look and the end.
        let rows = tx.locked("SELECT status FROM tasks WHERE number = ?1", &[number.into()])?;
        let mut row = first(rows).ok_or_else(|| super::unknown(&id(number)))?;
        is_completed.insert(number, row.text()? == TaskStatus::Completed.as_str());
    }
    let is_done = |needed: &Needed| match needed {
        Needed::There(number) => is_completed.get(number).copied().unwrap_or(false),
        Needed::New(index) => new[*index].result.is_some(),
    };
    let turn = tx.rows(
        "UPDATE counters SET last = last + ?1 WHERE name = 'tasks' RETURNING last",
        &[(new.len() as u64).into()],
    )?;
    let first_number = first(turn).map_or(Ok(0), |mut row| row.number())? + 1 - new.len() as u64;
    let mut tasks = Vec::with_capacity(new.len());
    let all = new;
    for (index, (new, needed)) in all.iter().zip(&needed).enumerate() {
        let own = first_number + index as u64;
        let mut numbers: Vec<u64> = needed
            .iter()
            .map(|needed| match needed {
                Needed::There(number) => *number,
                Needed::New(index) => first_number + *index as u64,
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let waits = needed.iter().position(|needed| !is_done(needed));
        let status = match (&new.result, waits) {
            (Some(_), Some(first)) => {
                let named = match &needed[first] {
                    Needed::There(number) => id(*number),
                    Needed::New(index) => all[*index].title.trim().to_owned(),
                };
                return Err(not_done(new, &named).into());
            }
            (Some(_), None) => TaskStatus::Completed,
            (None, Some(_)) => TaskStatus::Pending,
            (None, None) => TaskStatus::Ready,
        };
        let task = Task {
            id: id(own),
            title: new.title.trim().to_owned(),
            description: new.description.clone(),
            status,
            depends_on: numbers.iter().map(|number| id(*number)).collect(),
            // As if whoever creates it had claimed, submitted and completed it.
            owner: new.result.is_some().then(|| by.owner().to_owned()),
            claim: u64::from(new.result.is_some()),
            result: new.result.clone(),
            reason: None,
            created_ms: by.at_ms,
            changed_ms: by.at_ms,
        };
        tx.run(
            "INSERT INTO tasks (number, title, description, status, owner, claim, result, created_ms, changed_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
            &[
                own.into(),
                task.title.as_str().into(),
                task.description.as_str().into(),
                task.status.as_str().into(),
                Value::text(task.owner.as_deref()),
                task.claim.into(),
                Value::text(task.result.as_deref()),
                by.at_ms.into(),
            ],
        )?;
        for number in numbers {
            tx.run("INSERT INTO needs (task, needed) VALUES (?1, ?2)", &[own.into(), number.into()])?;
        }
        tasks.push(task);
    }
    let events: Vec<_> = tasks.iter().map(|task| changed(by, task)).collect();
    log::add(tx, &events)?;
    Ok(tasks)
}

/// What each new task depends on. Titles are looked at here too.
fn needed(new: &[NewTask]) -> Result<Vec<Vec<Needed>>, ToolError> {
    let mut keys: HashMap<&str, usize> = HashMap::new();
    for (index, task) in new.iter().enumerate() {
        let title = task.title.trim();
        let wrong = match title.len() {
            0 => Some("the title of a task is empty; say in a few words what is to be done".to_owned()),
            long if long > LONGEST_TITLE => Some(format!(
                "a title has at most {LONGEST_TITLE} bytes, and this one has {long}; put the rest into the description"
            )),
            _ => None,
        };
        if let Some(message) = wrong {
            return Err(ToolError::new(Code::ValidationError, message));
        }
        if let Some(key) = &task.key
            && keys.insert(key, index).is_some()
        {
            let message = format!("two of the new tasks have the key `{key}`; give each a key of its own");
            return Err(ToolError::new(Code::ValidationError, message));
        }
    }
    let one = |name: &String| match keys.get(name.as_str()) {
        Some(index) => Ok(Needed::New(*index)),
        // Beside keys, a number alone would be one that is missing.
        None if !keys.is_empty() && !name.starts_with('t') => Err(unknown(name)),
        None => number(name).map(Needed::There),
    };
    new.iter().map(|task| task.depends_on.iter().map(one).collect()).collect()
}

fn not_done(task: &NewTask, needed: &str) -> ToolError {
    let message = format!(
        "`{}` is completed, but depends on `{needed}`, which is not; mark both as completed, or neither",
        task.title.trim()
    );
    ToolError::new(Code::ValidationError, message)
}

/// New tasks may depend on each other, but not in a circle.
fn refuse_cycle(new: &[NewTask], needed: &[Vec<Needed>]) -> Result<(), ToolError> {
    let mut left: Vec<usize> = needed.iter().map(|needed| news(needed).count()).collect();
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); new.len()];
    for (index, needed) in needed.iter().enumerate() {
        news(needed).for_each(|needed| waiting[needed].push(index));
    }
    let mut free: Vec<usize> = (0..new.len()).filter(|index| left[*index] == 0).collect();
    let mut done = 0;
    while let Some(next) = free.pop() {
        done += 1;
        for index in std::mem::take(&mut waiting[next]) {
            left[index] -= 1;
            if left[index] == 0 {
                free.push(index);
            }
        }
    }
    if done == new.len() {
        return Ok(());
    }
    let stuck = new.iter().zip(&left).filter(|(_, left)| **left > 0);
    let titles: Vec<String> = stuck.take(5).map(|(task, _)| format!("`{}`", task.title.trim())).collect();
    let message = format!(
        "these tasks wait for each other in a circle: {}; leave one dependency out",
        titles.join(", ")
    );
    Err(ToolError::new(Code::ValidationError, message))
}

fn news(needed: &[Needed]) -> impl Iterator<Item = usize> {
    needed.iter().filter_map(|needed| match needed {
        Needed::New(index) => Some(*index),
        Needed::There(_) => None,
    })
}
