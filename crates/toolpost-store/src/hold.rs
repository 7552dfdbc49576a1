//! Who goes on with a run: one process, as long as it lives.
//!
//! The number of the attempt stands in the store; whoever holds an attempt holds a lock that ends with its process. The next one
//! takes the lock of the next attempt first and then changes the number, if it is still the one that was seen. What a
//! process writes whose attempt is over is refused, in the same transaction.

use crate::db::{Failure, Tx, first};
use std::any::Any;
use std::sync::Weak;
use toolpost_core::{Code, ToolError};

/// A lock that ends with its process, or when this is dropped.
pub(crate) type Lock = Box<dyn Any + Send>;

/// A run that a process holds.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) run: String,
    pub(crate) attempt: u64,
    /// Alive as long as its hold is.
    pub(crate) hold: Weak<()>,
}

impl Held {
    /// Whether it is this run, and its hold has not been dropped.
    pub(crate) fn is_alive_of(&self, run: &str) -> bool {
        self.run == run && self.hold.strong_count() > 0
    }
}

/// The name of the lock of an attempt.
pub(crate) fn lock_name(run: &str, attempt: u64) -> String {
    format!("{run}.{attempt}")
}

/// The last attempt of a run, and who has made it; 0 where there was none.
pub(crate) fn last(tx: &mut dyn Tx, run: &str) -> Result<(u64, String), Failure> {
    let rows = tx.rows("SELECT attempt, holder FROM holds WHERE run = ?1", &[run.into()])?;
    match first(rows) {
        Some(mut row) => Ok((row.number()?, row.text()?)),
        None => Ok((0, String::new())),
    }
}

/// Makes the next attempt the last one. Whether it was still the next one.
pub(crate) fn take(
    tx: &mut dyn Tx,
    run: &str,
    before: u64,
    holder: &str,
    at_ms: u64,
) -> Result<bool, Failure> {
    let rows = tx.locked("SELECT attempt FROM holds WHERE run = ?1", &[run.into()])?;
    let found = first(rows).map_or(Ok(0), |mut row| row.number())?;
    if found != before {
        return Ok(false);
    }
    let values = [run.into(), (before + 1).into(), holder.into(), at_ms.into()];
    let statement = match before {
        // Of two who are the first, one fails at the key.
        0 => "INSERT INTO holds (run, attempt, holder, at_ms) VALUES (?1, ?2, ?3, ?4)",
        _ => "UPDATE holds SET attempt = ?2, holder = ?3, at_ms = ?4 WHERE run = ?1",
    };
    tx.run(statement, &values)?;
    Ok(true)
}

/// Refuses what a process writes whose attempt is over. Nobody can end it before this transaction has.
pub(crate) fn check(tx: &mut dyn Tx, held: &Held) -> Result<(), Failure> {
    let rows = tx.locked("SELECT attempt FROM holds WHERE run = ?1", &[held.run.as_str().into()])?;
    let last = first(rows).map_or(Ok(0), |mut row| row.number())?;
    match last == held.attempt {
        true => Ok(()),
        false => Err(ToolError::new(
            Code::Interrupted,
            "another process has taken over this run, so that nothing of it is written here any more",
        )
        .into()),
    }
}

/// A run that somebody else holds.
pub(crate) fn refused(run: &str, holder: &str) -> ToolError {
    let by = if holder.is_empty() { "another process".to_owned() } else { holder.to_owned() };
    let message = format!(
        "the run `{run}` is held by {by}; wait until that has ended, or take it over with --take-over if it hangs"
    );
    ToolError::new(Code::TaskConflict, message).with("run", run).with("holder", by)
}
