//! Which tool the call of an event is of. Most events of a call do not name it, and are asked for by it all the same.

use super::facts::Facts;
use crate::db::{Failure, Tx, first};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use toolpost_core::Event;
use toolpost_core::event::EventKind;

/// The tools of the calls that these events belong to, as far as they or the log know them.
pub(super) fn of_calls(
    tx: &mut dyn Tx,
    events: &[Arc<Event>],
    facts: &[Facts<'_>],
) -> Result<HashMap<String, String>, Failure> {
    let mut tools = HashMap::new();
    let mut unknown = BTreeSet::new();
    for (event, facts) in events.iter().zip(facts) {
        let Some(call) = &event.call else { continue };
        match (facts.tool, &event.kind) {
            // Whoever asks may call the tool by another name; its start and its end have its own.
            (Some(tool), EventKind::CallRequested { .. }) => {
                tools.entry(call.clone()).or_insert_with(|| tool.to_owned());
            }
            (Some(tool), _) => {
                tools.insert(call.clone(), tool.to_owned());
            }
            (None, _) => {
                unknown.insert(call.clone());
            }
        }
    }
    for call in unknown {
        if tools.contains_key(&call) {
            continue;
        }
        // The last one is mostly the newest event of all, so that no index is missed where there is none.
        for table in [super::fresh::table(tx.kind()), "log"] {
            let newest = format!(
                "SELECT tool FROM {table} WHERE call = ?1 AND tool IS NOT NULL ORDER BY position DESC LIMIT 1"
            );
            if let Some(mut row) = first(tx.rows(&newest, &[call.as_str().into()])?) {
                tools.insert(call, row.text()?);
                break;
            }
        }
    }
    Ok(tools)
}
