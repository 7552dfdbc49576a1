//! Tests of the crate through its public names.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests set up the world around the crate by hand"
)]

mod agent_file;
mod aimock_server;
mod answers;
mod driver;
mod kernel;
mod model;
mod tree;
