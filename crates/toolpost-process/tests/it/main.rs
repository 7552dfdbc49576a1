//! Real commands under the real launcher: this test program is its own, entered before the test harness starts.

#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

mod command;
mod guard;
mod kept;
#[path = "../../../toolpost-plugins/tests/it/load.rs"]
mod load;
mod sandbox;
mod scratch;
mod stage;

/// Runs before `main`, as the first line of a program's own `main` would.
#[unsafe(link_section = ".init_array")]
#[used]
static LAUNCHER: extern "C" fn() = {
    extern "C" fn hook() {
        toolpost_process::launcher::run_if_asked();
    }
    hook
};
