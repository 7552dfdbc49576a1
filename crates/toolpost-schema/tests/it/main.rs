//! The validator against the official test suite of JSON Schema, against another validator, and against hostile input.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests set up the world by hand, and say what they measured"
)]

mod differential;
mod generate;
mod hostile;
#[path = "../../../toolpost/tests/it/installed.rs"]
#[allow(dead_code, reason = "these tests need no programs, only a package's sources")]
mod installed;
mod suite;

use std::path::{Path, PathBuf};

/// The root of this repository.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// How many rounds to run: the normal count, or the soak count with `TOOLPOST_SOAK=1`.
pub(crate) fn rounds(normal: u64, soak: u64) -> u64 {
    if std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1") { soak } else { normal }
}
