//! `accuracy`: the answers of the code engine beside those of real language servers, on clones of public repositories.
//! The measurement itself is an example of `toolpost-code`, so that this package depends on none of ours.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

const USAGE: &str =
    "`accuracy` needs `--repos DIR` with clones in DIR/go, DIR/python, DIR/rust and DIR/typescript";

/// Runs the measurement; the oracle is the one in the tree unless `--oracle DIR` names another.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    if !words.contains(&"--repos") {
        bail!(USAGE);
    }
    let oracle = root.join("crates/toolpost-code/oracle");
    let mut command = Command::new("cargo");
    command.current_dir(root);
    command.args(["run", "--quiet", "--package", "toolpost-code", "--example", "accuracy", "--"]);
    if !words.contains(&"--oracle") {
        command.arg("--oracle").arg(oracle);
    }
    let status = command.args(words).status().context("cargo does not start")?;
    if !status.success() {
        bail!("the measurement ended with {status}");
    }
    Ok(())
}
