//! The log of events: appended to, and asked.

mod fresh;
mod label;
mod query;
mod tools;
mod words;

pub(crate) use fresh::{UNPACK, are_many, is_waiting, settle, settle_all, unpacked};
pub use label::label;
pub(crate) use words::learn;

use crate::db::{Failure, Kind, Row, Tx, Value, first};
use crate::tasks;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolpost_core::Event;
use toolpost_core::store::{EventQuery, Logged, SessionSummary, ToolStats, WrittenEvent, WrittenEvents};

/// Which part of the log a writer adds, so that it is added once, however often it is tried.
pub(crate) struct Part<'a> {
    pub(crate) writer: &'a str,
    pub(crate) number: u64,
    pub(crate) at_ms: u64,
}

/// Adds events; none where this part was added before. Returns the position of the last.
pub(crate) fn append(tx: &mut dyn Tx, part: &Part<'_>, events: &WrittenEvents) -> Result<u64, Failure> {
    let before = tx.rows("SELECT last FROM writers WHERE writer = ?1", &[part.writer.into()])?;
    if let Some(mut row) = first(before)
        && row.number()? >= part.number
    {
        return last(tx);
    }
    tx.run(
        "INSERT INTO writers (writer, last, at_ms) VALUES (?1, ?2, ?3)
         ON CONFLICT (writer) DO UPDATE SET last = excluded.last, at_ms = excluded.at_ms",
        &[part.writer.into(), part.number.into(), part.at_ms.into()],
    )?;
    let freed = tasks::free_of_ended(tx, events)?;
    let last = place(tx, events)?;
    if freed.is_empty() { Ok(last) } else { place(tx, &written(&freed)?) }
}

/// Adds events inside a transaction that does other things too. The last of them: it takes the turn of the whole log.
pub(crate) fn add(tx: &mut dyn Tx, events: &[Arc<Event>]) -> Result<(), Failure> {
    place(tx, &written(events)?).map(drop)
}

/// Events as they are kept.
pub(crate) fn written(events: &[Arc<Event>]) -> Result<WrittenEvents, Failure> {
    let mut written = WrittenEvents::default();
    for event in events {
        written.add(event).map_err(not_written)?;
    }
    Ok(written)
}

/// Why an event could not be kept.
#[expect(clippy::needless_pass_by_value, reason = "what a `map_err` hands over")]
pub(crate) fn not_written(error: serde_json::Error) -> Failure {
    Failure::Broken(format!("an event could not be written down: {error}"))
}

/// What the events of a session add to it.
#[derive(Default)]
struct Added {
    events: u64,
    calls: u64,
    failures: u64,
    first_ms: u64,
    last_ms: u64,
    /// The sequence of the next event.
    next: u64,
}

impl Added {
    fn count(&mut self, event: &WrittenEvent<'_>) {
        self.first_ms = if self.events == 0 { event.at_ms } else { self.first_ms.min(event.at_ms) };
        self.last_ms = self.last_ms.max(event.at_ms);
        self.events += 1;
        self.calls += u64::from(event.code.is_some());
        self.failures += u64::from(event.code.is_some_and(|code| !code.is_empty()));
    }
}

/// Gives each event its place, and writes it. Returns the position of the last.
fn place(tx: &mut dyn Tx, events: &WrittenEvents) -> Result<u64, Failure> {
    if events.is_empty() {
        return last(tx);
    }
    let tools = tools::of_calls(tx, events)?;
    // In one order, so that two who write to the same sessions do not wait for each other.
    let mut sessions: BTreeMap<&str, Added> = BTreeMap::new();
    for event in events.iter() {
        sessions.entry(event.session).or_default().count(&event);
    }
    for (session, added) in &mut sessions {
        let row = first(tx.rows(
            "INSERT INTO sessions (session, first_ms, last_ms, events, calls, failures) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (session) DO UPDATE SET events = sessions.events + excluded.events,
               calls = sessions.calls + excluded.calls, failures = sessions.failures + excluded.failures,
               first_ms = CASE WHEN excluded.first_ms < sessions.first_ms THEN excluded.first_ms ELSE sessions.first_ms END,
               last_ms = CASE WHEN excluded.last_ms > sessions.last_ms THEN excluded.last_ms ELSE sessions.last_ms END
             RETURNING events",
            &[
                (*session).into(),
                added.first_ms.into(),
                added.last_ms.into(),
                added.events.into(),
                added.calls.into(),
                added.failures.into(),
            ],
        )?);
        let last = row.map_or(Ok(0), |mut row| row.number())?;
        added.next = last + 1 - added.events;
    }
    let count = events.len() as u64;
    let turn =
        tx.rows("UPDATE counters SET last = last + ?1 WHERE name = 'log' RETURNING last", &[count.into()])?;
    let last = first(turn).map_or(Ok(0), |mut row| row.number())?;
    let mut position = last.saturating_sub(count);
    let placed = events.iter().map(|event| {
        let sequence = sessions.get_mut(event.session).map_or(0, |added| {
            added.next += 1;
            added.next - 1
        });
        position += 1;
        let tool = event.call.and_then(|call| tools.get(call)).map(|tool| &**tool).or(event.tool);
        Placed { event, position, sequence, tool }
    });
    match tx.kind() {
        Kind::Sqlite => fresh::write(tx, placed)?,
        #[cfg(feature = "postgres")]
        Kind::Postgres => {
            for placed in placed {
                placed.insert(tx, "log")?;
            }
        }
    }
    fresh::bound(tx, last, count)?;
    #[cfg(feature = "postgres")]
    if tx.kind() == Kind::Postgres {
        tx.run(&format!("NOTIFY {}", crate::postgres::CHANNEL), &[])?;
    }
    Ok(last)
}

/// An event, and its place in the log.
struct Placed<'a> {
    event: WrittenEvent<'a>,
    position: u64,
    sequence: u64,
    /// The tool that its call is of, as far as that is known.
    tool: Option<&'a str>,
}

impl Placed<'_> {
    /// As a row of its own.
    fn insert(&self, tx: &mut dyn Tx, table: &str) -> Result<(), Failure> {
        let event = &self.event;
        let insert = format!(
            "INSERT INTO {table} (position, session, sequence, at_ms, agent, call, kind, tool, code, micros, bytes, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
        );
        let values = [
            self.position.into(),
            event.session.into(),
            self.sequence.into(),
            event.at_ms.into(),
            Value::text(event.agent),
            Value::text(event.call),
            event.kind.into(),
            Value::text(self.tool),
            Value::text(event.code),
            event.micros.map_or(Value::Null, Value::from),
            event.bytes.map_or(Value::Null, Value::from),
            text(event.json)?.into(),
        ];
        tx.run(&insert, &values).map(drop)
    }
}

/// JSON as a text.
fn text(json: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(json).map_err(|error| Failure::Broken(error.to_string()))
}

/// The ids of calls that end so, of the log and of the journal of undo, the newest first.
pub(crate) fn calls_ending(tx: &mut dyn Tx, ending: &str) -> Result<Vec<String>, Failure> {
    // By the length, not by a pattern: an id may hold every sign that a pattern has a meaning for.
    let is_end = "substr(call, length(call) - length(?1) + 1) = ?1 AND length(call) >= length(?1)";
    let of = |source: &String| format!("SELECT call FROM {source} WHERE call IS NOT NULL AND {is_end}");
    let of_log: Vec<String> = fresh::sources(tx)?.iter().map(of).collect();
    let rows = tx.rows(
        &format!(
            "{} UNION SELECT call FROM change_sets WHERE {is_end} ORDER BY call DESC LIMIT {MOST_CALLS}",
            of_log.join(" UNION ")
        ),
        &[ending.into()],
    )?;
    rows.into_iter().map(|mut row| row.text()).collect()
}

/// Maximum number of calls that are named where an ending fits several.
const MOST_CALLS: usize = 10;

/// The position of the last event.
pub(crate) fn last(tx: &mut dyn Tx) -> Result<u64, Failure> {
    let rows = tx.rows("SELECT last FROM counters WHERE name = 'log'", &[])?;
    first(rows).map_or(Ok(0), |mut row| row.number())
}

/// The position of the oldest event that is still there; 0 where there is none.
pub(crate) fn oldest(tx: &mut dyn Tx) -> Result<u64, Failure> {
    let mut oldest = None;
    for table in ["log", "fresh"] {
        let rows = tx.rows(&format!("SELECT position FROM {table} ORDER BY position LIMIT 1"), &[])?;
        let found = first(rows).map(|mut row| row.number()).transpose()?;
        oldest = oldest.into_iter().chain(found).min();
    }
    Ok(oldest.unwrap_or(0))
}

/// Deletes events up to a position, without putting them in order first. Those of agents stay: their runs go on from them.
pub(crate) fn forget(tx: &mut dyn Tx, until: u64) -> Result<(), Failure> {
    let (which, until) = ("position <= ?1 AND agent IS NULL", [until.into()]);
    crate::gc::words(tx, which, &until)?;
    for table in ["log", "fresh"] {
        tx.run(&format!("DELETE FROM {table} WHERE {which}"), &until)?;
    }
    Ok(())
}

pub(crate) fn events(tx: &mut dyn Tx, asked: &EventQuery) -> Result<Vec<Logged>, Failure> {
    let mut sources = fresh::sources(tx)?;
    if asked.is_newest {
        sources.reverse();
    }
    let order = if asked.is_newest { "DESC" } else { "ASC" };
    let mut events = Vec::new();
    for source in sources {
        let left = asked.limit.map(|limit| limit.saturating_sub(events.len()));
        if left == Some(0) {
            break;
        }
        let mut statement = query::Statement::new(&format!("SELECT position, sequence, body FROM {source}"));
        statement.narrow(tx.kind(), asked);
        statement.text.push_str(&format!(" ORDER BY {} {order}", query::ordered_by(asked)));
        if let Some(left) = left {
            statement.text.push_str(&format!(" LIMIT {left}"));
        }
        for row in statement.rows(tx)? {
            events.push(logged(row)?);
        }
    }
    if asked.is_newest {
        events.reverse();
    }
    Ok(events)
}

fn logged(mut row: Row) -> Result<Logged, Failure> {
    let (position, sequence, body) = (row.number()?, row.number()?, row.text()?);
    let mut event: Event = serde_json::from_str(&body).map_err(|error| {
        Failure::Broken(format!("event {position} of the log is not understood: {error}"))
    })?;
    event.sequence = sequence;
    Ok(Logged { position, event })
}

pub(crate) fn sessions(tx: &mut dyn Tx) -> Result<Vec<SessionSummary>, Failure> {
    let rows = tx.rows(
        "SELECT session, first_ms, last_ms, events, calls, failures FROM sessions ORDER BY last_ms DESC, session",
        &[],
    )?;
    let summary = |mut row: Row| {
        Ok(SessionSummary {
            session: row.text()?,
            first_ms: row.number()?,
            last_ms: row.number()?,
            events: row.number()?,
            calls: row.number()?,
            failures: row.number()?,
        })
    };
    rows.into_iter().map(summary).collect()
}

/// What is known of the calls of a tool.
#[derive(Default)]
struct Calls {
    micros: Vec<u64>,
    failures: BTreeMap<String, u64>,
    bytes: u64,
}

pub(crate) fn stats(tx: &mut dyn Tx, asked: &EventQuery) -> Result<Vec<ToolStats>, Failure> {
    let mut tools: BTreeMap<String, Calls> = BTreeMap::new();
    for source in fresh::sources(tx)? {
        let mut statement = query::Statement::new(&format!("SELECT tool, code, micros, bytes FROM {source}"));
        statement.condition("code IS NOT NULL AND tool IS NOT NULL");
        statement.narrow(tx.kind(), asked);
        for mut row in statement.rows(tx)? {
            let calls = tools.entry(row.text()?).or_default();
            let code = row.text()?;
            calls.micros.push(row.number()?);
            calls.bytes += row.number()?;
            if !code.is_empty() {
                *calls.failures.entry(code).or_default() += 1;
            }
        }
    }
    Ok(tools.into_iter().map(|(tool, calls)| summed(tool, calls)).collect())
}

/// About how many bytes of text are one token.
const BYTES_OF_A_TOKEN: u64 = 4;

fn summed(tool: String, mut calls: Calls) -> ToolStats {
    calls.micros.sort_unstable();
    let at = |part: f64| -> f64 {
        let rank = (calls.micros.len() as f64 * part).ceil() as usize;
        calls.micros.get(rank.saturating_sub(1)).map_or(0.0, |micros| *micros as f64 / 1e3)
    };
    ToolStats {
        calls: calls.micros.len() as u64,
        p50_ms: at(0.5),
        p95_ms: at(0.95),
        bytes: calls.bytes,
        tokens: calls.bytes.div_ceil(BYTES_OF_A_TOKEN),
        failures: calls.failures,
        tool,
    }
}
