//! Which tool the call of an event is of. Most events of a call do not name it, and are asked for by it all the same.

use crate::db::{Failure, Tx};
use std::borrow::Cow;
use std::collections::HashMap;
use toolpost_core::store::WrittenEvents;

/// The tools of the calls that these events belong to, as far as they or the log know them. Of a SQLite store only the events
/// are asked: it finds out the rest when they are put in order.
pub(super) fn of_calls<'a>(
    tx: &mut dyn Tx,
    events: &'a WrittenEvents,
) -> Result<HashMap<&'a str, Cow<'a, str>>, Failure> {
    let mut tools = HashMap::with_capacity(events.len() / 2);
    for event in events.iter() {
        let (Some(call), Some(tool)) = (event.call, event.tool) else { continue };
        match event.kind {
            // Whoever asks may call the tool by another name; its start and its end have its own.
            "callRequested" => {
                tools.entry(call).or_insert(Cow::Borrowed(tool));
            }
            _ => {
                tools.insert(call, Cow::Borrowed(tool));
            }
        }
    }
    #[cfg(feature = "postgres")]
    if tx.kind() == crate::db::Kind::Postgres {
        ask_log(tx, events, &mut tools)?;
    }
    #[cfg(not(feature = "postgres"))]
    let _ = tx;
    Ok(tools)
}

/// Asks the log for the tools of calls whose other events are there already.
#[cfg(feature = "postgres")]
fn ask_log<'a>(
    tx: &mut dyn Tx,
    events: &'a WrittenEvents,
    tools: &mut HashMap<&'a str, Cow<'a, str>>,
) -> Result<(), Failure> {
    let unknown: std::collections::BTreeSet<&str> =
        events.iter().filter_map(|event| event.call).filter(|call| !tools.contains_key(call)).collect();
    for call in unknown {
        let newest =
            "SELECT tool FROM log WHERE call = ?1 AND tool IS NOT NULL ORDER BY position DESC LIMIT 1";
        if let Some(mut row) = crate::db::first(tx.rows(newest, &[call.into()])?) {
            tools.insert(call, Cow::Owned(row.text()?));
        }
    }
    Ok(())
}
