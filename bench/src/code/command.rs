//! The command line: a process for each question, which finds the index on disk, compares the files with it, and answers.

use crate::process::{Ran, Runs, wait};
use crate::report::{Table, Unit};
use crate::search::quiet;
use anyhow::{Context as _, Result, ensure};
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

const ROUNDS: usize = 7;

const COLD: &str = "toolpost refs, nothing indexed";
const WARM: &str = "toolpost refs, nothing changed";
const EDITED: &str = "toolpost refs, one file edited";

/// Asks for the uses of a new function of one file.
pub(super) fn measure(toolpost: &Path, folder: &Path, size: &str) -> Result<Table> {
    let toolpost =
        toolpost.canonicalize().with_context(|| format!("no executable `{}`", toolpost.display()))?;
    let home = tempfile::tempdir()?;
    let place = folder.join("asked_by_the_benchmark.rs");
    let write = |number: usize| {
        std::fs::write(
            &place,
            format!("pub fn asked_{number}_of() {{}}\nfn calls() {{ asked_{number}_of() }}\n"),
        )
    };
    let ask = |number: usize| -> Result<Ran> {
        let name = format!("asked_{number}_of");
        let mut command = quiet(&toolpost, &["refs", &name], folder, home.path());
        let started = Instant::now();
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut text = String::new();
        child.stdout.take().context("no stdout")?.read_to_string(&mut text)?;
        let (status, cpu, peak_kib) = wait(child)?;
        let ran = Ran { time: started.elapsed(), cpu, peak_kib };
        ensure!(status == 0, "`toolpost refs` had wait status {status}");
        ensure!(text.contains(&format!("calls() {{ {name}() }}")), "`toolpost refs` answered `{text}`");
        Ok(ran)
    };
    let mut runs: [Runs; 3] = Default::default();
    let measured = (|| -> Result<()> {
        write(0)?;
        runs[0].add(ask(0)?);
        // A file that was written a moment ago is read again each time.
        std::thread::sleep(std::time::Duration::from_secs(3));
        for number in 0..ROUNDS {
            runs[1].add(ask(number)?);
            write(number + 1)?;
            runs[2].add(ask(number + 1)?);
        }
        Ok(())
    })();
    std::fs::remove_file(&place)?;
    measured?;
    let mut table = Table::new(format!("code: one process for each question, {size}"), Unit::Millis);
    let [cold, warm, edited] = runs;
    let peak = cold.peak_kib.max(warm.peak_kib).max(edited.peak_kib);
    table.add_runs(COLD, cold);
    table.add_runs(WARM, warm);
    table.add_runs(EDITED, edited);
    table.goal(WARM, "under 500 ms", |row| row.median < 500.0);
    table.goal(COLD, "under 1 GB", |_| peak * 1024 < 1_000_000_000);
    Ok(table)
}
