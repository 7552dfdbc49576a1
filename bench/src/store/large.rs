//! A log of millions of events: how soon it answers, and what opening it takes.

use super::events::event;
use crate::report::{Table, Unit};
use crate::samples::{Samples, peak_memory_kib};
use anyhow::Result;
use std::path::Path;
use std::time::Instant;
use toolpost_core::store::EventQuery;
use toolpost_store::StoreUrl;

const EVENTS: u64 = 5_000_000;
const TOGETHER: u64 = 5_000;
const ROUNDS: usize = 9;

pub(super) fn measure(folder: &Path, hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    eprintln!("making a log of {EVENTS} events …");
    let url = StoreUrl::Sqlite(folder.join("large.db"));
    let store = toolpost_store::open(&url)?;
    let started = Instant::now();
    for first in (0..EVENTS).step_by(TOGETHER as usize) {
        let events: Vec<_> = (first..first + TOGETHER).map(event).collect();
        store.append(&events)?;
    }
    let rate = EVENTS as f64 / started.elapsed().as_secs_f64();
    drop(store);
    let before = peak_memory_kib();
    let mut table = Table::new(format!("store: a log of {EVENTS} events, SQLite"), Unit::Millis);
    let mut opening = Samples::default();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let store = toolpost_store::open(&url)?;
        store.last_position()?;
        opening.add(started.elapsed());
    }
    let store = toolpost_store::open(&url)?;
    table.add("open it, and find the last event", opening, None);
    let newest = EventQuery { limit: Some(50), is_newest: true, ..EventQuery::default() };
    let session = |session: &str, tool: &str| EventQuery {
        session: Some(session.to_owned()),
        tool: Some(tool.to_owned()),
        ..newest.clone()
    };
    let queries: [(&str, EventQuery); 8] = [
        ("the last 50", newest.clone()),
        ("the last 50 of a session", EventQuery { session: Some("s7".to_owned()), ..newest.clone() }),
        ("the last 50 of a tool", EventQuery { tool: Some("grep".to_owned()), ..newest.clone() }),
        ("the last 50 of a tool in a session", session("s7", "bash")),
        ("a tool that the session has not called", session("s8", "edit")),
        ("one call", EventQuery { call: Some("call-2500000".to_owned()), ..newest.clone() }),
        (
            "50 of a minute in the middle",
            EventQuery {
                since_ms: Some(1_800_002_500_000),
                until_ms: Some(1_800_002_560_000),
                limit: Some(50),
                ..EventQuery::default()
            },
        ),
        ("the last 50 with a word", EventQuery { words: Some("file_4711".to_owned()), ..newest }),
    ];
    for (name, query) in queries {
        // What is searched by words is read into the index by the first who asks.
        store.events(&query)?;
        let mut samples = Samples::default();
        for _ in 0..ROUNDS {
            let started = Instant::now();
            let is_found = !store.events(&query)?.is_empty();
            anyhow::ensure!(is_found != name.ends_with("not called"), "`{name}` found nothing, or too much");
            samples.add(started.elapsed());
        }
        table.add(name, samples, None);
        table.goal(name, "under 100 ms", |row| row.median < 100.0);
    }
    let grown = peak_memory_kib().saturating_sub(before) as f64 / 1024.0;
    table.note(format!("{rate:.0} events a second while it was made, {TOGETHER} at a time."));
    table.note(format!("Opening and asking took {grown:.1} MiB more than making it."));
    hand_on(table);
    Ok(())
}
