//! `code`: the index of `toolpost-code` beside a bare tree-sitter parse of the same files and `ctags`, over a tree of sources.
//!
//! Each is a process of its own, this executable started again, so that each has its own time and its own peak of memory.

mod bare;
mod command;
mod index;
mod served;
mod tree;

use crate::places::Places;
use crate::process::{Ran, Runs, run, wait};
use crate::report::{Table, Unit};
use crate::samples::Samples;
use crate::search::quiet;
use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const ROUNDS: usize = 3;

const BARE: &str = "bare tree-sitter parse";
const CTAGS: &str = "ctags";
const COLD: &str = "toolpost-code, cold index";

/// The flag that makes this executable one of the processes.
pub(crate) const PART: &str = "--code";

/// What a process that stays has measured, in nanoseconds.
#[derive(Serialize, Deserialize, Default)]
struct Stayed {
    files: usize,
    warm: u64,
    unchanged: Vec<u64>,
    edits: Vec<u64>,
    replaced: Vec<u64>,
    added: Vec<u64>,
    resolves: Vec<u64>,
    references: Vec<u64>,
    slowest: Vec<(u64, String)>,
}

/// Does the part of this name over a tree; the index keeps what it finds in a folder.
pub(crate) fn part(name: &str, words: &[String]) -> Result<()> {
    match (name, words) {
        ("bare", [tree]) => bare::parse(Path::new(tree)),
        ("cold", [tree, cache]) => index::cold(Path::new(tree), Path::new(cache)),
        ("stay", [tree, cache]) => {
            println!("{}", serde_json::to_string(&index::stay(Path::new(tree), Path::new(cache))?)?);
            Ok(())
        }
        _ => bail!("no part `{name}` with {} arguments", words.len()),
    }
}

/// Reads the tree with each in turn, several times; then asks an index that is kept.
pub(crate) fn measure(toolpost: &Path, places: &Places, hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let corpus = places.sources()?;
    let home = tempfile::tempdir()?;
    let myself = std::env::current_exe()?;
    let own = |name: &str, folders: &[&Path]| {
        let mut command = Command::new(&myself);
        command.arg(format!("{PART}={name}")).args(folders).stdin(Stdio::null());
        command
    };
    let mut runs: [Runs; 3] = Default::default();
    let mut cache = tempfile::tempdir()?;
    let has_ctags = Command::new(CTAGS).arg("--version").output().is_ok_and(|output| output.status.success());
    let ctags = ["--recurse", "--languages=Rust,Go,Python,TypeScript", "-f", "-", "."];
    for _ in 0..ROUNDS {
        cache = tempfile::tempdir()?;
        runs[0].add(run(BARE, &mut own("bare", &[&corpus.folder]), &[0])?);
        if has_ctags {
            let mut command = quiet(Path::new(CTAGS), &ctags, &corpus.folder, home.path());
            runs[1].add(run(CTAGS, &mut command, &[0])?);
        }
        runs[2].add(run(COLD, &mut own("cold", &[&corpus.folder, cache.path()]), &[0])?);
    }
    let title = format!("code: every file read, {}, {ROUNDS} rounds in turn", corpus.size());
    let mut table = Table::new(title, Unit::Millis);
    let [mut bare, ctags, mut cold] = runs;
    let processors = cold.cpu.median().as_secs_f64() / bare.cpu.median().as_secs_f64();
    let cold_peak = cold.peak_kib;
    table.add_runs(BARE, bare);
    match has_ctags {
        true => table.add_runs(CTAGS, ctags),
        false => table.note("ctags is not installed (Debian: universal-ctags): not measured"),
    }
    table.add_runs(COLD, cold);
    table.goal(COLD, "at most 2 × the processor time of the bare parse", |_| processors <= 2.0);
    table.goal(COLD, "under 1 GB", |_| cold_peak * 1024 < 1_000_000_000);
    table.note(format!("The cold index takes {processors:.2} × the processor time of the bare parse."));
    hand_on(table);
    let (stayed, ran) = stay(own("stay", &[&corpus.folder, cache.path()]))?;
    hand_on(questions(stayed, ran, &corpus.size()));
    let home = tempfile::tempdir()?;
    hand_on(command::measure(toolpost, &corpus.folder, home.path(), &corpus.size())?);
    hand_on(served::measure(toolpost, &corpus.folder, home.path(), &corpus.size())?);
    let home = tempfile::tempdir()?;
    hand_on(served::meanwhile(toolpost, &corpus.folder, home.path(), &corpus.size())?);
    Ok(())
}

fn stay(mut command: Command) -> Result<(Stayed, Ran)> {
    let started = std::time::Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut text = String::new();
    child.stdout.take().context("no stdout")?.read_to_string(&mut text)?;
    let (status, cpu, peak_kib) = wait(child)?;
    ensure!(status == 0, "the process with the index had wait status {status}");
    Ok((serde_json::from_str(&text)?, Ran { time: started.elapsed(), cpu, peak_kib }))
}

fn questions(stayed: Stayed, ran: Ran, size: &str) -> Table {
    let title =
        format!("code: an index that is kept, {} of its files in known languages, {size}", stayed.files);
    let mut table = Table::new(title, Unit::Millis);
    let peak = Some(ran.peak_kib);
    let rows: [(&str, Vec<u64>, f64); 7] = [
        ("warm start, nothing changed", vec![stayed.warm], 500.0),
        ("every file compared again", stayed.unchanged, f64::INFINITY),
        ("one file edited, fresh answer", stayed.edits, 30.0),
        ("one file replaced, fresh answer", stayed.replaced, 30.0),
        ("one file added, fresh answer", stayed.added, f64::INFINITY),
        ("resolve", stayed.resolves, 1.0),
        ("references", stayed.references, 10.0),
    ];
    for (name, times, most) in rows {
        let mut samples = Samples::default();
        times.into_iter().for_each(|time| samples.add(Duration::from_nanos(time)));
        table.add(name, samples, peak);
        if most.is_finite() {
            table.goal(name, format!("under {most} ms"), |row| row.median < most);
        }
    }
    table.goal("references", "under 1 GB", |_| ran.peak_kib * 1024 < 1_000_000_000);
    for (time, what) in stayed.slowest {
        let milliseconds = Duration::from_nanos(time).as_secs_f64() * 1e3;
        table.note(format!("Among the slowest: references to {what}: {milliseconds:.0} ms."));
    }
    table.note("The peak of memory is that of the one process which did all of this.");
    table
}
