//! `toolpost call`: one tool, once.

pub(super) mod arguments;
pub(super) mod named;

use crate::cli::Call as CallFlags;
use crate::config::flags::KeyFlags;
use crate::output::{Printer, Tone, on_terminal};
use crate::runtime::{Audience, MissingTool, Runtime, lack, outside_name, remedy, threads};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use toolpost_agent::agent_file::Loaded;
use toolpost_core::executor::{Agreed, Retry};
use toolpost_core::outcome::Metadata;
use toolpost_core::policy::Outlook;
use toolpost_core::text::nearest;
use toolpost_core::{Call, Code, Outcome, ToolError, Workspace};

pub(crate) fn run(runtime: Runtime, printer: &Printer, flags: &CallFlags) -> u8 {
    let threads = match threads() {
        Ok(threads) => threads,
        Err(error) => return print(&runtime, printer, flags, &refused(&flags.tool, error)),
    };
    let runtime = Arc::new(runtime);
    runtime.host.attach(&runtime, Audience::default());
    // A server's tool is written in the same way, and servers are named by the configuration.
    let of_server = !runtime.context.tools().sources_of(&flags.tool).is_empty();
    match flags.tool.rsplit_once('/').filter(|_| !of_server) {
        None => finish(threads, &runtime, printer, call(&runtime, printer, flags)),
        Some((agent, tool)) => match custom(&runtime, agent, tool) {
            Ok(tool) => {
                let (arguments, keys) = (flags.arguments.clone(), KeyFlags::default());
                let flags = &CallFlags { tool, arguments, keys, ..*flags };
                finish(threads, &runtime, printer, call(&runtime, printer, flags))
            }
            // The server may wait to be trusted, which is said with a tool that is not found.
            Err(error) if error.code() == Code::FileNotFound => {
                finish(threads, &runtime, printer, call(&runtime, printer, flags))
            }
            Err(error) => print(&runtime, printer, flags, &refused(&flags.tool, error)),
        },
    }
}

/// Offers a tool that an agent defines. Returns the name under which it can be called.
fn custom(runtime: &Arc<Runtime>, agent: &str, tool: &str) -> Result<String, ToolError> {
    let Loaded { agent: found, problems } = runtime.config.agent(agent)?;
    let Some(found) = found else {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(ToolError::new(Code::ValidationError, lines.join("\n")));
    };
    let names = found.prompt_tools.iter().map(|tool| tool.name.as_str());
    let name = outside_name(&found.name, tool).filter(|_| names.clone().any(|known| known == tool));
    let Some(name) = name else {
        let hint = match nearest(tool, names.clone(), 1).first() {
            Some(near) => format!("did you mean `{agent}/{near}`?"),
            None if found.prompt_tools.is_empty() => "it defines none".to_owned(),
            None => format!("it defines {}", names.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("the agent `{agent}` defines no tool `{tool}`; {hint}");
        return Err(ToolError::new(Code::ToolNotFound, message));
    };
    // The one of the file that is named, also where another agent has its name.
    runtime.context.tools().unregister(&name);
    runtime.offer_custom(&Arc::new(found));
    Ok(name)
}

/// Runs a call to its end, and whatever must end with it.
pub(super) fn finish<T>(
    threads: tokio::runtime::Runtime,
    runtime: &Runtime,
    printer: &Printer,
    call: impl Future<Output = T>,
) -> T {
    let result = threads.block_on(async {
        let result = call.await;
        if let Some(plugins) = &runtime.plugins {
            plugins.shutdown().await;
        }
        if let Err(error) = runtime.recorded().await {
            printer.say(Tone::Note, &format!("note: this call is not in the log: {}", error.message()));
        }
        result
    });
    // A tool that blocks its thread must not keep us here.
    threads.shutdown_timeout(Duration::from_millis(50));
    result
}

async fn call(runtime: &Runtime, printer: &Printer, flags: &CallFlags) -> u8 {
    let tool = match named::full_name(runtime, &flags.tool).await {
        Ok(tool) => tool,
        Err(error) => return print(runtime, printer, flags, &refused(&flags.tool, error)),
    };
    let (arguments, keys) = (flags.arguments.clone(), KeyFlags::default());
    let flags = &CallFlags { tool, arguments, keys, ..*flags };
    // What a server's tool takes is known when the server has started; of our own it is known at once.
    let agreed = match known(runtime, flags).await {
        Ok(agreed) => agreed,
        Err(error) => return print(runtime, printer, flags, &refused(&flags.tool, error)),
    };
    if runtime.context.tools().snapshot().find(&flags.tool, runtime.context.dialect()).is_err() {
        // It may be a tool of a server that cannot be used, or not yet.
        let notes = runtime.servers.notes();
        notes.iter().for_each(|note| printer.say(Tone::Note, &format!("note: {}", on_terminal(note))));
        if let Some(error) = runtime.untrusted_tool(&flags.tool) {
            return print(runtime, printer, flags, &refused(&flags.tool, error));
        }
    }
    let arguments = match arguments::parse(runtime, &flags.tool, &flags.arguments) {
        Ok(arguments) => arguments,
        Err(error) => return print(runtime, printer, flags, &refused(&flags.tool, error)),
    };
    if flags.check {
        return check(runtime, printer, flags, arguments);
    }
    let mut call = Call::new(&flags.tool, arguments)
        .agreed(agreed)
        .retry(Retry { attempts: flags.attempts, ..Retry::default() });
    if let Some(timeout) = runtime.config.timeout {
        call = call.timeout(timeout);
    }
    if flags.dry_run {
        call = call.dry_run();
    }
    let outcome = run_until_interrupted(runtime, call).await;
    let status = print(runtime, printer, flags, &outcome);
    if let (Err(error), false) = (&outcome.result, printer.is_json())
        && let Some(path) = from_root(runtime, error)
    {
        printer.say(
            Tone::Note,
            &format!("paths count from the root of the workspace: `{}`", on_terminal(&path)),
        );
    }
    status
}

/// The path from the root of a file that is not there, but is in the current folder.
fn from_root(runtime: &Runtime, error: &ToolError) -> Option<String> {
    let (Code::FileNotFound, Ok(disk)) = (error.code(), &runtime.config.workspace) else { return None };
    let path = error.details().get("path")?.as_str()?;
    let cwd = &runtime.config.cwd;
    let folder = cwd.strip_prefix(disk.root()).ok().filter(|folder| !folder.as_os_str().is_empty())?;
    cwd.join(path).exists().then(|| folder.join(path).to_string_lossy().into_owned())
}

/// Waits for the server that a tool may be of, or for somebody who wants this process to end. A call that the policy
/// denies, or the person, starts nothing; nor does a check of one that would ask.
async fn known(runtime: &Runtime, flags: &CallFlags) -> Result<Option<Agreed>, ToolError> {
    let tool = &flags.tool;
    if runtime.plugins.is_none() {
        return Ok(None);
    }
    let words = serde_json::Value::from(flags.arguments.clone());
    if flags.check && !asks_nobody(runtime, tool)? {
        return Ok(None);
    }
    let mut call = Call::new(tool, words);
    if flags.dry_run {
        call = call.dry_run();
    }
    tokio::select! {
        known = runtime.executor.awaited(&runtime.context, &call) => known,
        () = interrupted() => Err(ToolError::new(Code::Interrupted, format!("`{tool}` was interrupted"))),
    }
}

/// Whether the policy allows a tool, whose server may have yet to start, without asking.
fn asks_nobody(runtime: &Runtime, tool: &str) -> Result<bool, ToolError> {
    let snapshot = runtime.context.tools().snapshot();
    if snapshot.find(tool, runtime.context.dialect()).is_ok() {
        return Ok(true);
    }
    if runtime.context.tools().sources_of(tool).is_empty() {
        return Ok(true);
    }
    match runtime.executor.validate(&runtime.context, tool, json!({})) {
        Ok(checked) => Ok(matches!(checked.effect, Outlook::Allow | Outlook::Limited)),
        // It is allowed, and there once its server has started.
        Err(error) if error.code() == Code::ToolNotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Ctrl-C and SIGTERM cancel the call, so that the tool can clean up; its outcome then says so.
pub(super) async fn run_until_interrupted(runtime: &Runtime, call: Call) -> Outcome {
    let running = runtime.executor.run(&runtime.context, call);
    tokio::pin!(running);
    tokio::select! {
        outcome = &mut running => outcome,
        () = interrupted() => {
            runtime.cancel.cancel();
            let mut outcome = running.await;
            if outcome.result.as_ref().is_err_and(|error| error.code() == Code::Cancelled) {
                outcome.result =
                    Err(ToolError::new(Code::Interrupted, format!("`{}` was interrupted", outcome.tool)));
            }
            outcome
        }
    }
}

/// Returns when somebody wants this process to end.
pub(super) async fn interrupted() {
    stop_signal().await;
}

/// Who wants this process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopSignal {
    /// The person at the terminal, by Ctrl-C.
    Interrupt,
    /// The system, or another program, by SIGTERM.
    Terminate,
}

/// Waits for Ctrl-C or SIGTERM.
pub(super) async fn stop_signal() -> StopSignal {
    use tokio::signal::unix::{SignalKind, signal};
    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(mut interrupt), Ok(mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => StopSignal::Interrupt,
                _ = terminate.recv() => StopSignal::Terminate,
            }
        }
        // Without handlers the signals end the process, as they do by default.
        _ => std::future::pending().await,
    }
}

fn check(runtime: &Runtime, printer: &Printer, flags: &CallFlags, arguments: serde_json::Value) -> u8 {
    let redactor = runtime.context.redactor();
    match runtime.executor.validate(&runtime.context, &flags.tool, arguments) {
        Ok(checked) => {
            match printer.is_json() {
                true => printer.json(&redactor.redact_json(json!({"success": true, "check": checked}))),
                false => {
                    for repair in &checked.repairs {
                        printer.say(Tone::Note, &redactor.redact(&format!("repaired {repair}")));
                    }
                    let touched: Vec<String> = checked.accesses.iter().map(ToString::to_string).collect();
                    let touched = if touched.is_empty() { "nothing".to_owned() } else { touched.join(", ") };
                    let touched = redactor.redact(&touched);
                    let (tool, effect) = (&checked.tool, checked.effect);
                    let foreseen = redactor.redact(&checked.foreseen.to_string()).into_owned();
                    let more = on_terminal(foreseen.trim_end());
                    printer
                        .data(&format!("`{tool}` fits; the policy says {effect}; it would {touched}{more}"));
                }
            }
            0
        }
        Err(error) => print(runtime, printer, flags, &refused(&flags.tool, error.redacted(redactor))),
    }
}

fn refused(tool: &str, error: ToolError) -> Outcome {
    Outcome {
        tool: tool.to_owned(),
        call_id: String::new(),
        result: Err(error),
        metadata: Metadata::default(),
    }
}

fn print(runtime: &Runtime, printer: &Printer, flags: &CallFlags, outcome: &Outcome) -> u8 {
    if printer.is_json() {
        printer.json(&outcome.to_json());
        return outcome.exit_status();
    }
    for repair in &outcome.metadata.repairs {
        printer.say(Tone::Note, &format!("repaired {repair}"));
    }
    match &outcome.result {
        Ok(output) => {
            printer.data(&output.text);
            for attachment in &output.attachments {
                let (name, kind) = (&attachment.filename, &attachment.media_type);
                printer.say(Tone::Note, &format!("attached {name} ({kind}); --json has its bytes"));
            }
            if flags.dry_run {
                print_dry_run(printer, outcome);
            }
        }
        Err(error) => {
            printer.error(error);
            if error.code() == Code::ToolNotFound {
                printer.say(
                    Tone::Note,
                    &elsewhere(runtime, &outcome.tool)
                        .unwrap_or_else(|| "`toolpost tools` lists the tools".into()),
                );
            } else if error.code() == Code::ValidationError && !outcome.tool.contains("__") {
                printer
                    .say(Tone::Note, &format!("`toolpost tools show {}` tells what it takes", outcome.tool));
            } else if error.code() == Code::RoleForbidden {
                printer.say(Tone::Note, "`--role worker` or `--role orchestrator` sets the role");
            } else if error.code() == Code::PathEscape {
                printer.say(Tone::Note, "`--workspace DIR` adds a folder to the workspace");
            }
        }
    }
    outcome.exit_status()
}

/// What a built-in tool needs that is not here, and how to get it.
fn elsewhere(runtime: &Runtime, name: &str) -> Option<String> {
    let MissingTool { spec, why } = runtime.missing_tool(name)?;
    Some(format!("`{}` {}: {}", spec.name, lack(&why), remedy(&why)))
}

fn print_dry_run(printer: &Printer, outcome: &Outcome) {
    let changes =
        outcome.metadata.dry_run.as_ref().map(|dry_run| dry_run.changes.as_slice()).unwrap_or_default();
    if changes.is_empty() {
        printer.say(Tone::Note, "dry run: no file would change");
    }
    for change in changes {
        printer.say(Tone::Note, &format!("dry run: would {} {}", change.kind, change.path));
    }
}
