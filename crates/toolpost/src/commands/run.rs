//! `toolpost run`: an agent file, from its task to its end.

mod finished;

use super::call::{StopSignal, interrupted, stop_signal};
use crate::calendar::moment;
use crate::cli::{Flags, ForkFlags, Run, RunOutput, SessionsCommand};
use crate::config::env::Environment;
use crate::confirm::Terminal;
use crate::output::{
    Beginning, Fault, Line, Printer, RunEvent, RunResult, Screen, Show, Shown, Stage, Tone, cost_in_words,
    dollars, grouped, on_terminal, reason, unwritable,
};
use crate::runtime::{
    AgentTools, Audience, Chosen, Frontend, Prepared, Resumed, Runtime, Seat, holder, threads,
};
use serde_json::Value;
use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolpost_agent::AgentFile;
use toolpost_agent::agent_file::{Loaded, Severity};
use toolpost_agent::driver::Driver;
use toolpost_agent::kernel::Ended;
use toolpost_agent::tree::Amount;
use toolpost_core::activation::{Fact, Limits, Reason};
use toolpost_core::host::Redactor;
use toolpost_core::model::Profile;
use toolpost_core::store::{HeldBy, Hold};
use toolpost_core::{Code, ToolError};

/// Maximum number of commands in the background of a run.
pub(super) const MOST_BACKGROUND: usize = 8;
/// At the end, each tool gets so long to clean up.
const CLEANUP: Duration = Duration::from_secs(5);
/// How often it is looked whether somebody still reads what is printed at the end.
const LOOKS_FOR_READER: Duration = Duration::from_millis(500);
/// Maximum number of bytes of a task on standard input.
const LARGEST_TASK: u64 = 1 << 20;

/// What is to be run, as it was typed.
pub(crate) enum Asked<'a> {
    /// An agent, from its beginning.
    New { agent: &'a str, task: Option<&'a str> },
    /// The run of a session, from where it stands.
    Resume { session: &'a str, from: HeldBy },
    /// Another run from a step of one.
    Fork(&'a ForkFlags),
}

impl Run {
    pub(crate) fn wanted(&self) -> Asked<'_> {
        match (&self.resume, &self.agent) {
            (Some(session), _) => Asked::Resume { session, from: from(self.take_over) },
            (None, agent) => {
                Asked::New { agent: agent.as_deref().unwrap_or_default(), task: self.task.as_deref() }
            }
        }
    }
}

impl SessionsCommand {
    /// What is to be run, if anything is.
    pub(crate) fn run(&self) -> Option<(Asked<'_>, RunOutput)> {
        match self {
            SessionsCommand::Resume { of: session, take_over, output, .. } => {
                Some((Asked::Resume { session, from: from(*take_over) }, *output))
            }
            SessionsCommand::Fork(fork) => Some((Asked::Fork(fork), fork.output)),
            SessionsCommand::Show { .. }
            | SessionsCommand::Replay { .. }
            | SessionsCommand::Export { .. }
            | SessionsCommand::Rm { .. } => None,
        }
    }
}

pub(super) fn from(takes_over: bool) -> HeldBy {
    if takes_over { HeldBy::Anybody } else { HeldBy::Nobody }
}

pub(crate) fn run(
    printer: &Printer,
    flags: &Flags,
    environment: Environment,
    asked: &Asked<'_>,
    output: RunOutput,
) -> u8 {
    let output = if printer.is_json() { RunOutput::Json } else { output };
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
        agents: AgentTools::Always,
        ..crate::this_program()
    };
    let opened = crate::open(flags, environment, printer, frontend)
        .and_then(|runtime| Ok((wanted(&runtime, printer, asked)?, Arc::new(runtime), threads()?)));
    let (wanted, runtime, threads) = match opened {
        Ok(opened) => opened,
        Err(error) => return refuse(printer, output, &error),
    };
    let audience = Audience { listener: Arc::clone(&stage) as _, has_person };
    runtime.host.attach(&runtime, audience);
    let status = threads.block_on(async {
        let status = match finished::status(&runtime, printer, &stage, &wanted, output) {
            Ok(Some(status)) => status,
            Ok(None) => match start(&runtime, printer, &wanted, (has_person, &stage)).await {
                Ok(started) => drive(&runtime, printer, &stage, started, output).await,
                Err(error) => refuse(printer, output, &error),
            },
            Err(error) => refuse(printer, output, &error),
        };
        // A run whose log is lost cannot be gone on with, whatever came of it.
        if shut_down(&runtime, printer).await { status } else { status.max(1) }
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

/// Ends what tools and servers have left, and waits for the log. Says whether all is in it.
pub(super) async fn shut_down(runtime: &Runtime, printer: &Printer) -> bool {
    for (id, command) in runtime.background.running() {
        printer.say(Tone::Note, &format!("note: {id} is ended with the run: {command}"));
    }
    runtime.context.tools().shutdown_all(CLEANUP).await;
    if let Some(plugins) = &runtime.plugins {
        plugins.shutdown().await;
    }
    match runtime.recorded().await {
        Ok(()) => true,
        Err(error) => {
            let message =
                format!("error[{}]: not everything is in the log: {}", error.code(), error.message());
            printer.say(Tone::Error, &message);
            false
        }
    }
}

/// A run that does not begin, or breaks off.
pub(super) fn refuse(printer: &Printer, output: RunOutput, error: &ToolError) -> u8 {
    match output {
        RunOutput::StreamJson => printer.refused_stream(error),
        RunOutput::Text | RunOutput::Json => printer.invocation_error(error),
    }
}

/// What is to be run.
enum Wanted {
    /// An agent, from its beginning.
    New {
        agent: Box<AgentFile>,
        task: String,
        /// Whether its file was named: it may name others then.
        is_named: bool,
    },
    /// The run of a session, from where it stands.
    Resume { session: String, from: HeldBy },
    /// Another run from a step of one.
    Fork { session: String, at: Option<u64>, task: Option<String> },
}

/// A run that is ready.
struct Started {
    prepared: Prepared,
    /// What is recorded of it before it goes on.
    fact: Option<Fact>,
    hold: Hold,
}

fn wanted(runtime: &Runtime, printer: &Printer, asked: &Asked<'_>) -> Result<Wanted, ToolError> {
    match asked {
        Asked::Resume { session, from } => Ok(Wanted::Resume { session: (*session).to_owned(), from: *from }),
        Asked::Fork(fork) => {
            let (at, task) = (fork.at, fork.task.clone());
            Ok(Wanted::Fork { session: fork.of.clone(), at, task })
        }
        Asked::New { agent: word, task: text } => {
            let agent = Box::new(agent(runtime, printer, word)?);
            Ok(Wanted::New { agent, task: task(*text)?, is_named: is_path(word) })
        }
    }
}

/// The agent that a word means, with what is to be said of its file.
pub(super) fn agent(runtime: &Runtime, printer: &Printer, word: &str) -> Result<AgentFile, ToolError> {
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
    others
        .for_each(|problem| printer.say(Tone::Note, &format!("note: {}", on_terminal(&problem.to_string()))));
    Ok(agent)
}

/// Whether a word names a file, and so is consent to use it.
pub(super) fn is_path(word: &str) -> bool {
    word.contains('/') || word.ends_with(".md") || word.ends_with(".toml")
}

/// What the agent has to do.
fn task(text: Option<&str>) -> Result<String, ToolError> {
    match text {
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
    runtime: &Arc<Runtime>,
    printer: &Printer,
    wanted: &Wanted,
    (has_person, stage): (bool, &Arc<Stage>),
) -> Result<Started, ToolError> {
    let today = moment(runtime.context.clock().now_ms());
    let today = today.get(..10).unwrap_or_default();
    let interrupted = async {
        interrupted().await;
        Err(ToolError::new(Code::Interrupted, "interrupted before the run began"))
    };
    let prepare = async {
        let (agent, task, is_named) = match wanted {
            Wanted::New { agent, task, is_named } => (agent, task.clone(), *is_named),
            Wanted::Resume { session, from } => {
                servers_ready(runtime, printer).await;
                let audience = (has_person, Arc::clone(stage) as _);
                let Resumed { prepared, fact, hold } = runtime.resume(session, *from, audience).await?;
                return Ok(Started { prepared, fact: Some(fact), hold });
            }
            Wanted::Fork { session, at, task } => {
                servers_ready(runtime, printer).await;
                let audience = (has_person, Arc::clone(stage) as _);
                let (forked, run) = runtime.fork(session, *at, task.as_deref()).await?;
                let Resumed { mut prepared, fact, hold } =
                    runtime.resume(&run, HeldBy::Nobody, audience).await?;
                prepared.notes.insert(1, format!("forked from `{session}` as the session `{forked}`"));
                return Ok(Started { prepared, fact: Some(fact), hold });
            }
        };
        if is_named {
            runtime.host.known().consent(runtime, agent)?;
        }
        let Chosen { model, reason, redactor } = runtime.model_for(agent, today).await?;
        servers_ready(runtime, printer).await;
        let Profile { vendor, model: name, .. } = model.profile();
        let model_note = format!("{} with {vendor}/{name} ({reason})", agent.name);
        let listener = Arc::clone(stage) as _;
        let (id, session) = runtime.new_run(agent);
        let (above, caller, state) = (None, None, None);
        let seat = Seat { id, session, task, has_person, listener, redactor, above, caller, state };
        let mut prepared = runtime.activate(agent, model, seat).await?;
        prepared.notes.insert(0, model_note);
        let hold = runtime.store.hold(&prepared.activation.id, &holder(), HeldBy::Nobody)?;
        Ok(Started { prepared, fact: None, hold })
    };
    tokio::select! {
        prepared = prepare => prepared,
        stopped = interrupted => stopped,
    }
}

/// Waits for the servers whose tools are offered with the others; one that does not start costs its own tools.
pub(super) async fn servers_ready(runtime: &Runtime, printer: &Printer) {
    if runtime.plugins.is_some() {
        for (_, error) in runtime.executor.all_ready(&runtime.context).await {
            printer.say(Tone::Note, &format!("note: {}", on_terminal(error.message())));
        }
    }
}

/// Runs the agent to its end: Ctrl-C once ends it with what there is, twice ends the process.
async fn drive(
    runtime: &Runtime,
    printer: &Printer,
    stage: &Arc<Stage>,
    started: Started,
    output: RunOutput,
) -> u8 {
    let Started { prepared, fact, hold: _hold } = started;
    let Prepared { activation, session, notes } = prepared;
    let (id, profile) = (activation.id.clone(), activation.start.model.clone());
    let branch = activation.branch.clone();
    let redactor = Arc::clone(activation.context.redactor());
    let start = Instant::now();
    let model = format!("{}/{}", profile.vendor, profile.model);
    let (agent_name, limits) = (activation.start.agent.clone(), activation.start.limits.clone());
    printer.begin_run(&agent_name, &id);
    let beginning =
        Beginning { agent: &agent_name, activation: &id, model: &model, session: &session, notes: &notes };
    stage.begin(&beginning, &redactor);
    notes.iter().for_each(|note| stage.note(&on_terminal(note)));
    if !printer.is_on_terminal() && output != RunOutput::StreamJson {
        // The first says which model it is, which is no problem.
        notes
            .iter()
            .skip(1)
            .for_each(|note| printer.say(Tone::Note, &format!("note: {}", on_terminal(note))));
    }
    let driver = runtime.host.driver();
    let is_resumed = fact.is_some();
    let added = driver.add(activation).and_then(|()| fact.map_or(Ok(()), |fact| driver.record(&id, fact)));
    let added = match added {
        Ok(()) if is_resumed => runtime.host.revive(&id).await,
        added => added,
    };
    if let Err(error) = added {
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
            () = unseen(stage, printer) => {
                driver.cancel(&id);
                wait.await
            }
            signal = stop_signal() => {
                if signal == StopSignal::Terminate {
                    stage.end();
                    leave_open(runtime, printer, output, &session).await;
                }
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
    let status = status_of(&ended, is_interrupted);
    let why =
        why(&ended, &limits, branch.spent()).map(|(code, message)| (ended.code.unwrap_or(code), message));
    let facts = Facts {
        agent: agent_name,
        model,
        session,
        id,
        calls,
        denials,
        why,
        elapsed: start.elapsed(),
        tree: branch.spent(),
    };
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
    if lost.is_some() || printer.has_lost_reader() { 1 } else { status }
}

/// Ends this process and leaves the run as it stands, so that it can go on: whoever sends SIGTERM wants the process to end, and
/// says nothing about the run. Its commands end with the process.
async fn leave_open(runtime: &Runtime, printer: &Printer, output: RunOutput, session: &str) -> ! {
    let message = match tokio::time::timeout(CLEANUP, runtime.recorded()).await {
        Ok(Ok(())) => format!("stopped by SIGTERM; `toolpost run --resume {session}` goes on with the run"),
        Ok(Err(error)) => format!("stopped by SIGTERM; not everything is in the log: {}", error.message()),
        Err(_) => "stopped by SIGTERM; not everything is in the log".to_owned(),
    };
    let status = refuse(printer, output, &ToolError::new(Code::Interrupted, message));
    std::process::exit(i32::from(status))
}

/// Waits until nobody can see the run any more: its lines cannot be written, or whoever was to read its text has gone.
async fn unseen(stage: &Stage, printer: &Printer) {
    let reader_left = async {
        loop {
            tokio::time::sleep(LOOKS_FOR_READER).await;
            if printer.finds_reader_gone() {
                break;
            }
        }
    };
    tokio::select! {
        () = stage.unwritable() => {}
        () = reader_left => {}
    }
}

/// What else is said of a run.
pub(super) struct Facts {
    pub(super) agent: String,
    pub(super) model: String,
    pub(super) session: String,
    pub(super) id: String,
    pub(super) calls: u64,
    pub(super) denials: Vec<String>,
    /// Why it is not done.
    pub(super) why: Option<(Code, String)>,
    pub(super) elapsed: Duration,
    /// What it and all agents below it have spent.
    pub(super) tree: Amount,
}

/// The exit status of a run that has ended.
fn status_of(ended: &Ended, is_interrupted: bool) -> u8 {
    // A script ends with the first call that is denied or out of time. A model is told of one, and may go on.
    match ended.code.map(Code::exit_status) {
        Some(of_call @ (3 | 4)) if !is_interrupted => of_call,
        _ => status(ended.reason, is_interrupted),
    }
}

pub(super) fn status(reason: Reason, is_interrupted: bool) -> u8 {
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
        | Reason::Model
        | Reason::Script => 1,
    }
}

/// Why a run ended that is not done, in a sentence with what to do.
pub(super) fn why(ended: &Ended, limits: &Limits, tree: Amount) -> Option<(Code, String)> {
    let limit = |most: String, key: &str| {
        format!("the run ended at its limit of {most}; raise `limits.{key}` in the agent file")
    };
    let budget = |most: String, key: &str| (Code::BudgetExceeded, limit(most, key));
    let model = |what: String| (Code::ModelError, what);
    Some(match ended.reason {
        Reason::Done => return None,
        Reason::Stopped => (Code::Interrupted, "the run was stopped".to_owned()),
        Reason::Time => {
            let told = limit(spelled_time(limits.time_ms.unwrap_or_default()), "time");
            let went = ended.error.as_ref().map(|went| format!("; where the time went: {went}"));
            (Code::Timeout, format!("{told}{}", went.unwrap_or_default()))
        }
        Reason::Turns => budget(count(limits.turns.unwrap_or_default(), "turn"), "turns"),
        Reason::Tokens => {
            let used = grouped(tree.tokens.max(ended.usage.input + ended.usage.output));
            budget(format!("{} tokens ({used} used)", grouped(limits.tokens.unwrap_or_default())), "tokens")
        }
        Reason::Cost => {
            let spent = tree.dollars().max(ended.cost.unwrap_or_default());
            budget(format!("${} ({} spent)", limits.cost.unwrap_or_default(), dollars(spent)), "cost")
        }
        Reason::Loop => (Code::ExecutionError, "the run ended because the agent made the same call again and again; change its instruction, or use another model".to_owned()),
        Reason::Length => model("the answer was cut off by the model's own limit of tokens".to_owned()),
        Reason::Refused => model(ended.error.clone().unwrap_or_else(|| "the model refused to answer".to_owned())),
        Reason::Script => {
            (Code::ExecutionError, ended.error.clone().unwrap_or_else(|| "a step of the script failed".to_owned()))
        }
        Reason::Model => model(ended.error.clone().unwrap_or_else(|| "the model gave no answer".to_owned())),
    })
}

/// The last lines for a person: why it ended, and what it took.
pub(super) fn report(printer: &Printer, ended: &Ended, facts: &Facts, redactor: &Redactor) {
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
        let own = ended.spent();
        parts.extend(cost_in_words(own).map(|cost| format!("{about}{cost}")));
        if facts.tree.tokens > own.tokens {
            let cost = cost_in_words(facts.tree).unwrap_or_else(|| "$0".to_owned());
            parts.push(format!("with all agents {} tokens, {cost}", grouped(facts.tree.tokens)));
        }
        parts.push(format!("{:.1} s", facts.elapsed.as_secs_f64()));
        parts.push(format!("session {}", facts.session));
        printer.say_fitted(Tone::Note, &parts.join(" · "), 2);
        if !std::io::stdin().is_terminal() && !facts.denials.is_empty() {
            printer.say(Tone::Note, &format!("denied: {}", facts.denials.join(", ")));
        }
    }
}

pub(super) fn count(number: u64, word: &str) -> String {
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

pub(super) fn result(ended: &Ended, facts: &Facts, output: RunOutput) -> Value {
    // Nothing is known of the cost where no model has a price.
    let is_known = ended.cost.is_some() || facts.tree.cost > 0;
    let result = RunResult {
        success: ended.reason == Reason::Done,
        reason: reason(ended.reason),
        model: facts.model.clone(),
        session: facts.session.clone(),
        text: ended.text.clone(),
        turns: ended.turns,
        calls: facts.calls,
        denials: facts.denials.clone(),
        usage: (&ended.usage).into(),
        cost_usd: ended.whole_cost(),
        cost_is_estimated: ended.cost.is_some() && ended.usage.estimated,
        unpriced_tokens: ended.unpriced,
        tree_tokens: facts.tree.tokens,
        tree_cost_usd: facts.tree.whole_cost().filter(|_| is_known),
        tree_unpriced_tokens: facts.tree.unpriced,
        duration_ms: u64::try_from(facts.elapsed.as_millis()).unwrap_or(u64::MAX),
        error: facts.why.as_ref().map(|(code, message)| Fault::new(*code, message)),
    };
    let event = RunEvent::Result(Box::new(result));
    let line = Line { agent: Some(facts.agent.clone()), activation: Some(facts.id.clone()), event };
    let mut value = serde_json::to_value(line).unwrap_or_default();
    // One object that is all there is needs no type.
    if let (RunOutput::Json | RunOutput::Text, Value::Object(fields)) = (output, &mut value) {
        fields.remove("type");
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpost_core::model::Usage;

    #[test]
    fn what_a_tree_has_used_is_told() {
        let check = |reason: Reason, expected: &str| {
            let usage = Usage { input: 100, output: 50, ..Usage::default() };
            let ended = Ended {
                reason,
                text: String::new(),
                error: None,
                code: None,
                usage,
                cost: Some(0.01),
                unpriced: 0,
                turns: 1,
            };
            let limits = Limits { tokens: Some(1_500), cost: Some(0.5), ..Limits::default() };
            let told = why(&ended, &limits, Amount::new(1_350, Some(0.4))).map(|(_, told)| told);
            assert!(told.as_ref().is_some_and(|told| told.contains(expected)), "{told:?}");
        };
        check(Reason::Tokens, "its limit of 1,500 tokens (1,350 used)");
        check(Reason::Cost, "its limit of $0.5 ($0.40");
    }
}
