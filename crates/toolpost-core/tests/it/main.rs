//! What a user of the crate could notice, through its public interface.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests set up the world around the crate by hand, and say what they measured"
)]

mod dialect;
mod executor;
mod fixed;
mod guide;
mod library;
#[path = "../../../toolpost-plugins/tests/it/load.rs"]
mod load;
mod pack;
mod policy;
mod registry;
mod repair;
mod stage;
