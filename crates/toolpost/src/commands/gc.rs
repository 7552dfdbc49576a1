//! `toolpost gc`: deletes what is kept no longer.

use super::stored::{Reads, count, size, with_store};
use crate::calendar::now_ms;
use crate::cli::Flags;
use crate::config::env::Environment;
use crate::output::{Printer, Tone};

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment) -> u8 {
    with_store(printer, flags, environment, Reads::Only, |stored| {
        let gone = stored.store.collect(&stored.config.keep, now_ms())?;
        let abandoned = stored.config.remove_abandoned_stores();
        let left = stored.config.workspace.as_ref().map_or(0, |disk| disk.remove_left() as u64);
        if abandoned.stores > 0 && !printer.is_json() {
            let (stores, bytes) = (count(abandoned.stores, "store"), size(abandoned.bytes));
            printer.data(&format!("removed {stores} of workspaces that are gone ({bytes})"));
        }
        if left > 0 && !printer.is_json() {
            let files = count(left, "temporary file");
            printer.data(&format!("removed {files} that processes left when they were killed"));
        }
        match printer.is_json() {
            true => {
                let mut all = serde_json::json!(gone);
                all["abandonedStores"] = abandoned.stores.into();
                all["temporaryFiles"] = left.into();
                printer.json(&all);
            }
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
