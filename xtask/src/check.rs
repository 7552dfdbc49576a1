//! `check`: exactly what CI runs, in one order, up to the first failure.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::{docs, licences, other_systems, process, test, tidy};

/// Where to begin.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    First,
    /// At the step of this name, to resume after a failure.
    At(&'a str),
}

struct Step {
    name: &'static str,
    /// What to type to run this step and no other.
    alone: &'static str,
    run: fn(&Path) -> Result<()>,
}

/// The workspace of the benchmarks.
const BENCHMARKS: &str = "bench/Cargo.toml";

const STEPS: [Step; 10] = [
    Step { name: "format", alone: "cargo fmt --all --check", run: format },
    Step { name: "tidy", alone: "cargo xtask tidy", run: tidy::run },
    Step { name: "licences", alone: "cargo xtask licences", run: licences::run },
    Step {
        name: "clippy",
        alone: "cargo clippy --workspace --all-targets --locked -- -D warnings",
        run: clippy,
    },
    Step {
        name: "benchmarks",
        alone: "cargo clippy --manifest-path bench/Cargo.toml --target-dir target --locked -- -D warnings",
        run: benchmarks,
    },
    Step { name: "other-systems", alone: "cargo xtask check --from other-systems", run: other_systems::run },
    Step { name: "test", alone: "cargo xtask test", run: |root| test::run(root, test::Selection::All) },
    Step { name: "doc-tests", alone: "cargo test --doc --workspace --locked", run: doc_tests },
    Step {
        name: "docs",
        alone: "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked",
        run: rustdoc,
    },
    Step { name: "reference", alone: "cargo xtask docs --check", run: docs::check },
];

/// Runs the steps; an error that names the one that failed and how to run it alone.
pub(crate) fn run(root: &Path, start: Start) -> Result<()> {
    let mut times = Vec::new();
    for step in from(start)? {
        println!("\n=== {}", step.name);
        let begin = Instant::now();
        let result = (step.run)(root);
        times.push((step.name, begin.elapsed()));
        if let Err(error) = result {
            print_times(&times);
            eprintln!("error: {error:#}");
            bail!(
                "step `{name}` failed; alone: `{alone}`; resume: `cargo xtask check --from {name}`",
                name = step.name,
                alone = step.alone
            );
        }
    }
    print_times(&times);
    println!("every step passed");
    Ok(())
}

fn from(start: Start) -> Result<&'static [Step]> {
    let Start::At(name) = start else { return Ok(&STEPS) };
    match STEPS.iter().position(|step| step.name == name) {
        Some(index) => Ok(&STEPS[index..]),
        None => bail!("no step `{name}`; there are {}", STEPS.map(|step| step.name).join(", ")),
    }
}

fn print_times(times: &[(&str, Duration)]) {
    println!();
    for (name, time) in times {
        println!("{:>9.1} s  {name}", time.as_secs_f64());
    }
}

fn format(root: &Path) -> Result<()> {
    process::run(&mut process::cargo(root, &["fmt", "--all", "--check"]))?;
    process::run(&mut process::cargo(root, &["fmt", "--manifest-path", BENCHMARKS, "--check"]))
}

fn clippy(root: &Path) -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    process::run(&mut process::cargo(root, &arguments))
}

/// They are a workspace of their own, so that the other steps do not see them. The folder of build results is shared.
fn benchmarks(root: &Path) -> Result<()> {
    let shared = ["--target-dir", "target", "--locked"];
    let mut command = process::cargo(root, &["clippy", "--manifest-path", BENCHMARKS]);
    process::run(command.args(shared).args(["--", "-D", "warnings"]))
}

fn doc_tests(root: &Path) -> Result<()> {
    process::run(&mut process::cargo(root, &["test", "--doc", "--workspace", "--locked"]))
}

fn rustdoc(root: &Path) -> Result<()> {
    let arguments = ["doc", "--workspace", "--no-deps", "--locked"];
    process::run(process::cargo(root, &arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(start: Start) -> Vec<&'static str> {
        from(start).unwrap().iter().map(|step| step.name).collect()
    }

    #[test]
    fn a_run_can_be_resumed() {
        assert_eq!(names(Start::First).len(), STEPS.len());
        assert_eq!(names(Start::At("doc-tests")), ["doc-tests", "docs", "reference"]);
    }

    #[test]
    fn an_unknown_step_is_refused_with_the_list() {
        let Err(error) = from(Start::At("lint")) else { panic!("`lint` is no step") };
        assert!(error.to_string().starts_with("no step `lint`; there are format, tidy"));
    }
}
