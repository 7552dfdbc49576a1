//! `mcp`: `toolpost mcp` as a server on standard input and output, beside the reference server for files, by one client.

mod client;

use self::client::Client;
use crate::places;
use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const STARTS: usize = 15;
const READS: usize = 3_000;
const FLOODS: usize = 5;
const FLOOD: usize = 10_000;
const IN_FLIGHT: usize = 32;

const PEER: &str = "server-filesystem (npm)";
const OURS: &str = "toolpost mcp";

const PACKAGE: &str = "@modelcontextprotocol/server-filesystem";
const VERSION: &str = "2026.8.31";

/// One server: how it is started, and how its tool reads the small file.
struct Subject {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    call: String,
}

/// Measures both in turn; each table is handed on as soon as it is there.
pub(crate) fn measure(toolpost: &Path, hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let toolpost =
        toolpost.canonicalize().with_context(|| format!("no executable `{}`", toolpost.display()))?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let file = root.join("small.txt");
    std::fs::write(&file, "a line of a small file\n".repeat(40))?;
    let (root, file) = (root.display().to_string(), file.display().to_string());
    let call = |tool: &str, argument: &str| {
        serde_json::json!({"name": tool, "arguments": {argument: file}}).to_string()
    };
    let subjects = [
        Subject {
            name: PEER,
            program: "node".into(),
            arguments: vec![peer()?.display().to_string(), root.clone()],
            call: call("read_text_file", "path"),
        },
        Subject {
            name: OURS,
            program: toolpost,
            arguments: ["mcp", "--workspace", &root].map(str::to_owned).to_vec(),
            call: call("read", "filePath"),
        },
    ];
    hand_on(starts(&subjects)?);
    let (mut idle, mut loaded) = (Vec::new(), Vec::new());
    let mut servers = Vec::new();
    for subject in &subjects {
        let client = Client::start(subject)?;
        idle.push(client.resident_kib());
        servers.push(client);
    }
    let mut reads = Table::new(format!("mcp: one read of a small file, {READS} in turn"), Unit::Micros);
    for (subject, client) in subjects.iter().zip(&mut servers) {
        let mut samples = Samples::default();
        for round in 0..READS + 200 {
            let began = Instant::now();
            client.call(&subject.call)?;
            if round >= 200 {
                samples.add(began.elapsed());
            }
        }
        reads.note(format!("{}: p99 {:.0} µs", subject.name, samples.p99().as_secs_f64() * 1e6));
        reads.add(subject.name, samples, None);
    }
    reads.goal(OURS, "a third of the peer's", |row| row.ratio <= 1.0 / 3.0);
    reads.goal(OURS, "at most 60 µs", |row| row.median <= 60.0);
    hand_on(reads);
    let title = format!("mcp: a read with {IN_FLIGHT} in flight, {FLOOD} calls, {FLOODS} rounds in turn");
    let mut floods = Table::new(title, Unit::Micros);
    let mut processor = Table::new("mcp: processor time of a read, the same calls", Unit::Micros);
    let mut measured: Vec<(Samples, Samples)> = subjects.iter().map(|_| Default::default()).collect();
    for _ in 0..FLOODS {
        for ((subject, client), (times, cpu)) in subjects.iter().zip(&mut servers).zip(&mut measured) {
            let before = client.processor_time();
            let began = Instant::now();
            client.flood(&subject.call, FLOOD, IN_FLIGHT)?;
            times.add(began.elapsed() / FLOOD as u32);
            cpu.add((client.processor_time() - before) / FLOOD as u32);
        }
    }
    for ((subject, client), (mut times, cpu)) in subjects.iter().zip(&servers).zip(measured) {
        floods.note(format!("{}: {:.0} calls a second", subject.name, 1.0 / times.median().as_secs_f64()));
        floods.add(subject.name, times, None);
        processor.add(subject.name, cpu, None);
        loaded.push(client.peak_kib());
    }
    floods.goal(OURS, "a third of the peer's", |row| row.ratio <= 1.0 / 3.0);
    floods.goal(OURS, "at most 10 µs", |row| row.median <= 10.0);
    processor.goal(OURS, "a third of the peer's", |row| row.ratio <= 1.0 / 3.0);
    processor.goal(OURS, "at most 10 µs", |row| row.median <= 10.0);
    for ((subject, idle), loaded) in subjects.iter().zip(idle).zip(loaded) {
        let (idle, loaded) = (idle as f64 / 1024.0, loaded as f64 / 1024.0);
        processor.note(format!("{}: {idle:.1} MiB idle, {loaded:.1} MiB at most", subject.name));
    }
    hand_on(floods);
    hand_on(processor);
    Ok(())
}

/// From before the fork to the answer of the handshake, and of the list behind it.
fn starts(subjects: &[Subject]) -> Result<Table> {
    let mut measured: Vec<Samples> = subjects.iter().map(|_| Samples::default()).collect();
    for round in 0..STARTS + 1 {
        for (subject, samples) in subjects.iter().zip(&mut measured) {
            let began = Instant::now();
            let client = Client::start(subject)?;
            if round > 0 {
                samples.add(began.elapsed());
            }
            drop(client);
        }
    }
    let mut table =
        Table::new(format!("mcp: start to the first answer, {STARTS} rounds in turn"), Unit::Millis);
    for (subject, samples) in subjects.iter().zip(measured) {
        table.add(subject.name, samples, None);
    }
    table.goal(OURS, "a third of the peer's", |row| row.ratio <= 1.0 / 3.0);
    table.goal(OURS, "at most 5 ms", |row| row.median <= 5.0);
    Ok(table)
}

/// The script of the reference server, installed once.
fn peer() -> Result<PathBuf> {
    let folder = places::scratch()?.join("mcp-peers");
    let package = folder.join("node_modules").join(PACKAGE);
    let script = package.join("dist/index.js");
    if !script.is_file() {
        eprintln!("installing {PACKAGE}@{VERSION} into {} (once) …", folder.display());
        let status = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
            .arg(&folder)
            .arg(format!("{PACKAGE}@{VERSION}"))
            .status()
            .context("npm is needed to install what we are compared with")?;
        if !status.success() {
            bail!("npm install {PACKAGE}@{VERSION} ended with {status}");
        }
    }
    Ok(script)
}
