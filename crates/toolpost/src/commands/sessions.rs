//! `toolpost sessions`: which sessions the log knows, or the one that is named.

use super::stored::{Reads, moment, with_store};
use crate::cli::Flags;
use crate::config::env::Environment;
use crate::output::{Printer, Tone, harmless};
use serde_json::json;

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment) -> u8 {
    with_store(printer, flags, environment, Reads::Only, |stored| {
        let mut sessions = stored.store.sessions()?;
        if let Some(named) = stored.named_session() {
            sessions.retain(|one| one.session == named);
        }
        if printer.is_json() {
            printer.json(&json!({ "sessions": sessions }));
            return Ok(0);
        }
        if sessions.is_empty() {
            let store = stored.url();
            let message = match (stored.named_session(), stored.nearest_session()?) {
                (Some(named), Some(hint)) => format!("{store} has no session `{named}`; {hint}"),
                _ => format!("{store} has no sessions yet; `toolpost call` and `toolpost mcp` make them"),
            };
            printer.say(Tone::Note, &message);
            return Ok(0);
        }
        let width =
            sessions.iter().map(|one| harmless(&one.session).chars().count()).max().unwrap_or(0).max(7);
        let head = format!(
            "{:width$}  {:19}  {:>8}  {:>7}  {:>7}",
            "session", "last active (UTC)", "events", "calls", "failed"
        );
        let mut page = format!("{}\n", printer.bold(&head));
        for one in sessions {
            let (name, last) = (harmless(&one.session).into_owned(), moment(one.last_ms));
            let line = format!(
                "{name:width$}  {last:19}  {:>8}  {:>7}  {:>7}\n",
                one.events, one.calls, one.failures
            );
            page.push_str(&line);
        }
        printer.page(&page);
        Ok(0)
    })
}
