//! `bench`: runs the benchmarks in bench/ against a release build. It writes nothing.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::{executables, process};

const MANIFEST: &str = "bench/Cargo.toml";

/// Hands the path of the built executable and the names to the benchmarks.
pub(crate) fn run(root: &Path, names: &[&str]) -> Result<()> {
    if !root.join(MANIFEST).exists() {
        bail!("no {MANIFEST}");
    }
    let built =
        executables::build(root, &["build", "--release", "--locked", "-p", "toolpost", "--bin", "toolpost"])?;
    let toolpost = built.first().context("cargo built no executable `toolpost`")?;
    let arguments = ["run", "--release", "--manifest-path", MANIFEST, "--"];
    process::run(process::cargo(root, &arguments).arg(&toolpost.path).args(names))
}
