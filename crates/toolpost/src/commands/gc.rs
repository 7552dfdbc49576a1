//! `toolpost gc`: deletes what is kept no longer.

use super::stored::{Reads, count, now_ms, size, with_store};
use crate::cli::Flags;
use crate::config::env::Environment;
use crate::output::{Printer, Tone};

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment) -> u8 {
    with_store(printer, flags, environment, Reads::Only, |stored| {
        let gone = stored.store.collect(&stored.config.keep, now_ms())?;
        match printer.is_json() {
            true => printer.json(&gone),
            false => printer.data(&format!(
                "deleted {}, {}, {} and the changes of {}; the store holds {} now ({} before)",
                count(gone.events, "event"),
                count(gone.sessions, "session"),
                count(gone.tasks, "completed task"),
                count(gone.changes, "call"),
                size(gone.bytes_after),
                size(gone.bytes_before),
            )),
        }
        if gone.bytes_after > stored.config.keep.bytes && !printer.is_json() {
            let message = format!(
                "note: that is more than the key `keep` says: virtual files take {}, and stay as long as their sessions are active",
                size(gone.file_bytes)
            );
            printer.say(Tone::Note, &message);
        }
        Ok(0)
    })
}
