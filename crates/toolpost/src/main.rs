//! The `toolpost` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolpost::run()
}
