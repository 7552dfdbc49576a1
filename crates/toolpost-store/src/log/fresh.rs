//! Events that are durable and wait to be put in order. A SQLite store writes a new event into one table without indices; it is
//! moved into the log, where it can be asked for, before anybody asks, or when the writer has nothing else to do.

use crate::db::{Failure, Kind, Tx, first};

/// Events that are moved in one transaction where somebody else may want to write.
const STEP: u64 = 1_000;
/// More events are moved before somebody asks for some.
const MANY: u64 = 2_000;
/// So many events wait at most: beyond that, whoever adds some moves twice as many.
const MOST: u64 = 200_000;

/// The table into which events are written.
pub(super) fn table(kind: Kind) -> &'static str {
    match kind {
        Kind::Sqlite => "fresh",
        #[cfg(feature = "postgres")]
        Kind::Postgres => "log",
    }
}

/// What a query of the log is about, for a `FROM`: the log, and what waits.
pub(super) fn source(tx: &mut dyn Tx) -> Result<&'static str, Failure> {
    Ok(match is_waiting(tx)? {
        true => "(SELECT * FROM log UNION ALL SELECT * FROM fresh)",
        false => "log",
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
    move_before(tx, oldest.saturating_add(STEP))?;
    is_waiting(tx)
}

/// Moves all events that wait, for who looks at the log in a transaction that changes something.
pub(crate) fn settle_all(tx: &mut dyn Tx) -> Result<(), Failure> {
    match is_waiting(tx)? {
        true => move_before(tx, i64::MAX as u64),
        false => Ok(()),
    }
}

/// Keeps those that wait from becoming too many, when so many were added.
pub(super) fn bound(tx: &mut dyn Tx, last: u64, added: u64) -> Result<(), Failure> {
    if tx.kind() != Kind::Sqlite {
        return Ok(());
    }
    match oldest(tx)?.filter(|oldest| last.saturating_sub(*oldest) > MOST) {
        Some(oldest) => move_before(tx, oldest.saturating_add(added.saturating_mul(2).max(STEP))),
        None => Ok(()),
    }
}

fn oldest(tx: &mut dyn Tx) -> Result<Option<u64>, Failure> {
    let rows = tx.rows("SELECT position FROM fresh ORDER BY position LIMIT 1", &[])?;
    first(rows).map(|mut row| row.number()).transpose()
}

fn move_before(tx: &mut dyn Tx, position: u64) -> Result<(), Failure> {
    let before = [position.into()];
    tx.run("INSERT INTO log SELECT * FROM fresh WHERE position < ?1 ORDER BY position", &before)?;
    tx.run("DELETE FROM fresh WHERE position < ?1", &before).map(drop)
}
