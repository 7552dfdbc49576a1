//! The `toolpost` command.

use mimalloc::MiMalloc;
use std::process::ExitCode;
use toolpost_process::LargePages;

// A call makes some hundreds of small values, many of which end in another thread than they began in. Whole files are held in
// memory too, and most of the time for a large one would go into touching it the first time.
#[global_allocator]
static MEMORY: LargePages<MiMalloc> = LargePages(MiMalloc);

fn main() -> ExitCode {
    // Before anything else: this process may be the one that starts commands for another.
    toolpost_process::launcher::run_if_asked();
    toolpost::run()
}
