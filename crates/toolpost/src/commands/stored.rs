//! What the commands that look into the store share: the store, which events are meant, times for people.

use crate::calendar::now_ms;
use crate::cli::{Flags, Which};
use crate::config::Config;
use crate::config::env::Environment;
use crate::output::{Printer, Tone};
use crate::runtime::NO_DATA_DIRECTORY;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::store::{EventQuery, SessionSummary, Store};
use toolpost_core::text::nearest;
use toolpost_core::{Code, ToolError};
use toolpost_store::StoreUrl;

/// The configuration, and the store that it names.
pub(crate) struct Stored {
    pub(crate) config: Config,
    pub(crate) store: Arc<dyn Store>,
}

/// Whether a command only reads the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A store that was named and is not there is an error: its name may be misspelt.
    Only,
    /// A store that is not there is made.
    NotOnly,
}

/// Opens the store, does something with it, and says what went wrong.
pub(crate) fn with_store(
    printer: &Printer,
    flags: &Flags,
    environment: Environment,
    reads: Reads,
    work: impl FnOnce(&Stored) -> Result<u8, ToolError>,
) -> u8 {
    let done = open(flags, environment, reads).and_then(|stored| {
        let notes = &stored.config.notes;
        notes.iter().for_each(|note| printer.say(Tone::Note, &format!("note: {note}")));
        work(&stored)
    });
    done.unwrap_or_else(|error| printer.invocation_error(&error))
}

fn open(flags: &Flags, environment: Environment, reads: Reads) -> Result<Stored, ToolError> {
    let config = Config::resolve(flags, environment)?;
    let missing = |message: String| ToolError::new(Code::StoreNotAvailable, message);
    let store = match &config.store {
        Some(StoreUrl::Sqlite(path)) if config.is_store_named && reads == Reads::Only && !path.exists() => {
            return Err(missing(format!(
                "there is no store `{}`; check its path, or make it with `toolpost call` or `toolpost mcp`",
                path.display()
            )));
        }
        Some(url) => toolpost_store::open(url)?,
        None => {
            return Err(missing(format!(
                "there is no data directory ({NO_DATA_DIRECTORY}), so nothing is kept; set HOME, or name a store with \
                 --store sqlite:PATH"
            )));
        }
    };
    Ok(Stored { config, store })
}

impl Stored {
    /// Where the store is, for messages.
    pub(crate) fn url(&self) -> String {
        self.config.store.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// The session that was named, if one was.
    pub(crate) fn named_session(&self) -> Option<&str> {
        self.config.is_session_named.then_some(self.config.session.as_str())
    }

    /// The events that are meant: those of the session, where one is named.
    pub(crate) fn query(&self, which: &Which) -> Result<EventQuery, ToolError> {
        if let (Some(since), Some(until)) = (which.since, which.until)
            && since <= until
        {
            let message = "--since and --until leave no time between them: both say how long ago, so --since must be the \
                           longer one, as in `--since 2h --until 1h`";
            return Err(ToolError::new(Code::ValidationError, message));
        }
        let ago = |age: Duration| now_ms().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        Ok(EventQuery {
            session: self.named_session().map(str::to_owned),
            agent: which.agent.clone(),
            tool: which.tool.clone(),
            since_ms: which.since.map(ago),
            until_ms: which.until.map(ago),
            ..EventQuery::default()
        })
    }

    /// What `query` asks for, in words.
    pub(crate) fn asked_for(&self, which: &Which) -> Vec<String> {
        let seconds = |age: Duration| count(age.as_secs(), "second");
        [
            self.named_session().map(|session| format!("of the session `{session}`")),
            which.tool.as_ref().map(|tool| format!("of the tool `{tool}`")),
            which.agent.as_ref().map(|agent| format!("of the agent `{agent}`")),
            which.since.map(|age| format!("of the last {}", seconds(age))),
            which.until.map(|age| format!("from before the last {}", seconds(age))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// A hint where the session that was named is not in the log.
    pub(crate) fn nearest_session(&self) -> Result<Option<String>, ToolError> {
        let Some(named) = self.named_session() else { return Ok(None) };
        let known = self.store.sessions()?;
        if known.iter().any(|one| one.session == named) {
            return Ok(None);
        }
        let near = nearest_to(named, known.iter().map(|one: &SessionSummary| one.session.as_str()));
        Ok(near.or_else(|| Some("`toolpost sessions` without --session shows which there are".to_owned())))
    }
}

/// A hint at the names that are most like the wanted one; none where none is.
pub(crate) fn nearest_to<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let near: Vec<String> = nearest(wanted, known, 3).iter().map(|name| format!("`{name}`")).collect();
    (!near.is_empty()).then(|| format!("nearest: {}", near.join(", ")))
}

/// So many of a thing: `1 file`, `2 files`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// A number of bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!([size(3), size(2_048), size(5 << 20)], ["3 B", "2.0 KiB", "5.0 MiB"]);
    }
}
