//! Where the parts of toolpost are joined: configuration, the runtime, the command line.
//!
//! Nothing here runs a tool by itself; that is the executor's work.

pub mod cli;
mod commands;
pub mod config;
mod output;
mod runtime;

pub use runtime::Runtime;

use clap::Parser;
use cli::{Cli, Command};
use config::Config;
use output::Printer;
use std::process::ExitCode;

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let environment = config::env::Environment::read();
    let printer = Printer::new(cli.flags.json, &environment);
    let status = match &cli.command {
        Command::Completions { shell } => commands::completions::run(&printer, *shell),
        Command::Internal { command } => commands::internal::run(&printer, command),
        Command::Call(call) => with_runtime(&cli.flags, environment, &printer, |runtime| {
            commands::call::run(runtime, &printer, call)
        }),
        Command::Tools { command } => with_runtime(&cli.flags, environment, &printer, |runtime| {
            commands::tools::run(runtime, &printer, command.as_ref())
        }),
        Command::Packs => with_runtime(&cli.flags, environment, &printer, |runtime| {
            commands::packs::run(&runtime, &printer)
        }),
    };
    ExitCode::from(status)
}

/// Resolves the configuration, opens the runtime and hands it to a command.
fn with_runtime(
    flags: &cli::Flags,
    environment: config::env::Environment,
    printer: &Printer,
    command: impl FnOnce(Runtime) -> u8,
) -> u8 {
    let runtime =
        Config::resolve(flags, environment).and_then(|config| Runtime::open(&config, printer.progress()));
    match runtime {
        Ok(runtime) => command(runtime),
        Err(error) => printer.invocation_error(&error),
    }
}
