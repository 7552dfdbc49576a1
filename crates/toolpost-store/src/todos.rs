//! The todos of a session: one list, replaced as a whole.

use crate::changes::event;
use crate::db::{Failure, Tx, first};
use crate::log;
use std::collections::HashSet;
use std::sync::Arc;
use toolpost_core::event::EventKind;
use toolpost_core::store::{By, Todo};
use toolpost_core::{Code, ToolError};

pub(crate) fn todos(tx: &mut dyn Tx, session: &str) -> Result<Vec<Todo>, Failure> {
    let rows = tx.rows("SELECT body FROM todos WHERE session = ?1", &[session.into()])?;
    let Some(mut row) = first(rows) else { return Ok(Vec::new()) };
    serde_json::from_str(&row.text()?)
        .map_err(|error| Failure::Broken(format!("the todos of `{session}` are not understood: {error}")))
}

pub(crate) fn set(tx: &mut dyn Tx, by: &By, todos: &[Todo]) -> Result<(), Failure> {
    let mut ids = HashSet::new();
    if let Some(twice) = todos.iter().find(|todo| !ids.insert(&todo.id)) {
        let message = format!("two todos have the id `{}`; give each an id of its own", twice.id);
        return Err(ToolError::new(Code::ValidationError, message).into());
    }
    let body = serde_json::to_string(todos)
        .map_err(|error| Failure::Broken(format!("the todos could not be written down: {error}")))?;
    tx.run(
        "INSERT INTO todos (session, body, at_ms) VALUES (?1, ?2, ?3)
         ON CONFLICT (session) DO UPDATE SET body = excluded.body, at_ms = excluded.at_ms",
        &[by.session.as_str().into(), body.as_str().into(), by.at_ms.into()],
    )?;
    log::add(tx, &[Arc::new(event(by, EventKind::TodosChanged { count: todos.len() }))])
}
