//! Other people's servers, good and bad, as real programs under the real launcher, called through the executor.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    unsafe_code,
    reason = "tests set up the world around the servers by hand, and say what they measured"
)]

mod bad;
#[path = "../../../toolpost-core/tests/it/fixed.rs"]
mod fixed;
mod good;
mod helper;
mod http;
mod load;
mod stage;

/// This test program starts servers as a program does that calls this first in `main`.
#[unsafe(link_section = ".init_array")]
#[used]
static LAUNCHER: extern "C" fn() = {
    extern "C" fn hook() {
        toolpost_process::launcher::run_if_asked();
        helper::run_if_asked();
    }
    hook
};
