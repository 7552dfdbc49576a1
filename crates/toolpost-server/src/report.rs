//! What a call has done that is not here any more, as the log has it.

use crate::Server;
use crate::client::Client;
use crate::output::{self, Reader};
use serde_json::Value;
use std::collections::HashMap;
use toolpost_core::event::{Event, EventKind};
use toolpost_core::host::in_pool;
use toolpost_core::registry::Snapshot;
use toolpost_core::store::{EventQuery, Store};
use toolpost_core::{Code, Outcome, ToolError};
use toolpost_mcp::RpcError;

/// Events that are read at once.
const STEP: usize = 1_000;

/// Maximum number of events of its session that are looked at after a call was made.
const MOST: usize = 100_000;

/// Maximum number of calls within a call that are named.
const MOST_NAMED: usize = 25;

/// Maximum number of characters of a call's arguments.
const LONGEST: usize = 120;

/// The state of a call that cannot be answered.
#[derive(Clone, Copy)]
pub(crate) enum Loss<'a> {
    /// It has ended here, for this reason.
    Ended(&'a str),
    /// This server does not have it. It may wait or run in another one.
    NotHere,
}

/// The result of a call that cannot be answered.
pub(crate) async fn lost(
    server: &Server,
    name: &str,
    call: &str,
    loss: Loss<'_>,
    client: &Client,
) -> Result<Value, RpcError> {
    let result = Err(ToolError::new(Code::Cancelled, gone(server, name, call, loss).await));
    let outcome =
        Outcome { tool: name.to_owned(), call_id: call.to_owned(), result, metadata: Default::default() };
    Ok(output::result(outcome, None, client, Reader::Model))
}

/// Why a call cannot be answered, and what it did.
pub(crate) async fn gone(server: &Server, name: &str, call: &str, loss: Loss<'_>) -> String {
    let shown: String = name.chars().take(80).collect();
    let done = done(server, call, loss).await;
    let why = match loss {
        Loss::Ended(why) => format!("this call of `{shown}` has ended: {why}"),
        Loss::NotHere => format!(
            "this server does not have this call of `{shown}`: it was started again or gave the call up, or the call is \
             another server's and may still wait there"
        ),
    };
    format!("{why}. Nothing was run again. {done}")
}

/// What a call has done, in a few sentences.
pub(crate) async fn done(server: &Server, call: &str, loss: Loss<'_>) -> String {
    let Ok(store) = server.context.store().cloned() else {
        return "There is no log here, so what it did before is not known: look before you make the call again"
            .to_owned();
    };
    let committed = server.context.committed().await;
    let (id, tools) = (call.to_owned(), server.context.tools().snapshot());
    let may_go_on = matches!(loss, Loss::NotHere);
    let read =
        in_pool(move || Ok(Told::read(&*store, &id)?.map(|told| told.text(&id, &tools, may_go_on)))).await;
    let crashed = |_| Err(ToolError::execution("reading it crashed"));
    let text = match committed.and_then(|()| read.unwrap_or_else(crashed)) {
        Ok(Some(text)) => text,
        Ok(None) => "The log that is used here does not have it, so what it did before is not known: look before you make the \
                     call again"
            .to_owned(),
        Err(error) => {
            format!(
                "The log cannot be read ({}): look at what it did before you make the call again",
                error.message()
            )
        }
    };
    server.context.redactor().redact(&text).into_owned()
}

/// A call and the calls in it, as they stand in the log.
#[derive(Default)]
struct Told {
    /// In the order in which they were made.
    order: Vec<String>,
    calls: HashMap<String, Made>,
}

struct Made {
    tool: String,
    arguments: Value,
    parent: Option<String>,
    is_started: bool,
    end: Option<Result<(), String>>,
}

impl Told {
    /// None where the log does not have the call.
    fn read(store: &dyn Store, call: &str) -> Result<Option<Told>, ToolError> {
        let own = EventQuery { call: Some(call.to_owned()), limit: Some(STEP), ..EventQuery::default() };
        let own = store.events(&own)?;
        let Some(first) = own.first() else { return Ok(None) };
        let mut told = Told::default();
        own.iter().for_each(|logged| told.hear(call, &logged.event));
        // What it called stands between its first event and its last.
        let last = told.calls.get(call).filter(|made| made.end.is_some());
        let last = last.and_then(|_| own.last()).map(|logged| logged.position);
        let (session, mut after) = (first.event.session.clone(), first.position);
        for _ in 0..MOST / STEP {
            let query = EventQuery {
                session: Some(session.clone()),
                after: Some(after),
                limit: Some(STEP),
                ..EventQuery::default()
            };
            let events = store.events(&query)?;
            for logged in &events {
                told.hear(call, &logged.event);
                after = logged.position;
            }
            if events.len() < STEP || last.is_some_and(|last| after >= last) {
                break;
            }
        }
        Ok(Some(told))
    }

    fn hear(&mut self, root: &str, event: &Event) {
        let Some(id) = &event.call else { return };
        match &event.kind {
            EventKind::CallRequested { tool, arguments, parent } => {
                let is_within = parent.as_ref().is_some_and(|parent| self.calls.contains_key(parent));
                if (id == root || is_within) && !self.calls.contains_key(id) {
                    self.order.push(id.clone());
                    let (tool, arguments, parent) = (tool.clone(), arguments.clone(), parent.clone());
                    self.calls
                        .insert(id.clone(), Made { tool, arguments, parent, is_started: false, end: None });
                }
            }
            EventKind::CallStarted { dry_run: false, .. } => {
                if let Some(made) = self.calls.get_mut(id) {
                    made.is_started = true;
                }
            }
            EventKind::CallFinished { error, .. } => {
                if let Some(made) = self.calls.get_mut(id) {
                    made.end = Some(error.as_ref().map_or(Ok(()), |error| Err(error.message().to_owned())));
                }
            }
            _ => {}
        }
    }

    /// `may_go_on`: the call may still be another server's.
    fn text(&self, root: &str, tools: &Snapshot, may_go_on: bool) -> String {
        let so_far = if may_go_on { " so far" } else { "" };
        let within: Vec<&Made> = self
            .order
            .iter()
            .filter(|id| *id != root)
            .filter_map(|id| self.calls.get(id))
            .filter(|made| made.parent.as_deref() == Some(root))
            .collect();
        let Some(own) = self.calls.get(root) else { return "The log does not have its beginning".to_owned() };
        if within.is_empty() {
            let calls_tools = tools.get(&own.tool).is_some_and(|entry| entry.spec().calls_tools);
            if calls_tools && own.end.is_none() {
                return format!(
                    "By the log none of the calls in it was begun, so nothing of it was done{so_far}"
                );
            }
            return match (own.is_started, &own.end) {
                (_, Some(Ok(()))) => "By the log it was done: do not make the call again".to_owned(),
                (false, Some(Err(_))) => "By the log it was not begun, so nothing of it was done".to_owned(),
                (false, None) => format!("By the log it was not begun, so nothing of it was done{so_far}"),
                (true, Some(Err(why))) => format!(
                    "By the log it was begun and then ended ({why}): part of it may be done, so look before you make the \
                     call again"
                ),
                (true, None) => "By the log it was begun, and its end is not known: it may be done in part or completely, so \
                                 look before you make the call again"
                    .to_owned(),
            };
        }
        let lines: Vec<String> = within
            .iter()
            .take(MOST_NAMED)
            .map(|made| {
                let arguments = made.arguments.to_string();
                let shown: String = arguments.chars().take(LONGEST).collect();
                let more = if shown.len() < arguments.len() { "…" } else { "" };
                format!("- `{}` {shown}{more}: {}", made.tool, made.state(tools))
            })
            .collect();
        let more = match within.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!("\n- and {more} more"),
        };
        format!(
            "By the log, of the calls in it (make again only what was not done):\n{}{more}",
            lines.join("\n")
        )
    }
}

impl Made {
    fn state(&self, tools: &Snapshot) -> String {
        // The beginning of a call that may be repeated is not waited for to be in the log.
        let is_repeatable = tools.get(&self.tool).is_some_and(|entry| entry.spec().facts.idempotent);
        match (self.is_started, &self.end) {
            (_, Some(Ok(()))) => "done".to_owned(),
            (false, Some(Err(why))) => format!("not done ({why})"),
            (false, None) if is_repeatable => "not known to be done; to repeat it does no harm".to_owned(),
            (false, None) => "not done".to_owned(),
            (true, Some(Err(why))) => format!("begun, and ended by an error ({why})"),
            (true, None) => "begun, and its end is not known; it may be done".to_owned(),
        }
    }
}
