//! `files`: `edit` of a file of 10 MB, and `read` far into one of 10 GB, as whole processes, beside `sed`.

use crate::places::scratch;
use crate::process::{Runs, run};
use crate::report::{Table, Unit};
use crate::search::quiet;
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

const SED: &str = "/usr/bin/sed";

const SED_EDIT: &str = "sed -i, and fsync";
const EDIT: &str = "toolpost call edit";
const EDIT_BYTES: usize = 10_000_000;
const EDIT_ROUNDS: usize = 11;

const READ: &str = "toolpost call read";
const LINES: u64 = 5_200_000;
const LINE_BYTES: usize = 2_000;
const WANTED: u64 = 5_000_000;
const READ_ROUNDS: usize = 3;

/// Both tables; what is made for them is deleted afterwards.
pub(crate) fn measure(toolpost: &Path, hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let toolpost =
        toolpost.canonicalize().with_context(|| format!("no executable `{}`", toolpost.display()))?;
    let folder = tempfile::Builder::new().prefix("files-").tempdir_in(scratch()?)?;
    let home = tempfile::tempdir()?;
    hand_on(edit(&toolpost, folder.path(), home.path())?);
    hand_on(read(&toolpost, folder.path(), home.path())?);
    Ok(())
}

/// One line in the middle is changed, there and back.
fn edit(toolpost: &Path, folder: &Path, home: &Path) -> Result<Table> {
    let line = "a line like any other, of which there are many\n";
    let half = line.repeat(EDIT_BYTES / 2 / line.len());
    for name in ["sed.txt", "ours.txt"] {
        std::fs::write(folder.join(name), format!("{half}the marker is red\n{half}"))?;
    }
    let mut measured: [Runs; 2] = Default::default();
    for round in 0..=EDIT_ROUNDS {
        let (old, new) = if round % 2 == 0 { ("red", "blue") } else { ("blue", "red") };
        let script = format!("s/the marker is {old}/the marker is {new}/");
        let arguments = json!({
            "filePath": "ours.txt",
            "oldString": format!("the marker is {old}\n"),
            "newString": format!("the marker is {new}\n"),
        });
        let workspace = folder.to_string_lossy();
        let arguments = arguments.to_string();
        let ours = ["--workspace", workspace.as_ref(), "call", "edit", &arguments];
        let mut sed =
            run(SED_EDIT, &mut quiet(Path::new(SED), &["-i", &script, "sed.txt"], folder, home), &[0])?;
        // Ours waits for the disk too.
        let started = Instant::now();
        File::open(folder.join("sed.txt"))?.sync_all()?;
        sed.time += started.elapsed();
        let ran = [sed, run(EDIT, &mut quiet(toolpost, &ours, folder, home), &[0])?];
        let [theirs, ours] = ["sed.txt", "ours.txt"].map(|name| std::fs::read(folder.join(name)));
        ensure!(theirs? == ours?, "after `{script}` the two files differ");
        if round > 0 {
            measured.iter_mut().zip(ran).for_each(|(runs, ran)| runs.add(ran));
        }
    }
    let title = format!("files: one line of a file of 10 MB changed, {EDIT_ROUNDS} rounds in turn");
    let mut table = Table::new(title, Unit::Millis);
    let [their_runs, our_runs] = measured;
    let peak = our_runs.peak_kib;
    table.add_runs(SED_EDIT, their_runs);
    table.add_runs(EDIT, our_runs);
    table.goal(EDIT, "within 1.5 of sed", |row| row.ratio <= 1.5);
    table.goal(EDIT, "under 100 MB", |_| peak * 1024 < 100_000_000);
    table.note(
        "sed neither checks that the text is there once, nor keeps the owner. It does not wait for the disk \
         either, so its time has that of an fsync of the new file added.",
    );
    table.note("A child's peak memory is at least what this process had when it forked.");
    Ok(table)
}

/// The file is made of real lines, so that neither side can skip any.
fn read(toolpost: &Path, folder: &Path, home: &Path) -> Result<Table> {
    eprintln!("making a file of {} MB …", LINES * LINE_BYTES as u64 / 1_000_000);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(folder.join("large.txt"))?);
    let mut line = "x".repeat(LINE_BYTES).into_bytes();
    line[LINE_BYTES - 1] = b'\n';
    for number in 1..=LINES {
        line[..13].copy_from_slice(format!("line {number:07} ").as_bytes());
        file.write_all(&line)?;
    }
    file.into_inner()?.sync_all()?;
    let script = format!("{WANTED}{{p;q}}");
    let arguments = json!({"filePath": "large.txt", "offset": WANTED, "limit": 1}).to_string();
    let workspace = folder.to_string_lossy();
    let ours = ["--workspace", workspace.as_ref(), "call", "read", &arguments];
    let commands = || {
        [
            quiet(Path::new(SED), &["-n", &script, "large.txt"], folder, home),
            quiet(toolpost, &ours, folder, home),
        ]
    };
    for mut command in commands() {
        let output = command.stdout(Stdio::piped()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(text.contains(&format!("line {WANTED:07} ")), "{command:?} did not give line {WANTED}");
    }
    let mut measured: [Runs; 2] = Default::default();
    for _ in 0..READ_ROUNDS {
        for (runs, mut command) in measured.iter_mut().zip(commands()) {
            runs.add(run(READ, &mut command, &[0])?);
        }
    }
    let title = format!(
        "files: line {WANTED} of a file of {} MB, {READ_ROUNDS} rounds in turn",
        LINES * LINE_BYTES as u64 / 1_000_000
    );
    let mut table = Table::new(title, Unit::Millis);
    let [their_runs, our_runs] = measured;
    let peak = our_runs.peak_kib;
    table.add_runs("sed -n 5000000{p;q}", their_runs);
    table.add_runs(READ, our_runs);
    table.goal(READ, "within 1.2 of sed", |row| row.ratio <= 1.2);
    table.goal(READ, "under 100 MB", |_| peak * 1024 < 100_000_000);
    table.note("A child's peak memory is at least what this process had when it forked.");
    Ok(table)
}
