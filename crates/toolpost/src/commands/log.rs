//! `toolpost log`: what has happened, and what happens.

use super::stored::{Stored, moment, with_store};
use crate::cli::{Flags, Log};
use crate::config::env::Environment;
use crate::output::{Printer, harmless, one_line};
use std::time::Duration;
use toolpost_core::event::EventKind;
use toolpost_core::store::{EventQuery, Logged, OutcomeFilter};
use toolpost_core::{Code, ToolError};

/// How long one look for new events waits.
const LOOK: Duration = Duration::from_secs(1);
/// Events that are read at once while following.
const STEP: usize = 1_000;
/// Characters of a line for a person.
const WIDTH: usize = 160;

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, log: &Log) -> u8 {
    with_store(printer, flags, environment, |stored| show(printer, stored, log))
}

fn show(printer: &Printer, stored: &Stored, log: &Log) -> Result<u8, ToolError> {
    let query = EventQuery {
        call: log.call.clone(),
        outcome: log.outcome.as_deref().map(outcome).transpose()?,
        words: log.grep.clone(),
        ..stored.query(&log.which)
    };
    // What comes after this belongs to what follows.
    let mut seen = stored.store.last_position()?;
    let last = EventQuery { limit: Some(log.limit), is_newest: true, ..query.clone() };
    let events = stored.store.events(&last)?;
    let is_cut = events.len() == log.limit;
    seen = seen.max(events.last().map_or(0, |event| event.position));
    print(printer, &events);
    if events.is_empty() && !log.follow {
        printer.say(crate::output::Tone::Note, "nothing in the log fits");
    } else if is_cut && !printer.is_json() && !log.follow {
        let note = format!("these are the last {}; --limit shows more", log.limit);
        printer.say(crate::output::Tone::Note, &note);
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

fn outcome(text: &str) -> Result<OutcomeFilter, ToolError> {
    match text {
        "ok" => Ok(OutcomeFilter::Success),
        "failed" => Ok(OutcomeFilter::Failure),
        code if Code::ALL.iter().any(|known| known.as_str() == code) => {
            Ok(OutcomeFilter::Code(code.to_owned()))
        }
        other => {
            let message = format!("`{other}` is no outcome; write ok, failed or a code such as TIMEOUT");
            Err(ToolError::new(Code::ValidationError, message))
        }
    }
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
    let call: String = event.call.as_deref().unwrap_or("-").chars().rev().take(6).collect();
    let call: String = call.chars().rev().collect();
    let agent = event.agent.as_ref().map(|agent| format!(" {agent}")).unwrap_or_default();
    let told = one_line(&harmless(&told(&event.kind)));
    let text = format!("{} {call:>6}{agent}  {told}", moment(event.at_ms));
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What happened, in a few words.
fn told(kind: &EventKind) -> String {
    match kind {
        EventKind::CallRequested { tool, arguments, .. } => format!("asked  {tool} {arguments}"),
        EventKind::ToolInitialized { tool } => format!("ready  {tool}"),
        EventKind::ArgumentsRepaired { repairs } => {
            let repairs: Vec<String> = repairs.iter().map(ToString::to_string).collect();
            format!("mended {}", repairs.join(", "))
        }
        EventKind::HookIntervened { hook, what } => format!("hook   {hook}: {what}"),
        EventKind::CallDecided { effect, reason } => format!("{effect:6} {reason}"),
        EventKind::Asked { question } => format!("ask    {}", question.text),
        EventKind::Answered { answer } => format!("answer {answer:?}"),
        EventKind::CallStarted { tool, attempt, dry_run } => {
            let dry = if *dry_run { " (dry run)" } else { "" };
            let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            format!("start  {tool}{dry}{again}")
        }
        EventKind::Progress { title, .. } => format!("works  {title}"),
        EventKind::CallRetried { attempt, error, .. } => {
            format!("again  attempt {attempt}: {}", error.message())
        }
        EventKind::OutputSpilled { handle, bytes } => format!("kept   {handle} ({bytes} bytes)"),
        EventKind::CallFinished { tool, output, error, metadata } => {
            let time = metadata.execution_time_ms;
            match (output, error) {
                (_, Some(error)) => {
                    format!("failed {tool} {} {time:.1} ms: {}", error.code(), error.message())
                }
                (Some(output), None) => format!("done   {tool} {time:.1} ms: {}", output.title),
                (None, None) => format!("done   {tool} {time:.1} ms"),
            }
        }
        EventKind::FileStored { path, version, deleted } => match deleted {
            true => format!("file   {path} deleted, version {version}"),
            false => format!("file   {path} version {version}"),
        },
        EventKind::TaskChanged { task, status, owner, .. } => {
            let owner = owner.as_ref().map(|owner| format!(" by {owner}")).unwrap_or_default();
            format!("task   {task} {}{owner}", status.as_str())
        }
        EventKind::TodosChanged { count } => format!("todos  {count}"),
        EventKind::ChangesUndone { of, files, is_redo } => {
            let word = if *is_redo { "redo  " } else { "undo  " };
            format!("{word} {of}: {files} names")
        }
        EventKind::Warning { message } => format!("note   {message}"),
    }
}
