//! `toolpost completions`: what a shell needs to complete our words.

use crate::cli::Cli;
use crate::output::Printer;
use clap::CommandFactory;
use clap_complete::{Shell, generate};

pub(crate) fn run(printer: &Printer, shell: Shell) -> u8 {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "toolpost", &mut script);
    printer.page(&String::from_utf8_lossy(&script));
    0
}
