//! `accuracy`: the answers of the code engine beside those of real language servers, on clones of public repositories.
//!
//! The same questions are asked twice. `tools` asks as a model does: one `toolpost mcp` process, and its tools
//! `find_references` and `resolve_symbol` with file, line and column. `engine` asks the library, in an example of
//! `toolpost-code`, so that this package depends on none of ours.

mod options;
mod score;
mod tools;

use std::path::Path;

use anyhow::{Result, bail};

use crate::{executables, process};
use options::{Options, Way};

const LANGUAGES: [&str; 4] = ["go", "python", "rust", "typescript"];

/// Runs the measurement. It fails where a figure that must hold does not, if the oracle is the one in the tree.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::read(root, words)?;
    if options.way != Some(Way::Tools) {
        println!("by the library, at definitions:");
        let mut command = process::cargo(
            root,
            &["run", "--quiet", "--package", "toolpost-code", "--example", "accuracy", "--"],
        );
        command.arg("--repos").arg(&options.repos).arg("--oracle").arg(&options.oracle);
        command.arg("--misses").arg(options.misses.to_string());
        if let Some(language) = &options.language {
            command.args(["--lang", language]);
        }
        process::run(&mut command)?;
    }
    if options.way == Some(Way::Engine) {
        return Ok(());
    }
    let executable = match &options.executable {
        Some(path) => path.clone(),
        None => {
            let built = executables::build(root, &["build", "--package", "toolpost", "--bin", "toolpost"])?;
            match built.into_iter().find(|one| one.target == "toolpost") {
                Some(one) => one.path,
                None => bail!("cargo has built no program `toolpost`"),
            }
        }
    };
    println!("by the tools, at the places that the oracle names:");
    println!("{}", score::HEADING);
    let mut missing = Vec::new();
    for language in LANGUAGES {
        if options.language.as_deref().is_none_or(|only| only == language) {
            let score = tools::measure(&executable, language, &options)?;
            println!("{}", score.row(language));
            missing.extend(score.below_musts(language));
        }
    }
    if options.is_own_oracle && !missing.is_empty() {
        bail!("below what must hold: {}", missing.join(", "));
    }
    Ok(())
}
