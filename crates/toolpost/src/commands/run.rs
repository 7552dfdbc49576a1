//! `toolpost run`: an agent file, from its task to its end.

use super::call::interrupted;
use super::stored::moment;
use crate::cli::{Flags, Run, RunOutput};
use crate::config::env::Environment;
use crate::confirm::Terminal;
use crate::output::{Printer, Screen, Show, Shown, Stage, Tone, harmless, unwritable};
use crate::runtime::{Chosen, Frontend, Prepared, Runtime, Seat, threads};
use serde_json::{Value, json};
use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolpost_agent::AgentFile;
use toolpost_agent::agent_file::{Loaded, Severity};
use toolpost_agent::driver::{Driver, LocalDriver};
use toolpost_agent::kernel::Ended;
use toolpost_core::activation::{Limits, Reason};
use toolpost_core::host::Redactor;
use toolpost_core::model::Profile;
use toolpost_core::{Code, ToolError};

/// Maximum number of commands in the background of a run.
const MOST_BACKGROUND: usize = 8;
/// At the end, each tool gets so long to clean up.
const CLEANUP: Duration = Duration::from_secs(5);
/// Maximum number of bytes of a task on standard input.
const LARGEST_TASK: u64 = 1 << 20;

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, run: &Run) -> u8 {
    let output = if printer.is_json() { RunOutput::Json } else { run.output };
    let printer = &Printer::new(output != RunOutput::Text, &environment);
    let show = match output {
        RunOutput::Text => Show::Text,
        RunOutput::Json => Show::Nothing,
        RunOutput::StreamJson => Show::Json,
    };
    let screen = Screen { has_color: printer.has_color(), can_move: printer.can_move() };
    let stage = Arc::new(Stage::new(show, screen));
    let confirm = Terminal::new(flags.yes, printer);
    let has_person = confirm.has_person();
    let frontend = Frontend {
        events: Arc::clone(&stage) as _,
        confirm: Arc::new(confirm),
        background: MOST_BACKGROUND,
        records: true,
        ..crate::this_program()
    };
    let opened = crate::open(flags, environment, printer, frontend)
        .and_then(|runtime| Ok((agent(&runtime, printer, &run.agent)?, task(run)?, runtime)))
        .and_then(|(agent, task, runtime)| Ok((agent, task, runtime, threads()?)));
    let (agent, task, runtime, threads) = match opened {
        Ok(opened) => opened,
        Err(error) => return refuse(printer, output, &error),
    };
    let status = threads.block_on(async {
        let status = match start(&runtime, printer, &agent, task, (has_person, &stage)).await {
            Ok(prepared) => drive(printer, &stage, prepared, output).await,
            Err(error) => refuse(printer, output, &error),
        };
        for (id, command) in runtime.background.running() {
            printer.say(Tone::Note, &format!("note: {id} is ended with the run: {command}"));
        }
        runtime.context.tools().shutdown_all(CLEANUP).await;
        if let Some(plugins) = &runtime.plugins {
            plugins.shutdown().await;
        }
        if let Err(error) = runtime.recorded().await {
            printer.say(Tone::Note, &format!("note: not everything is in the log: {}", error.message()));
        }
        status
    });
    // A tool that blocks its thread must not keep us here.
    threads.shutdown_timeout(Duration::from_millis(50));
    if printer.has_lost_reader() {
        let gone = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        printer.say(Tone::Error, &unwritable(&gone));
    }
    match printer.has_lost_data() || printer.has_lost_reader() {
        true => status.max(1),
        false => status,
    }
}

/// A run that does not begin, or breaks off.
fn refuse(printer: &Printer, output: RunOutput, error: &ToolError) -> u8 {
    match output {
        RunOutput::StreamJson => printer.refused_stream(error),
        RunOutput::Text | RunOutput::Json => printer.invocation_error(error),
    }
}

/// The agent that a word means, with what is to be said of its file.
fn agent(runtime: &Runtime, printer: &Printer, word: &str) -> Result<AgentFile, ToolError> {
    let Loaded { agent, problems } = runtime.config.agent(word)?;
    let Some(agent) = agent else {
        let broken = problems.iter().filter(|problem| problem.severity == Severity::Broken);
        let lines: Vec<String> = broken.map(ToString::to_string).collect();
        let error = ToolError::new(Code::ValidationError, lines.join("\n"));
        return Err(error.with("problems", serde_json::to_value(&problems).unwrap_or_default()));
    };
    if agent.is_disabled {
        let message = format!("the agent `{}` is disabled in {}", agent.name, agent.file);
        return Err(ToolError::new(Code::ValidationError, message));
    }
    let others = problems.iter().filter(|problem| problem.field.as_deref() != Some("description"));
    others.for_each(|problem| printer.say(Tone::Note, &format!("note: {}", harmless(&problem.to_string()))));
    Ok(agent)
}

/// What the agent has to do.
fn task(run: &Run) -> Result<String, ToolError> {
    match run.task.as_deref() {
        None => Ok("Do what your instructions say.".to_owned()),
        Some("-") => {
            let mut text = String::new();
            let unreadable = |why: &dyn std::fmt::Display| {
                ToolError::new(
                    Code::ValidationError,
                    format!("the task cannot be read from standard input: {why}"),
                )
            };
            let read = std::io::stdin().lock().take(LARGEST_TASK + 1).read_to_string(&mut text);
            read.map_err(|error| unreadable(&error))?;
            match text.len() as u64 > LARGEST_TASK {
                true => Err(unreadable(&format!("it has more than {LARGEST_TASK} bytes"))),
                false => Ok(text),
            }
        }
        Some(task) => Ok(task.to_owned()),
    }
}

async fn start(
    runtime: &Runtime,
    printer: &Printer,
    agent: &AgentFile,
    task: String,
    (has_person, stage): (bool, &Arc<Stage>),
) -> Result<Prepared, ToolError> {
    let today = moment(runtime.context.clock().now_ms());
    let today = today.get(..10).unwrap_or_default();
    let interrupted = async {
        interrupted().await;
        Err(ToolError::new(Code::Interrupted, "interrupted before the run began"))
    };
    let prepare = async {
        let Chosen { model, reason, redactor } = runtime.model_for(agent, today).await?;
        // The tools of servers are offered with the others; one that does not start costs its own tools.
        if runtime.plugins.is_some() {
            for (_, error) in runtime.executor.all_ready(&runtime.context).await {
                printer.say(Tone::Note, &format!("note: {}", harmless(error.message())));
            }
        }
        let Profile { vendor, model: name, .. } = model.profile();
        let model_note = format!("{} with {vendor}/{name} ({reason})", agent.name);
        let listener = Arc::clone(stage) as _;
        let mut prepared =
            runtime.activate(agent, model, Seat { task, has_person, listener, redactor }).await?;
        prepared.notes.insert(0, model_note);
        Ok(prepared)
    };
    tokio::select! {
        prepared = prepare => prepared,
        stopped = interrupted => stopped,
    }
}

/// Runs the agent to its end: Ctrl-C once ends it with what there is, twice ends the process.
async fn drive(printer: &Printer, stage: &Arc<Stage>, prepared: Prepared, output: RunOutput) -> u8 {
    let Prepared { activation, session, notes } = prepared;
    let (id, profile) = (activation.id.clone(), activation.start.model.clone());
    let redactor = Arc::clone(activation.context.redactor());
    let start = Instant::now();
    let model = format!("{}/{}", profile.vendor, profile.model);
    let init = json!({
        "type": "init", "agent": activation.start.agent, "model": model, "session": session, "activation": id, "notes": notes,
    });
    let (agent_name, limits) = (activation.start.agent.clone(), activation.start.limits.clone());
    stage.begin(&model, &init, &redactor);
    notes.iter().for_each(|note| stage.note(&harmless(note)));
    let driver = LocalDriver::new();
    if let Err(error) = driver.add(activation) {
        stage.end();
        return refuse(printer, output, &error);
    }
    driver.start(&id);
    let mut is_interrupted = false;
    let ended = {
        let mut wait = driver.wait(&id);
        tokio::select! {
            ended = &mut wait => ended,
            // Nobody would see what it does, and pays for.
            () = stage.unwritable() => {
                driver.cancel(&id);
                wait.await
            }
            () = interrupted() => {
                is_interrupted = true;
                stage.note("stopping; press Ctrl-C once more to end at once");
                driver.cancel(&id);
                tokio::select! {
                    ended = &mut wait => ended,
                    () = interrupted() => {
                        stage.end();
                        // Whatever runs ends with this process.
                        std::process::exit(130);
                    }
                }
            }
        }
    };
    let Shown { is_printed, calls, denials, lost } = stage.end();
    if let Some(error) = &lost {
        printer.say(Tone::Error, &unwritable(error));
    }
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return refuse(printer, output, &error),
    };
    // A script ends with the first denial. A model is told of one, and may go on.
    let denied = ended.code.filter(|code| code.exit_status() == 3);
    let status = match denied {
        Some(_) => 3,
        None => status(ended.reason, is_interrupted),
    };
    let why = why(&ended, &limits).map(|(code, message)| (ended.code.unwrap_or(code), message));
    let facts =
        Facts { agent: agent_name, model, session, id, calls, denials, why, elapsed: start.elapsed() };
    match output {
        RunOutput::Text => {
            let text = redactor.redact(&ended.text).into_owned();
            if !is_printed && !text.trim().is_empty() {
                printer.data(&text);
            }
            report(printer, &ended, &facts, &redactor);
        }
        // Where the lines before it could not be written, the last one would stand alone.
        RunOutput::Json | RunOutput::StreamJson if lost.is_none() => {
            printer.json(&redactor.redact_json(result(&ended, &facts, output)));
        }
        RunOutput::Json | RunOutput::StreamJson => {}
    }
    // A run that was stopped because nobody could see it failed by that.
    if lost.is_some() { 1 } else { status }
}

/// What else is said of a run.
struct Facts {
    agent: String,
    model: String,
    session: String,
    id: String,
    calls: u64,
    denials: Vec<String>,
    /// Why it is not done.
    why: Option<(Code, String)>,
    elapsed: Duration,
}

fn status(reason: Reason, is_interrupted: bool) -> u8 {
    match reason {
        Reason::Done => 0,
        Reason::Stopped if is_interrupted => 130,
        Reason::Stopped | Reason::Time => 4,
        Reason::Turns
        | Reason::Tokens
        | Reason::Cost
        | Reason::Loop
        | Reason::Length
        | Reason::Refused
        | Reason::Model => 1,
    }
}

/// Why a run ended that is not done, in a sentence with what to do.
fn why(ended: &Ended, limits: &Limits) -> Option<(Code, String)> {
    let limit = |most: String, key: &str| {
        format!("the run ended at its limit of {most}; raise `limits.{key}` in the agent file")
    };
    let budget = |most: String, key: &str| (Code::BudgetExceeded, limit(most, key));
    let model = |what: String| (Code::ModelError, what);
    Some(match ended.reason {
        Reason::Done => return None,
        Reason::Stopped => (Code::Interrupted, "the run was stopped".to_owned()),
        Reason::Time => (Code::Timeout, limit(spelled_time(limits.time_ms.unwrap_or_default()), "time")),
        Reason::Turns => budget(count(limits.turns.unwrap_or_default(), "turn"), "turns"),
        Reason::Tokens => {
            let used = grouped(ended.usage.input + ended.usage.output);
            budget(format!("{} tokens ({used} used)", grouped(limits.tokens.unwrap_or_default())), "tokens")
        }
        Reason::Cost => {
            let spent = ended.cost.unwrap_or_default();
            budget(format!("${} (${spent:.4} spent)", limits.cost.unwrap_or_default()), "cost")
        }
        Reason::Loop => (Code::ExecutionError, "the run ended because the agent made the same call again and again; change its instruction, or use another model".to_owned()),
        Reason::Length => model("the answer was cut off by the model's own limit of tokens".to_owned()),
        Reason::Refused => model(match &ended.error {
            Some(note) => format!("the model refused: {note}"),
            None => "the model refused to answer".to_owned(),
        }),
        Reason::Model => model(ended.error.clone().unwrap_or_else(|| "the model gave no answer".to_owned())),
    })
}

/// The last lines for a person: why it ended, and what it took.
fn report(printer: &Printer, ended: &Ended, facts: &Facts, redactor: &Redactor) {
    if let Some((code, message)) = &facts.why {
        printer.say_fitted(Tone::Error, &format!("error[{code}]: {}", redactor.redact(message)), 2);
    }
    if printer.is_on_terminal() {
        let mut parts = vec![count(ended.turns, "turn"), count(facts.calls, "call")];
        let about = if ended.usage.estimated { "about " } else { "" };
        if ended.usage.input + ended.usage.output > 0 {
            let (input, output) = (grouped(ended.usage.input), grouped(ended.usage.output));
            parts.push(format!("{about}{input} + {output} tokens"));
        }
        match ended.cost {
            Some(cost) if cost > 0.0 => parts.push(format!("{about}${cost:.4}")),
            None if ended.usage.input + ended.usage.output > 0 => parts.push("cost not known".to_owned()),
            _ => {}
        }
        parts.push(format!("{:.1} s", facts.elapsed.as_secs_f64()));
        parts.push(format!("session {}", facts.session));
        printer.say_fitted(Tone::Note, &parts.join(" · "), 2);
        if !std::io::stdin().is_terminal() && !facts.denials.is_empty() {
            printer.say(Tone::Note, &format!("denied: {}", facts.denials.join(", ")));
        }
    }
}

fn count(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Milliseconds, in the largest unit that gives a whole number.
fn spelled_time(time_ms: u64) -> String {
    match time_ms {
        time if time % 60_000 == 0 => count(time / 60_000, "minute"),
        time if time % 1_000 == 0 => count(time / 1_000, "second"),
        time => format!("{time} ms"),
    }
}

/// A number with commas between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn result(ended: &Ended, facts: &Facts, output: RunOutput) -> Value {
    let error = facts.why.as_ref().map(|(code, message)| json!({"code": code, "message": message}));
    let mut result = json!({
        "success": ended.reason == Reason::Done,
        "reason": ended.reason,
        "agent": facts.agent,
        "model": facts.model,
        "session": facts.session,
        "activation": facts.id,
        "text": ended.text,
        "turns": ended.turns,
        "calls": facts.calls,
        "denials": facts.denials,
        "usage": ended.usage,
        "costUsd": ended.cost,
        "costIsEstimated": ended.cost.is_some() && ended.usage.estimated,
        "durationMs": u64::try_from(facts.elapsed.as_millis()).unwrap_or(u64::MAX),
    });
    if let (Value::Object(fields), Some(error)) = (&mut result, error) {
        fields.insert("error".to_owned(), error);
    }
    match output {
        RunOutput::StreamJson => {
            let mut line = json!({"type": "result"});
            if let (Value::Object(line), Value::Object(fields)) = (&mut line, result) {
                line.extend(fields);
            }
            line
        }
        RunOutput::Text | RunOutput::Json => result,
    }
}
