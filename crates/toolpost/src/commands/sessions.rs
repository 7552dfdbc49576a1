//! `toolpost sessions`: which sessions the log knows, and what is done with the run of one: shown, replayed, exported, removed.
//! Going on with one and forking it is `toolpost run`'s work.

mod export;
mod page;

use super::stored::{Reads, Stored, with_store};
use crate::calendar::moment;
use crate::cli::{ExportFormat, Flags, SessionsCommand};
use crate::config::env::Environment;
use crate::output::{Printer, Tone, cost_in_words, on_terminal};
use crate::runtime::{Recorded, holder};
use serde_json::{Value, json};
use toolpost_agent::kernel::{State, replay};
use toolpost_core::store::HeldBy;
use toolpost_core::{Code, ToolError};

pub(crate) fn run(
    printer: &Printer,
    flags: &Flags,
    environment: Environment,
    command: Option<&SessionsCommand>,
) -> u8 {
    let reads = match command {
        Some(SessionsCommand::Rm { .. }) => Reads::NotOnly,
        _ => Reads::Only,
    };
    with_store(printer, flags, environment, reads, |stored| match command {
        None => list(printer, stored),
        Some(SessionsCommand::Show { of: session }) => show(printer, stored, session),
        Some(SessionsCommand::Replay { of: session }) => replayed(printer, stored, session),
        Some(SessionsCommand::Export { of: session, format }) => {
            let recorded = Recorded::read(&*stored.store, session)?;
            match format {
                ExportFormat::Html => printer.page(&export::html(&recorded)),
                ExportFormat::Json => printer.json(&export::json(&recorded)),
            }
            Ok(0)
        }
        Some(SessionsCommand::Rm { of: session }) => remove(printer, stored, session),
        // These are runs.
        Some(SessionsCommand::Resume { .. } | SessionsCommand::Fork(_)) => Ok(2),
    })
}

fn list(printer: &Printer, stored: &Stored) -> Result<u8, ToolError> {
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
        sessions.iter().map(|one| on_terminal(&one.session).chars().count()).max().unwrap_or(0).max(7);
    let head = format!(
        "{:width$}  {:19}  {:>8}  {:>7}  {:>7}",
        "session", "last active (UTC)", "events", "calls", "failed"
    );
    let mut page = format!("{}\n", printer.bold(&head));
    for one in sessions {
        let (name, last) = (on_terminal(&one.session).into_owned(), moment(one.last_ms));
        let line =
            format!("{name:width$}  {last:19}  {:>8}  {:>7}  {:>7}\n", one.events, one.calls, one.failures);
        page.push_str(&line);
    }
    printer.page(&page);
    Ok(0)
}

/// How a run stands, in a word.
fn standing(state: &State) -> String {
    match state.ended() {
        Some(ended) => ended.reason.as_str().to_owned(),
        None => "open".to_owned(),
    }
}

/// The trees of agents of a session, with what each agent cost, and whether each run can go on.
fn show(printer: &Printer, stored: &Stored, session: &str) -> Result<u8, ToolError> {
    let recorded = Recorded::read(&*stored.store, session)?;
    // The session alone means all its runs.
    let roots = match session == recorded.session {
        true => recorded.roots.clone(),
        false => vec![recorded.root.clone()],
    };
    let mut held: Vec<Option<String>> = Vec::new();
    for root in &roots {
        held.push(stored.store.holder(root)?);
    }
    let start = recorded.start()?;
    if printer.is_json() {
        let agents = |root: &str| -> Vec<Value> {
            recorded.tree_of(root).into_iter().map(|(id, state)| export::agent(id, state)).collect()
        };
        let run = |(root, holder): (&String, &Option<String>)| json!({ "run": root, "name": recorded.name_of(root), "heldBy": holder, "agents": agents(root) });
        let runs: Vec<Value> = roots.iter().zip(&held).map(run).collect();
        printer.json(&json!({
            "session": recorded.session, "run": recorded.root, "workspace": start.workspace,
            "heldBy": held.last().cloned().flatten(), "agents": agents(&recorded.root), "runs": runs,
        }));
        return Ok(0);
    }
    let mut page = format!("{}\n", printer.bold(&on_terminal(&recorded.session)));
    for (root, holder) in roots.iter().zip(&held) {
        let name = recorded.name_of(root);
        if recorded.roots.len() > 1 {
            page.push_str(&format!("run {}\n", on_terminal(&name)));
        }
        for (_, state) in recorded.tree_of(root) {
            page.push_str(&line(state));
        }
        let is_open = recorded.states.get(root).is_some_and(|state| state.ended().is_none());
        match holder {
            Some(holder) => page.push_str(&format!("held by {}\n", on_terminal(holder))),
            None if is_open => page.push_str(&format!(
                "not finished; `toolpost sessions resume {}` goes on with it\n",
                on_terminal(&name)
            )),
            None => {}
        }
    }
    page.push_str(&format!("workspace {}\n", on_terminal(&start.workspace)));
    printer.page(&page);
    Ok(0)
}

/// One agent of a tree.
fn line(state: &State) -> String {
    let Some(start) = state.start() else { return String::new() };
    let indent = "  ".repeat(usize::try_from(start.depth).unwrap_or(0).min(20));
    let usage = state.usage();
    let cost = cost_in_words(state.spent()).map(|cost| format!(", {cost}")).unwrap_or_default();
    let tokens = match usage.input + usage.output {
        0 => String::new(),
        tokens => format!(", {tokens} tokens"),
    };
    let task: String = start.task.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(60).collect();
    format!(
        "{indent}{}  {}  {} turns{tokens}{cost}  {}\n",
        on_terminal(&start.agent),
        standing(state),
        state.answers(),
        on_terminal(&task)
    )
}

fn replayed(printer: &Printer, stored: &Stored, session: &str) -> Result<u8, ToolError> {
    let recorded = Recorded::read(&*stored.store, session)?;
    let mut transcripts = Vec::new();
    for (id, state) in recorded.tree() {
        let again = replay(id, &recorded.events).map_err(|difference| {
            let agent = state.start().map(|start| start.agent.clone()).unwrap_or_default();
            let message = format!("the run of `{agent}` differs: {difference}");
            ToolError::new(Code::ExecutionError, message).with("event", difference.place + 1)
        });
        match again {
            Ok(again) => transcripts.push(again.transcript()),
            Err(error) if printer.is_json() => {
                printer.json(&json!({ "success": false, "error": error }));
                return Ok(1);
            }
            Err(error) => {
                printer.error(&error);
                return Ok(1);
            }
        }
    }
    if printer.is_json() {
        printer.json(&json!({ "success": true, "session": session, "agents": transcripts.len(), "transcripts": transcripts }));
        return Ok(0);
    }
    printer.data(&transcripts.join("\n"));
    printer.say(
        Tone::Note,
        &format!(
            "replayed {} events of {} agents; nothing differs",
            recorded.events.len(),
            transcripts.len()
        ),
    );
    Ok(0)
}

fn remove(printer: &Printer, stored: &Stored, session: &str) -> Result<u8, ToolError> {
    // Held until the session is gone, so that nobody goes on with a run of it meanwhile.
    let mut holds = Vec::new();
    if let Ok(recorded) = Recorded::read(&*stored.store, session) {
        if recorded.session != session {
            let message = format!(
                "one run cannot be removed by itself; `toolpost sessions rm {}` removes the session with all its runs",
                recorded.session
            );
            return Err(ToolError::new(Code::ValidationError, message));
        }
        for root in &recorded.roots {
            if let Some(holder) = stored.store.holder(root)? {
                let message = format!(
                    "the run `{}` is held by {holder}, so that its session is not removed; wait for it to end, or stop that process, and try again",
                    recorded.name_of(root)
                );
                return Err(ToolError::new(Code::TaskConflict, message));
            }
            holds.push(stored.store.hold(root, &holder(), HeldBy::Nobody)?);
        }
    }
    match stored.store.remove_session(session)? {
        true => {
            printer.say(Tone::Note, &format!("removed the session `{session}`"));
            if printer.is_json() {
                printer.json(&json!({ "removed": session }));
            }
            Ok(0)
        }
        false => Err(ToolError::new(
            Code::FileNotFound,
            format!("there is no session `{session}`; `toolpost sessions` shows which there are"),
        )),
    }
}
