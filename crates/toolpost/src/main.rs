//! The `toolpost` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: this process may be the one that starts commands for another.
    toolpost_process::launcher::run_if_asked();
    toolpost::run()
}
