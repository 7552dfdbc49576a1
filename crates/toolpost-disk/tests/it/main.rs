//! What a user of the crate could notice, through its public interface.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests set up the world around the crate by hand, and say what they measured"
)]

#[path = "../../../toolpost-core/tests/it/fixed.rs"]
mod fixed;
mod ground;
#[path = "../../../toolpost-plugins/tests/it/load.rs"]
mod load;
mod protected;
mod restore;
#[allow(dead_code, reason = "of the stage that core's tests play on, some is needed here")]
#[path = "../../../toolpost-core/tests/it/stage.rs"]
mod stage;
mod turns;
mod workspace;
