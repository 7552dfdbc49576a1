//! A small history of our own, in six languages: for tests, and for examples that a page can show.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;

/// Three states of the same files, each as one text with `//- path` before each file.
const STATES: [&str; 3] =
    [include_str!("corpus/first.txt"), include_str!("corpus/second.txt"), include_str!("corpus/third.txt")];

/// Makes a git checkout with these states as its commits, in a folder below this one.
pub(super) fn check_out(folder: &Path) -> Result<()> {
    let checkout = folder.join("corpus");
    fs::create_dir_all(&checkout)?;
    git(&checkout, &["init", "--quiet"])?;
    for state in STATES {
        for file in state.split("//- ").skip(1) {
            let (path, text) = file.split_once('\n').context("a file of the corpus has no text")?;
            fs::write(checkout.join(path), text)?;
        }
        git(&checkout, &["add", "--all"])?;
        git(&checkout, &["commit", "--quiet", "--no-verify", "--message", "A state"])?;
    }
    Ok(())
}

fn git(checkout: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    command.arg("-C").arg(checkout);
    command.args([
        "-c",
        "user.name=toolpost",
        "-c",
        "user.email=toolpost@example.com",
        "-c",
        "commit.gpgsign=false",
    ]);
    // The commits are the same on every day.
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        command.env(name, "2024-01-01T00:00:00Z");
    }
    process::run(command.args(arguments))
}
