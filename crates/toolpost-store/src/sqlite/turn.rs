//! Waiting for the turn of another process. One that was stopped in the middle of its own turn is not waited for: nobody can
//! take its locks, and it may never go on.

use super::blocker::{self, Blocker};
use super::connection::{PATIENCE, failure};
use crate::db::Failure;
use rusqlite::Connection;
use std::time::{Duration, Instant};

/// Time after which the process that has the turn is looked for.
const LOOK: Duration = Duration::from_secs(2);

/// Acts as soon as the store is free. What has failed because it was not is done again.
pub(super) fn wait<T>(
    connection: &Connection,
    mut act: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    connection.busy_timeout(LOOK).map_err(|error| failure(&error))?;
    let begun = Instant::now();
    loop {
        let why = match act() {
            Err(Failure::Again(why)) => why,
            done => return done,
        };
        let blocker = connection.path().filter(|path| !path.is_empty()).and_then(blocker::of_file);
        match blocker {
            Some(Blocker { process, is_stopped: true }) => {
                return Err(Failure::Again(format!(
                    "{why}: the process {process} was stopped while it was writing; let it go on (`kill -CONT {process}`) or end it"
                )));
            }
            _ if begun.elapsed() < PATIENCE => {}
            Some(Blocker { process, .. }) => {
                return Err(Failure::Again(format!("{why}: the process {process} is writing to it")));
            }
            None => return Err(Failure::Again(why)),
        }
    }
}
