//! Events that are durable and wait to be put in order. A SQLite store writes new events into one table without indices, many in
//! one row: an event as a row of its own with six indices costs more than the call that it tells of. They are moved into the log,
//! where they can be asked for, before anybody asks, or when the writer has nothing else to do.

use super::{Placed, not_written};
use crate::db::{Failure, Kind, Tx, Value, first};

/// Events that are moved in one transaction where somebody else may want to write.
const STEP: u64 = 1_000;
/// More events are moved before somebody asks for some.
const MANY: u64 = 2_000;
/// Maximum number of events that wait: beyond that, whoever adds some moves twice as many. To move an event costs more than to write
/// it, so a burst of calls should end before.
const MOST: u64 = 1_000_000;

/// Events in one row,
const IN_ROW: usize = 256;
/// and bytes of them, more or less.
const BYTES_IN_ROW: usize = 256 * 1024;
/// A longer event has a row of its own,
const LONGEST: usize = 64 * 1024;
/// and so has one that could be nested deeper: SQLite reads a JSON text up to a depth of 1,000.
const DEEPEST: usize = 500;

/// The kind of a row that holds several events: a list of `[sequence, tool, code, micros, bytes, event]`, whose positions begin with
/// that of the row. No event has this kind.
const BATCH: &str = "batch";
/// The same, compressed (LZ4, the length first). Events of one minute are much alike: a tenth is left of them, and with it of what is
/// written to the disk, twice.
const PACKED: &str = "packed";

/// The function of SQL that gives the list of a row: see [`unpacked`].
pub(crate) const UNPACK: &str = "unpacked";

/// The events of all rows that hold several, as rows of the log.
const UNPACKED: &str = "SELECT fresh.position + one.key AS position, one.value ->> '$[5].session' AS session,
    one.value ->> '$[0]' AS sequence, one.value ->> '$[5].atMs' AS at_ms, one.value ->> '$[5].agent' AS agent,
    one.value ->> '$[5].call' AS call, one.value ->> '$[5].event' AS kind, one.value ->> '$[1]' AS tool,
    one.value ->> '$[2]' AS code, one.value ->> '$[3]' AS micros, one.value ->> '$[4]' AS bytes, one.value -> '$[5]' AS body
    FROM fresh, json_each(unpacked(fresh.body)) AS one WHERE fresh.kind IN ('batch', 'packed')";

/// The longest list that is unpacked. A row that says it has a longer one is damaged.
const MOST_UNPACKED: usize = 64 << 20;

/// The list of a row that holds several events, from its body as it is kept.
pub(crate) fn unpacked(body: &[u8]) -> Result<String, String> {
    let (length, packed) = lz4_flex::block::uncompressed_size(body)
        .map_err(|error| format!("a row of events is damaged: {error}"))?;
    if length > MOST_UNPACKED {
        return Err(format!("a row of events is damaged: it says that it has {length} bytes"));
    }
    let list = lz4_flex::block::decompress(packed, length);
    let list = list.map_err(|error| format!("a row of events is damaged: {error}"))?;
    String::from_utf8(list).map_err(|error| format!("a row of events is damaged: {error}"))
}

/// Writes new events, in as few rows as may be.
pub(super) fn write<'a>(tx: &mut dyn Tx, events: impl Iterator<Item = Placed<'a>>) -> Result<(), Failure> {
    let mut row = Packed::default();
    for placed in events {
        let is_of_agent = placed.event.agent.is_some();
        if row.count == IN_ROW || row.text.len() > BYTES_IN_ROW || row.is_of_agents != is_of_agent {
            row.write(tx)?;
            row.is_of_agents = is_of_agent;
        }
        if needs_own_row(placed.event.json) {
            row.write(tx)?;
            placed.insert(tx, "fresh")?;
        } else {
            row.add(&placed)?;
        }
    }
    row.write(tx)
}

/// Whether an event is too long for a list, or one that SQLite could read otherwise than it was written.
fn needs_own_row(body: &[u8]) -> bool {
    body.len() > LONGEST
        || body.len() > DEEPEST && memchr::memchr2_iter(b'{', b'[', body).count() > DEEPEST
        || memchr::memmem::find(body, b"\\u0000").is_some()
}

/// Events that become one row.
#[derive(Default)]
struct Packed {
    first: u64,
    /// All of them are of agents, or none is: a log in memory drops the others alone.
    is_of_agents: bool,
    count: usize,
    text: Vec<u8>,
}

impl Packed {
    fn add(&mut self, placed: &Placed<'_>) -> Result<(), Failure> {
        let Placed { event, position, sequence, tool } = placed;
        if self.count == 0 {
            self.first = *position;
        }
        self.text.push(if self.count == 0 { b'[' } else { b',' });
        self.push(b'[', sequence)?;
        self.push(b',', tool)?;
        self.push(b',', &event.code)?;
        self.push(b',', &event.micros)?;
        self.push(b',', &event.bytes)?;
        self.text.push(b',');
        self.text.extend_from_slice(event.json);
        self.text.push(b']');
        self.count += 1;
        Ok(())
    }

    fn push(&mut self, before: u8, value: &impl serde::Serialize) -> Result<(), Failure> {
        self.text.push(before);
        serde_json::to_writer(&mut self.text, value).map_err(not_written)
    }

    /// Writes the row, and begins the next.
    fn write(&mut self, tx: &mut dyn Tx) -> Result<(), Failure> {
        if self.count == 0 {
            return Ok(());
        }
        self.text.push(b']');
        tx.run(
            "INSERT INTO fresh (position, session, sequence, at_ms, agent, kind, body) VALUES (?1, '', ?2, 0, ?3, ?4, ?5)",
            &[
                self.first.into(),
                (self.count as u64).into(),
                Value::text(self.is_of_agents.then_some("")),
                PACKED.into(),
                Value::Bytes(&lz4_flex::block::compress_prepend_size(&self.text)),
            ],
        )?;
        self.count = 0;
        self.text.clear();
        Ok(())
    }
}

/// What a query of the log is about, each for a `FROM` of its own: the log, and what waits, all of which is newer. One statement for
/// both would read the whole log, since SQLite orders a list only after it is unpacked.
pub(super) fn sources(tx: &mut dyn Tx) -> Result<Vec<String>, Failure> {
    let waiting =
        || format!("(SELECT * FROM fresh WHERE kind NOT IN ('{BATCH}', '{PACKED}') UNION ALL {UNPACKED})");
    Ok(match is_waiting(tx)? {
        true => vec!["log".to_owned(), waiting()],
        false => vec!["log".to_owned()],
    })
}

/// Whether events wait.
pub(crate) fn is_waiting(tx: &mut dyn Tx) -> Result<bool, Failure> {
    Ok(tx.kind() == Kind::Sqlite && oldest(tx)?.is_some())
}

/// Whether so many wait that who asks for one of them would notice.
pub(crate) fn are_many(tx: &mut dyn Tx) -> Result<bool, Failure> {
    if tx.kind() != Kind::Sqlite {
        return Ok(false);
    }
    let last = super::last(tx)?;
    Ok(oldest(tx)?.is_some_and(|oldest| last.saturating_sub(oldest) > MANY))
}

/// Moves some of the events that wait. Returns whether there are more.
pub(crate) fn settle(tx: &mut dyn Tx) -> Result<bool, Failure> {
    if tx.kind() != Kind::Sqlite {
        return Ok(false);
    }
    let Some(oldest) = oldest(tx)? else { return Ok(false) };
    move_before(tx, oldest, oldest.saturating_add(STEP))?;
    is_waiting(tx)
}

/// Moves all events that wait, for who looks at the log in a transaction that changes something.
pub(crate) fn settle_all(tx: &mut dyn Tx) -> Result<(), Failure> {
    match tx.kind() {
        Kind::Sqlite => oldest(tx)?.map_or(Ok(()), |oldest| move_before(tx, oldest, i64::MAX as u64)),
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(()),
    }
}

/// Keeps those that wait from becoming too many, when so many were added.
pub(super) fn bound(tx: &mut dyn Tx, last: u64, added: u64) -> Result<(), Failure> {
    if tx.kind() != Kind::Sqlite {
        return Ok(());
    }
    match oldest(tx)?.filter(|oldest| last.saturating_sub(*oldest) > MOST) {
        Some(oldest) => move_before(tx, oldest, oldest.saturating_add(added.saturating_mul(2).max(STEP))),
        None => Ok(()),
    }
}

fn oldest(tx: &mut dyn Tx) -> Result<Option<u64>, Failure> {
    let rows = tx.rows("SELECT position FROM fresh ORDER BY position LIMIT 1", &[])?;
    first(rows).map(|mut row| row.number()).transpose()
}

/// Moves all rows that begin before a position. `oldest` is where the first of them begins.
fn move_before(tx: &mut dyn Tx, oldest: u64, position: u64) -> Result<(), Failure> {
    let before = [position.into()];
    tx.run(&format!("INSERT INTO log {UNPACKED} AND fresh.position < ?1"), &before)?;
    tx.run(
        &format!(
            "INSERT INTO log SELECT * FROM fresh WHERE kind NOT IN ('{BATCH}', '{PACKED}') AND position < ?1"
        ),
        &before,
    )?;
    tx.run("DELETE FROM fresh WHERE position < ?1", &before)?;
    // The events of a call that came apart: the first ones of it have said the tool.
    tx.run(
        "UPDATE log SET tool = (SELECT known.tool FROM log AS known
           WHERE known.call = log.call AND known.tool IS NOT NULL ORDER BY known.position DESC LIMIT 1)
         WHERE position >= ?1 AND tool IS NULL AND call IS NOT NULL",
        &[oldest.into()],
    )
    .map(drop)
}
