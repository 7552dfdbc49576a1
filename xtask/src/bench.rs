//! `bench`: runs the benchmarks in bench/ against a release build, and `pages`, whose peers are of npm and PyPI. It writes
//! nothing.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::{executables, pages, process};

const MANIFEST: &str = "bench/Cargo.toml";

/// Hands the path of the built executable and the names to the benchmarks.
pub(crate) fn run(root: &Path, names: &[&str]) -> Result<()> {
    if !root.join(MANIFEST).exists() {
        bail!("no {MANIFEST}");
    }
    let (of_pages, others): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| **name == "pages");
    let is_all = names.iter().all(|name| name.starts_with("--"));
    if !others.is_empty() || is_all {
        run_others(root, &others)?;
    }
    if !of_pages.is_empty() || is_all {
        print!("{}", pages::measure(root)?);
    }
    Ok(())
}

fn run_others(root: &Path, names: &[&str]) -> Result<()> {
    let built =
        executables::build(root, &["build", "--release", "--locked", "-p", "toolpost", "--bin", "toolpost"])?;
    let toolpost = built.first().context("cargo built no executable `toolpost`")?;
    let arguments = ["run", "--release", "--manifest-path", MANIFEST, "--"];
    process::run(process::cargo(root, &arguments).arg(&toolpost.path).args(names))
}
