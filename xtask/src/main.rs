//! The developer's commands of this repository, run as `cargo xtask`. Nothing here is part of the product, and it
//! depends on none of the product's crates, so that it builds in seconds.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool starts cargo, reads the tree and talks on the terminal"
)]

mod accuracy;
mod bench;
mod check;
mod coverage;
mod daily;
mod docs;
mod edit_judge;
mod edits;
mod hosts;
mod licences;
mod other_systems;
mod pages;
mod recorded;
mod soak;
mod test;
mod tidy;

mod executables;
mod mcp_server;
mod metadata;
mod process;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "\
cargo xtask COMMAND

  check [--from STEP]   what CI runs: format, tidy, licences, lint, other systems, test, docs
  test [FILTER]         every test, the ten slowest, and how many passed
  tidy                  the rules of this tree that no compiler checks
  licences              the licence of every dependency
  docs [--check]        write docs/reference/, or say whether it is current
  bench [NAME]          the benchmarks, against a release build
  soak [ROW]            the guarantees at full count; figures go to docs/measurements.md
  hosts                 what agent hosts show their model; the table goes to docs/guide/mcp.md
  edits [--cases N]     edits and patches on the history of real packages, against the true files
  edit-judge --repos DIR
                        noisy edits and patches from the commits of git checkouts; --cases N, --seed S, --kind NAME,
                        --binary FILE, --findings DIR, --peers, --write
  recorded --calls FILE the edits of recorded sessions once more; --binary FILE, --findings DIR, --write
  daily [--write]       the command lines of daily work, in the sandbox and in a plain shell
  accuracy --repos DIR  the code engine's answers beside those of language servers; --lang NAME, --oracle DIR,
                        --path tools|engine, --executable FILE, --misses N
  pages                 saved pages as markdown, beside two peers; the table goes to docs/measurements.md
  coverage              the lines that tests reach, for each crate
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    let root = root()?;
    match words {
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        ["check"] => check::run(&root, check::Start::First),
        ["check", "--from", step] => check::run(&root, check::Start::At(step)),
        ["test"] => test::run(&root, test::Selection::All),
        ["test", filter] => test::run(&root, test::Selection::Matching(filter)),
        ["tidy"] => tidy::run(&root),
        ["licences"] => licences::run(&root),
        ["docs"] => docs::write(&root),
        ["docs", "--check"] => docs::check(&root),
        ["bench", names @ ..] => bench::run(&root, names),
        ["soak"] => soak::run(&root, soak::Selection::All),
        ["soak", row] => {
            let row = row.parse().with_context(|| format!("`{row}` is no row of the guarantees"))?;
            soak::run(&root, soak::Selection::Row(row))
        }
        ["hosts"] => hosts::run(&root),
        ["edits", words @ ..] => edits::run(&root, words),
        ["edit-judge", words @ ..] => edit_judge::run(&root, words),
        ["recorded", words @ ..] => recorded::run(&root, words),
        ["daily", words @ ..] => daily::run(&root, words),
        ["accuracy", words @ ..] => accuracy::run(&root, words),
        ["pages"] => pages::run(&root),
        ["coverage"] => coverage::run(&root),
        _ => bail!("unknown command or arguments `{}`\n\n{USAGE}", words.join(" ")),
    }
}

/// The folder of the repository: cargo names this package's own folder, which lies directly below it.
fn root() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
    let root = Path::new(&package).parent().context("the package `xtask` lies at the root of the disk")?;
    Ok(root.to_path_buf())
}
