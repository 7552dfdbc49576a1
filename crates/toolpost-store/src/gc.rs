//! What goes: by age, and by size.

use crate::db::{Failure, Kind, Tx, Value, first};
use crate::{contents, known, log, undo};
use toolpost_core::store::Collected;

/// Of the log and of the journal, so much goes at a time where they are too large: one part of this many.
const PART: u64 = 10;

/// So long after one look comes the next.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Whether the last look was a day ago, or would be on a later day than this.
pub(crate) fn is_due(tx: &mut dyn Tx, now_ms: u64) -> Result<bool, Failure> {
    let is_due = |last: u64| last.saturating_add(DAY_MS) <= now_ms || last > now_ms.saturating_add(DAY_MS);
    Ok(last_look(tx)?.is_none_or(is_due))
}

/// Takes the look of this day. Returns the moment from which ages are counted; none where another process has taken it, and
/// where the clock was ahead at the last look.
///
/// That moment is at most a day after the last look: a clock that is ahead once deletes nothing that is young.
pub(crate) fn take_day(tx: &mut dyn Tx, now_ms: u64) -> Result<Option<u64>, Failure> {
    let last = last_look(tx)?;
    let taken = tx.run(
        "INSERT INTO counters (name, last) VALUES ('collected', ?1)
         ON CONFLICT (name) DO UPDATE SET last = excluded.last WHERE counters.last <= ?2 OR counters.last > ?3",
        &[now_ms.into(), now_ms.saturating_sub(DAY_MS).into(), now_ms.saturating_add(DAY_MS).into()],
    )?;
    let trusted = last.map_or(now_ms, |last| now_ms.min(last.saturating_add(DAY_MS)));
    Ok((taken > 0 && last.is_none_or(|last| last <= now_ms)).then_some(trusted))
}

fn last_look(tx: &mut dyn Tx) -> Result<Option<u64>, Failure> {
    let row = first(tx.rows("SELECT last FROM counters WHERE name = 'collected'", &[])?);
    row.map(|mut row| row.number()).transpose()
}

/// Deletes what ended before a moment.
pub(crate) fn older(tx: &mut dyn Tx, before_ms: u64) -> Result<Collected, Failure> {
    alone(tx)?;
    log::settle_all(tx)?;
    let before = [Value::from(before_ms)];
    words(tx, "at_ms < ?1", &before)?;
    let events = tx.run("DELETE FROM log WHERE at_ms < ?1", &before)?;
    let quiet = "session IN (SELECT session FROM sessions WHERE last_ms < ?1)";
    for table in ["files", "heads", "todos"] {
        tx.run(&format!("DELETE FROM {table} WHERE {quiet}"), &before)?;
    }
    let sessions = tx.run("DELETE FROM sessions WHERE last_ms < ?1", &before)?;
    let changes = undo::older(tx, before_ms)?;
    known::older(tx, before_ms)?;
    contents::collect(tx)?;
    tx.run("DELETE FROM writers WHERE at_ms < ?1", &before)?;
    tx.run("DELETE FROM holds WHERE at_ms < ?1", &before)?;
    // One that another task still names stays, until that one goes.
    let tasks = tx.run(
        "DELETE FROM tasks WHERE status = 'completed' AND changed_ms < ?1
           AND number NOT IN (SELECT needed FROM needs JOIN tasks AS of ON of.number = needs.task
                              WHERE NOT (of.status = 'completed' AND of.changed_ms < ?1))",
        &before,
    )?;
    tx.run("DELETE FROM needs WHERE task NOT IN (SELECT number FROM tasks)", &[])?;
    Ok(Collected { events, sessions, tasks, changes, ..Collected::default() })
}

/// Deletes one session: its events, virtual files, todos and what it has seen of files. What its calls have changed can still be undone.
pub(crate) fn session(tx: &mut dyn Tx, session: &str) -> Result<bool, Failure> {
    alone(tx)?;
    log::settle_all(tx)?;
    let which = [Value::from(session)];
    words(tx, "session = ?1", &which)?;
    let events = tx.run("DELETE FROM log WHERE session = ?1", &which)?;
    for table in ["files", "heads", "todos"] {
        tx.run(&format!("DELETE FROM {table} WHERE session = ?1"), &which)?;
    }
    known::forget(tx, session)?;
    let sessions = tx.run("DELETE FROM sessions WHERE session = ?1", &which)?;
    contents::collect(tx)?;
    Ok(events + sessions > 0)
}

/// Nobody else keeps anything meanwhile: contents that seem to be needed by nobody may be those of a change that is under way.
fn alone(tx: &mut dyn Tx) -> Result<(), Failure> {
    match tx.kind() {
        // There is one writer at a time.
        Kind::Sqlite => Ok(()),
        #[cfg(feature = "postgres")]
        Kind::Postgres => {
            tx.run("LOCK TABLE contents, files, changes IN SHARE ROW EXCLUSIVE MODE", &[]).map(drop)
        }
    }
}

/// What went with the oldest part of everything: events, the changes of calls, and files that sessions have seen.
pub(crate) struct OldestPart {
    pub(crate) events: u64,
    pub(crate) changes: u64,
    pub(crate) known: u64,
}

/// Deletes the oldest part of the log, of the journal and of what sessions have seen.
pub(crate) fn oldest(tx: &mut dyn Tx) -> Result<OldestPart, Failure> {
    alone(tx)?;
    log::settle_all(tx)?;
    let rows = tx.rows("SELECT coalesce(min(position), 0), count(*) FROM log", &[])?;
    let (lowest, count) = match first(rows) {
        Some(mut row) => (row.number()?, row.number()?),
        None => (0, 0),
    };
    let until = [Value::from(lowest + count.div_ceil(PART))];
    words(tx, "position < ?1", &until)?;
    let events = tx.run("DELETE FROM log WHERE position < ?1", &until)?;
    let changes = undo::oldest(tx, PART)?;
    let known = known::oldest(tx, PART)?;
    contents::collect(tx)?;
    Ok(OldestPart { events, changes, known })
}

/// Forgets the words of events that are about to go.
pub(crate) fn words(tx: &mut dyn Tx, which: &str, values: &[Value<'_>]) -> Result<(), Failure> {
    let column = match tx.kind() {
        Kind::Sqlite => "rowid",
        #[cfg(feature = "postgres")]
        Kind::Postgres => "position",
    };
    let statement =
        format!("DELETE FROM log_words WHERE {column} IN (SELECT position FROM log WHERE {which})");
    tx.run(&statement, values).map(drop)
}
