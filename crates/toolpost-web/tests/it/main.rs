//! Saved pages and hostile ones, as a caller meets them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests read their data by hand"
)]

mod hostile;
mod pages;
