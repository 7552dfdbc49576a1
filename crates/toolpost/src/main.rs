//! The `toolpost` command.

use std::process::ExitCode;
use toolpost_process::LargePages;

// Whole files are held in memory, and most of the time for a large one would go into touching it the first time.
#[global_allocator]
static MEMORY: LargePages = LargePages;

fn main() -> ExitCode {
    // Before anything else: this process may be the one that starts commands for another.
    toolpost_process::launcher::run_if_asked();
    toolpost::run()
}
