//! `toolpost gc`: deletes what is kept no longer.

use super::stored::{now_ms, size, with_store};
use crate::cli::Flags;
use crate::config::env::Environment;
use crate::output::Printer;

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment) -> u8 {
    with_store(printer, flags, environment, |stored| {
        let gone = stored.store.collect(&stored.config.keep, now_ms())?;
        match printer.is_json() {
            true => printer.json(&gone),
            false => printer.data(&format!(
                "deleted {} events, {} sessions, {} completed tasks and the changes of {} calls; the store holds {} now ({} before)",
                gone.events,
                gone.sessions,
                gone.tasks,
                gone.changes,
                size(gone.bytes_after),
                size(gone.bytes_before),
            )),
        }
        Ok(0)
    })
}
