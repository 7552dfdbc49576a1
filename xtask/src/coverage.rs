//! `coverage`: how many lines of the two crates that hold the product's logic are reached by their tests. It prints
//! and judges nothing: a number below the goal asks for a look, not for a test that merely walks through lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::metadata::{Metadata, Scope};
use crate::process;

const CRATES: [&str; 2] = ["toolpost-core", "toolpost-tools"];
const GOAL: f64 = 85.0;

/// Measures with `cargo tarpaulin`, which is installed first where it is missing.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = Metadata::load(root, Scope::Workspace)?;
    if let Some(missing) =
        CRATES.iter().find(|name| !metadata.packages.iter().any(|package| package.name == **name))
    {
        bail!("no crate `{missing}` in the workspace");
    }
    if process::capture_quietly(&mut process::cargo(root, &["tarpaulin", "--version"])).is_none() {
        println!("installing cargo-tarpaulin, once");
        process::run(&mut process::cargo(root, &["install", "cargo-tarpaulin", "--locked"]))?;
    }
    let folder = metadata.target_directory.join("coverage");
    fs::create_dir_all(&folder)?;
    let mut command = process::cargo(root, &["tarpaulin", "--engine", "llvm", "--skip-clean", "--locked"]);
    command.arg("--target-dir").arg(&folder).args(["--out", "Json", "--output-dir"]).arg(&folder);
    for name in CRATES {
        command.args(["-p", name]);
    }
    process::run(&mut command)?;

    let path = folder.join("tarpaulin-report.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let report: Report = serde_json::from_str(&text).context("the report of tarpaulin is not as expected")?;
    println!("\nlines reached by tests (goal {GOAL} %)");
    for (name, lines) in lines_by_crate(&report) {
        println!("{:>6.1} %  {name}  ({} of {})", lines.percent(), lines.reached, lines.all);
    }
    Ok(())
}

#[derive(Deserialize)]
struct Report {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    /// The parts of the file's path.
    path: Vec<String>,
    covered: usize,
    coverable: usize,
}

#[derive(Debug, Default, PartialEq)]
struct Lines {
    reached: usize,
    all: usize,
}

impl Lines {
    fn percent(&self) -> f64 {
        if self.all == 0 {
            return 0.0;
        }
        100.0 * self.reached as f64 / self.all as f64
    }
}

fn lines_by_crate(report: &Report) -> BTreeMap<&'static str, Lines> {
    let mut crates: BTreeMap<_, _> = CRATES.map(|name| (name, Lines::default())).into();
    for file in &report.files {
        let is_source_of = |name: &str| file.path.windows(3).any(|parts| *parts == ["crates", name, "src"]);
        let Some(name) = CRATES.into_iter().find(|name| is_source_of(name)) else { continue };
        let lines = crates.entry(name).or_default();
        lines.reached += file.covered;
        lines.all += file.coverable;
    }
    crates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_summed_for_each_crate_and_other_files_left_out() {
        let report: Report = serde_json::from_str(
            r#"{"files":[
                {"path":["/","x","crates","toolpost-core","src","a.rs"],"covered":1,"coverable":2,"traces":[]},
                {"path":["/","x","crates","toolpost-core","src","b.rs"],"covered":3,"coverable":4},
                {"path":["/","x","crates","toolpost-core","tests","it","a.rs"],"covered":9,"coverable":9},
                {"path":["/","x","crates","toolpost-tools","src","a.rs"],"covered":5,"coverable":5},
                {"path":["/","x","xtask","src","main.rs"],"covered":7,"coverable":7}]}"#,
        )
        .unwrap();
        let crates = lines_by_crate(&report);
        assert_eq!(crates["toolpost-core"], Lines { reached: 4, all: 6 });
        assert_eq!(crates["toolpost-tools"], Lines { reached: 5, all: 5 });
        assert_eq!(crates["toolpost-tools"].percent(), 100.0);
    }
}
