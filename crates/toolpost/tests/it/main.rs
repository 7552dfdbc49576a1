//! What a user of the command line could notice.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests set up the world around the binary by hand"
)]

mod dialects;
mod packs;
