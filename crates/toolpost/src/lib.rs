//! Where the parts of toolpost are joined: configuration, the runtime, the command line.
//!
//! Nothing here runs a tool by itself; that is the executor's work.

mod advice;
mod calendar;
mod call_id;
pub mod cli;
#[cfg(feature = "code")]
mod code_engine;
mod commands;
pub mod config;
mod confirm;
mod output;
mod record;
mod runtime;
#[cfg(feature = "code")]
mod syntax;
mod undo;

pub use runtime::{AgentTools, Frontend, Runtime, ServerChoice};

use clap::error::{ContextKind, ContextValue};
use cli::{Cli, Command, Flags};
use config::Config;
use config::env::Environment;
use output::{Printer, Tone};
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use toolpost_core::host::Redactor;
use toolpost_core::{Code, ToolError};
use toolpost_server::Extension;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    run_with(std::env::args_os().collect(), None)
}

/// Runs a command line, whose first word is the program. For programs that add something of their own to the server of
/// `toolpost mcp`.
pub fn run_with(words: Vec<OsString>, extension: Option<Arc<dyn Extension>>) -> ExitCode {
    let cli = match Cli::read(&words) {
        Ok(cli) => cli,
        Err(error) => return refuse(&words, with_advice(error)),
    };
    let environment = Environment::read();
    let printer = Printer::new(cli.flags.json, &environment);
    if let Command::Tools { command: Some(cli::Tools::Call { .. }) } = &cli.command {
        printer.hold_notes();
    }
    let secrets = Redactor::new(environment.secrets.iter().cloned());
    let log = environment.log.as_deref();
    if let Err(error) = output::followed::begin(cli.flags.verbose, log, cli.flags.json, secrets) {
        return ExitCode::from(printer.invocation_error(&error));
    }
    let flags = cli.all_flags();
    let status = match &cli.command {
        Command::Completions { shell } => commands::completions::run(&printer, *shell),
        Command::Internal { command } => commands::internal::run(&printer, command),
        Command::Init { user } => commands::init::run(&printer, &flags, &environment, *user),
        Command::Trust(trust) => commands::trust::run(&printer, &flags, environment, trust),
        Command::Doctor { all } => {
            let detail = match all {
                true => commands::doctor::Detail::All,
                false => commands::doctor::Detail::Summary,
            };
            commands::doctor::run(&printer, &flags, environment, detail)
        }
        Command::Mcp(mcp) => commands::mcp::run(&printer, &flags, environment, mcp, extension),
        Command::Call(call) => {
            // A check does nothing that could be kept.
            let records = if call.check { Records::No } else { Records::Yes };
            with_runtime(&flags, environment, &printer, records, |runtime| {
                commands::call::run(runtime, &printer, call)
            })
        }
        Command::Refs(refs) => with_runtime(&flags, environment, &printer, Records::Yes, |runtime| {
            commands::refs::run(runtime, &printer, refs)
        }),
        Command::Map(map) => with_runtime(&flags, environment, &printer, Records::Yes, |runtime| {
            commands::map::run(runtime, &printer, map)
        }),
        Command::Graph(graph) => with_runtime(&flags, environment, &printer, Records::Yes, |runtime| {
            commands::graph::run(runtime, &printer, graph)
        }),
        Command::Run(run) => commands::run::run(&printer, &flags, environment, &run.wanted(), run.output),
        Command::Chat(chat) => commands::chat::run(&printer, &flags, environment, chat),
        Command::Agents { command } => {
            // Agents may name the tools that start others.
            let frontend = Frontend { agents: AgentTools::Always, ..this_program() };
            match open(&flags, environment, &printer, frontend) {
                Ok(runtime) => commands::agents::run(&runtime, &printer, command.as_ref()),
                Err(error) => printer.invocation_error(&error),
            }
        }
        Command::Log(log) => commands::log::run(&printer, &flags, environment, log),
        Command::Sessions { command } => match command.as_ref().and_then(cli::SessionsCommand::run) {
            Some((wanted, output)) => commands::run::run(&printer, &flags, environment, &wanted, output),
            None => commands::sessions::run(&printer, &flags, environment, command.as_ref()),
        },
        Command::Stats(stats) => commands::stats::run(&printer, &flags, environment, stats),
        Command::Tasks { command } => commands::tasks::run(&printer, &flags, environment, command.as_ref()),
        Command::Gc => commands::gc::run(&printer, &flags, environment),
        Command::Undo(undo) => commands::undo::run(&printer, &flags, environment, undo, false),
        Command::Redo(redo) => commands::undo::run(&printer, &flags, environment, redo, true),
        Command::Vfs { command } => commands::vfs::run(&printer, &flags, environment, command),
        Command::Policy { command } => with_runtime(&flags, environment, &printer, Records::No, |runtime| {
            commands::policy::run(&runtime, &printer, command)
        }),
        Command::Tools { command } => {
            let records = match command {
                Some(cli::Tools::Call { .. }) => Records::Yes,
                _ => Records::No,
            };
            with_runtime(&flags, environment, &printer, records, |runtime| {
                commands::tools::run(runtime, &printer, command.as_ref())
            })
        }
        Command::Packs => with_runtime(&flags, environment, &printer, Records::No, |runtime| {
            commands::packs::run(&runtime, &printer)
        }),
    };
    match printer.has_lost_data() {
        true => ExitCode::from(status.max(1)),
        false => ExitCode::from(status),
    }
}

/// A name of a tool where a command is wanted is advised to `call`.
fn with_advice(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if word.is_empty() || toolpost_tools::names().tool(word).is_none() {
        return error;
    }
    let tip = format!("`{word}` is a tool: run it with `toolpost call {word}`");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// A command line that makes no sense. A program that asked for JSON gets this as JSON too.
fn refuse(words: &[OsString], error: clap::Error) -> ExitCode {
    let has = |wanted: &str| words.iter().take_while(|word| *word != "--").any(|word| word == wanted);
    let streams = has("stream-json") || has("--output=stream-json");
    let asks_for_json = has("--json") || streams;
    if !(error.use_stderr() && asks_for_json) {
        error.exit();
    }
    let text = error.render().to_string();
    let message = text.split("\n\nUsage:").next().unwrap_or_default().trim().trim_start_matches("error: ");
    let printer = Printer::new(asks_for_json, &Environment::read());
    let error = ToolError::new(Code::ValidationError, message);
    ExitCode::from(match streams {
        true => printer.refused_stream(&error),
        false => printer.invocation_error(&error),
    })
}

/// Whether what a command does is written into the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Records {
    Yes,
    No,
}

/// Hands a command the runtime of the command line: progress on the terminal, and the person there to ask.
fn with_runtime(
    flags: &Flags,
    environment: Environment,
    printer: &Printer,
    records: Records,
    command: impl FnOnce(Runtime) -> u8,
) -> u8 {
    let confirm = Arc::new(confirm::Terminal::new(flags.yes, printer));
    let records = records == Records::Yes;
    let frontend = Frontend { events: printer.progress(), confirm, records, ..this_program() };
    match open(flags, environment, printer, frontend) {
        Ok(runtime) => command(runtime),
        Err(error) => printer.invocation_error(&error),
    }
}

/// Resolves the configuration, opens the runtime and says what the user should hear.
fn open(
    flags: &Flags,
    environment: Environment,
    printer: &Printer,
    frontend: Frontend,
) -> Result<Runtime, ToolError> {
    let config = Config::resolve(flags, environment)?;
    let runtime = Runtime::open(config, frontend)?;
    runtime.notes.iter().for_each(|note| printer.say(Tone::Note, &format!("note: {note}")));
    Ok(runtime)
}

/// What every command of this program has. Only here is it known to be `toolpost`, and so its own helper.
fn this_program() -> Frontend {
    Frontend { pdf: commands::internal::pdf_helper(), ..Frontend::default() }
}
