//! What a user of the crate could notice, through its public boundary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests too")]

mod executor;
mod registry;
mod repair;
mod stage;
