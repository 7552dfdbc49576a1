//! Durable events on SQLite, one by one and together.

use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::Result;
use rusqlite::{Connection, params};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use toolpost_core::Event;
use toolpost_core::event::EventKind;
use toolpost_store::StoreUrl;

const PLAIN: &str = "the same rows, plain SQLite";
const OURS: &str = "Store::append";
const ROUNDS: usize = 300;

/// An event as a call of every day makes it.
pub(super) fn event(number: u64) -> Arc<Event> {
    Arc::new(Event {
        at_ms: 1_800_000_000_000 + number,
        session: format!("s{}", number % 50),
        sequence: 0,
        agent: None,
        activation: None,
        call: Some(format!("call-{number}")),
        kind: EventKind::CallRequested {
            tool: ["read", "edit", "grep", "bash"][number as usize % 4].to_owned(),
            arguments: json!({"filePath": format!("src/part/file_{}.rs", number % 9_000), "limit": 200}),
            parent: None,
        },
    })
}

pub(super) fn measure(folder: &Path, hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    for together in [1_usize, 100] {
        let path = folder.join(format!("events-{together}.db"));
        let store = toolpost_store::open(&StoreUrl::Sqlite(path.clone()))?;
        // The same tables, in a file of its own.
        let other = folder.join(format!("plain-{together}.db"));
        drop(toolpost_store::open(&StoreUrl::Sqlite(other.clone()))?);
        let plain = Connection::open(&other)?;
        plain.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
        let (mut theirs, mut ours) = (Samples::default(), Samples::default());
        for round in 0..ROUNDS {
            let first = (round * together) as u64;
            let events: Vec<Arc<Event>> = (first..first + together as u64).map(event).collect();
            let started = Instant::now();
            insert(&plain, first, &events)?;
            theirs.add(started.elapsed() / together as u32);
            let started = Instant::now();
            store.append(&events)?;
            ours.add(started.elapsed() / together as u32);
        }
        let title = match together {
            1 => "store: durable events one by one, SQLite".to_owned(),
            count => format!("store: durable events {count} at a time, SQLite"),
        };
        let mut table = Table::new(title, Unit::PerSecond);
        table.add(PLAIN, theirs, None);
        table.add(OURS, ours, None);
        table.goal(OURS, "at least 0.8 of plain", |row| row.ratio >= 0.8);
        table.note("Both write the same rows with the same indices and wait for the disk; ours also counts the session.");
        hand_on(table);
    }
    Ok(())
}

/// One transaction, by a program that has nothing else to do.
fn insert(plain: &Connection, first: u64, events: &[Arc<Event>]) -> Result<()> {
    plain.execute_batch("BEGIN IMMEDIATE")?;
    for (index, event) in events.iter().enumerate() {
        let number = first as i64 + index as i64;
        let body = serde_json::to_string(&event.kind)?;
        let mut statement = plain.prepare_cached(
            "INSERT INTO log (position, session, sequence, at_ms, agent, call, kind, tool, code, micros, bytes, body)
             VALUES (?1, ?2, ?3, ?4, NULL, ?5, 'callRequested', ?6, NULL, NULL, NULL, ?7)",
        )?;
        let EventKind::CallRequested { tool, .. } = &event.kind else { continue };
        statement.execute(params![
            number + 1,
            event.session,
            number,
            event.at_ms as i64,
            event.call,
            tool,
            body
        ])?;
    }
    Ok(plain.execute_batch("COMMIT")?)
}
