//! `toolpost log`: what has happened, and what happens.

use super::stored::{Reads, Stored, count, nearest_to, with_store};
use crate::calendar::moment;
use crate::call_id;
use crate::cli::{Flags, Log};
use crate::config::env::Environment;
use crate::output::{Printer, Tone, on_terminal, one_line};
use std::time::Duration;
use toolpost_core::activation::{Fact, Todo};
use toolpost_core::event::EventKind;
use toolpost_core::store::{EventQuery, Logged, OutcomeFilter};
use toolpost_core::text::nearest;
use toolpost_core::{Code, ToolError};
use toolpost_store::StoreUrl;

/// How long one look for new events waits.
const LOOK: Duration = Duration::from_secs(1);
/// Events that are read at once while following.
const STEP: usize = 1_000;
/// Characters of a line for a person.
const WIDTH: usize = 160;

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, log: &Log) -> u8 {
    // What is to come may be in a store that is yet to be made.
    let reads = if log.follow { Reads::NotOnly } else { Reads::Only };
    with_store(printer, flags, environment, reads, |stored| show(printer, stored, log))
}

fn show(printer: &Printer, stored: &Stored, log: &Log) -> Result<u8, ToolError> {
    if let Some(words) = log.grep.as_ref().filter(|words| !words.contains(char::is_alphanumeric)) {
        let message = format!("`{words}` has no word in it; --grep looks for words, of letters and digits");
        return Err(ToolError::new(Code::ValidationError, message));
    }
    let query = EventQuery {
        call: log.call.as_deref().map(|call| named_call(stored, call)).transpose()?,
        outcome: log.outcome.as_deref().map(outcome).transpose()?,
        words: log.grep.clone(),
        ..stored.query(&log.which)?
    };
    // What comes after this belongs to what follows.
    let mut seen = stored.store.last_position()?;
    let limit = usize::try_from(log.limit).unwrap_or(usize::MAX);
    let last = EventQuery { limit: Some(limit), is_newest: true, ..query.clone() };
    let events = stored.store.events(&last)?;
    let is_cut = events.len() == limit;
    seen = seen.max(events.last().map_or(0, |event| event.position));
    print(printer, &events);
    if events.is_empty() && !log.follow {
        printer.say(Tone::Note, &nothing(stored, log)?);
    } else if is_cut && !printer.is_json() && !log.follow {
        let note = format!("these are the last {limit}; --limit shows more");
        printer.say(Tone::Note, &note);
    } else if !printer.is_json() && !log.follow && stored.store.first_position()? > 1 {
        printer.say(Tone::Note, "older events were deleted; the key `keep` says how much is kept");
    }
    while log.follow && !printer.has_lost_data() && printer.has_reader() {
        if stored.store.wait(seen, LOOK)? == seen {
            continue;
        }
        loop {
            let next = EventQuery { after: Some(seen), limit: Some(STEP), ..query.clone() };
            let newest = stored.store.last_position()?;
            let events = stored.store.events(&next)?;
            print(printer, &events);
            let is_full = events.len() == STEP;
            seen = events
                .last()
                .map_or(newest, |event| if is_full { event.position } else { event.position.max(newest) });
            if !is_full {
                break;
            }
        }
    }
    Ok(0)
}

/// The id of the call that is meant by an id or its ending.
fn named_call(stored: &Stored, text: &str) -> Result<String, ToolError> {
    call_id::find(&*stored.store, text)?.ok_or_else(|| {
        let message = format!(
            "no call in the log of {} has the id `{text}` or one that ends so; `toolpost log` shows the endings of ids, with \
             --json whole ones",
            stored.url()
        );
        ToolError::new(Code::FileNotFound, message).with("call", text)
    })
}

fn outcome(text: &str) -> Result<OutcomeFilter, ToolError> {
    match text {
        "ok" => Ok(OutcomeFilter::Success),
        "failed" => Ok(OutcomeFilter::Failure),
        code if Code::ALL.iter().any(|known| known.as_str() == code) => {
            Ok(OutcomeFilter::Code(code.to_owned()))
        }
        other => {
            let known = ["ok", "failed"].into_iter().chain(Code::ALL.iter().map(|code| code.as_str()));
            let hint = match nearest(other, known, 1).first() {
                Some(near) => format!("did you mean `{near}`"),
                None => "write ok, failed or a code such as TIMEOUT".to_owned(),
            };
            let message = format!("`{other}` is not an outcome; {hint}");
            Err(ToolError::new(Code::ValidationError, message))
        }
    }
}

/// What was asked for, and that there is none of it.
fn nothing(stored: &Stored, log: &Log) -> Result<String, ToolError> {
    let store = stored.url();
    if matches!(stored.config.store, Some(StoreUrl::Memory)) {
        let message = "the store `memory` ends with the command that fills it, so there is no log; name another with --store";
        return Ok(message.to_owned());
    }
    if stored.store.last_position()? == 0 {
        return Ok(format!("the log of {store} is empty; `toolpost call` and `toolpost mcp` write it"));
    }
    let mut asked = stored.asked_for(&log.which);
    asked.extend(log.call.as_ref().map(|call| format!("of the call `{call}`")));
    asked.extend(log.outcome.as_ref().map(|outcome| format!("with the outcome `{outcome}`")));
    asked.extend(log.grep.as_ref().map(|words| format!("with the words `{words}`")));
    let hint = match (&log.which.tool, &log.grep) {
        (Some(tool), _) => {
            let tools = stored.store.stats(&EventQuery::default())?;
            let is_known = tools.iter().any(|one| one.tool == *tool);
            if is_known { None } else { nearest_to(tool, tools.iter().map(|one| one.tool.as_str())) }
        }
        (None, Some(_)) => Some("--grep looks for whole words".to_owned()),
        (None, None) => None,
    };
    let hint = hint.or(stored.nearest_session()?).map(|hint| format!("; {hint}")).unwrap_or_default();
    let asked = if asked.is_empty() { String::new() } else { format!(" {}", asked.join(" ")) };
    Ok(format!("the log of {store} has no event{asked}{hint}"))
}

fn print(printer: &Printer, events: &[Logged]) {
    for event in events {
        match printer.is_json() {
            true => printer.json(event),
            false => printer.data(&line(event)),
        }
    }
}

/// One event on one line.
fn line(logged: &Logged) -> String {
    let event = &logged.event;
    let call = call_id::ending(event.call.as_deref().unwrap_or("-"));
    let agent = event.agent.as_ref().map(|agent| format!(" {agent}")).unwrap_or_default();
    let what = format!("{:8} {}", toolpost_store::label(&event.kind), details(&event.kind));
    let what = one_line(&on_terminal(what.trim_end()));
    let text = format!("{} {call:>width$}{agent}  {what}", moment(event.at_ms), width = call_id::SHOWN);
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What happened, after its label.
fn details(kind: &EventKind) -> String {
    match kind {
        EventKind::CallRequested { tool, arguments, .. } => format!("{tool} {arguments}"),
        EventKind::ToolInitialized { tool } => tool.clone(),
        EventKind::ArgumentsRepaired { repairs } => {
            let repairs: Vec<String> = repairs.iter().map(ToString::to_string).collect();
            repairs.join(", ")
        }
        EventKind::HookIntervened { hook, what } => format!("{hook}: {what}"),
        EventKind::CallDecided { reason, .. } => reason.clone(),
        EventKind::Asked { question } => question.text.clone(),
        EventKind::Answered { answer } => format!("{answer:?}"),
        EventKind::CallStarted { tool, attempt, dry_run } => {
            let dry = if *dry_run { " (dry run)" } else { "" };
            let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            format!("{tool}{dry}{again}")
        }
        EventKind::Progress { title, .. } => title.clone(),
        EventKind::CallRetried { attempt, error, .. } => format!("attempt {attempt}: {}", error.message()),
        EventKind::OutputSpilled { handle, bytes } => format!("{handle} ({bytes} bytes)"),
        EventKind::CallFinished { tool, output, error, metadata } => {
            let time = metadata.execution_time_ms;
            match (output, error) {
                (_, Some(error)) => format!("{tool} {} {time:.1} ms: {}", error.code(), error.message()),
                (Some(output), None) => format!("{tool} {time:.1} ms: {}", output.title),
                (None, None) => format!("{tool} {time:.1} ms"),
            }
        }
        EventKind::FileStored { path, version, .. } => format!("{path} version {version}"),
        EventKind::TaskChanged { task, status, owner, .. } => {
            let owner = owner.as_ref().map(|owner| format!(" by {owner}")).unwrap_or_default();
            format!("{task} {}{owner}", status.as_str())
        }
        EventKind::TodosChanged { count } => count.to_string(),
        EventKind::ChangesUndone { of, files, .. } => {
            format!("{}: {}", call_id::ending(of), count(*files as u64, "name"))
        }
        EventKind::Activation { fact } => fact_details(fact),
        EventKind::Warning { message } => message.clone(),
    }
}

/// The same for a fact of an agent's run.
fn fact_details(fact: &Fact) -> String {
    match fact {
        Fact::Started { start } => {
            format!("{} with {}/{}: {}", start.agent, start.model.vendor, start.model.model, start.task)
        }
        Fact::Offered { tools } => tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", "),
        Fact::Decided { seq, todos } => {
            let todos: Vec<String> = todos.iter().map(todo).collect();
            format!("step {seq}: {}", todos.join(", "))
        }
        Fact::Answered { response, .. } => {
            let calls: Vec<&str> = response.tool_calls().map(|call| call.name.as_str()).collect();
            let calls = if calls.is_empty() { String::new() } else { format!(" → {}", calls.join(", ")) };
            format!("{} tokens: {}{calls}", response.usage.output, response.text())
        }
        Fact::ModelFailed { error, .. } => error.message.clone(),
        Fact::Returned { attachments, data, .. } => {
            let mut parts: Vec<String> = attachments.iter().map(|one| one.filename.clone()).collect();
            parts.extend((!data.is_null()).then(|| "data".to_owned()));
            parts.join(", ")
        }
        Fact::Paused { times, ms, why, .. } => format!("{times} times, {ms} ms, last after {why}"),
        Fact::Compacted { turns, .. } => format!("{turns} turns"),
        Fact::Spent { reason, .. } => reason.as_str().to_owned(),
        Fact::Spawned { child, agent } => format!("{agent} ({})", call_id::ending(child)),
        Fact::Signalled { from, text, .. } => format!("{from}: {text}"),
        Fact::Continued { text, .. } => text.clone(),
        Fact::Resumed { interrupted } => count(interrupted.len() as u64, "interrupted call"),
        Fact::StopAsked => String::new(),
        Fact::Ended { reason, usage, cost, .. } => {
            let cost =
                cost.filter(|cost| *cost > 0.0).map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
            let about = if usage.estimated { "about " } else { "" };
            match usage.input + usage.output {
                0 => reason.as_str().to_owned(),
                _ => format!("{}, {about}{} + {} tokens{cost}", reason.as_str(), usage.input, usage.output),
            }
        }
    }
}

fn todo(todo: &Todo) -> String {
    match todo {
        Todo::Ask => "ask the model".to_owned(),
        Todo::Call { index, call } => format!("call {index} ({})", call_id::ending(call)),
        Todo::Refuse { index, .. } => format!("refuse call {index}"),
        Todo::Compact { turns } => format!("compact {turns} turns"),
        Todo::Wait => "wait for agents".to_owned(),
        Todo::Finish { reason } => format!("finish: {}", reason.as_str()),
    }
}
