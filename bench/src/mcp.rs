//! `mcp`: `toolpost mcp` beside the reference servers, by one client: on standard input and output, and over HTTP.

mod client;
pub(crate) mod fixed;
mod hanging;
mod http;
mod peers;
mod server;

use self::client::Client;
use self::http::HttpClient;
use self::peers::{BEFORE, EVERYTHING, FILESYSTEM, OURS, OURS_FIXED};
use crate::places::Places;
use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::time::Instant;

const STARTS: usize = 60;
const READS: usize = 3_000;
const FLOODS: usize = 5;
const FLOOD: usize = 10_000;
const HTTP_FLOOD: usize = 5_000;
const IN_FLIGHT: usize = 32;

/// How far we want to be ahead of the server that does the same work.
const AHEAD: f64 = 3.0;

/// What another build of ours may be ahead: 5 %.
const NOT_SLOWER: f64 = 0.95;

const INITIALIZE: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\
                          \"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}";
const INITIALIZED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

/// One server: how it is started, and what it is asked for.
struct Subject {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    call: String,
}

/// Measures all in turn; each table is handed on as soon as it is there.
pub(crate) fn measure(toolpost: &Path, places: &Places, hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let real =
        |path: &Path| path.canonicalize().with_context(|| format!("no executable `{}`", path.display()));
    let toolpost = real(toolpost)?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let file = root.join("small.txt");
    std::fs::write(&file, "a line of a small file\n".repeat(40))?;
    let ours = toolpost.clone();
    let (root, file) = (root.display().to_string(), file.display().to_string());
    let (on_pipes, over_http) = match &places.beside {
        None => (peers::on_pipes(&toolpost, &root, &file)?, peers::over_http(&toolpost, &root, &file)?),
        Some(other) => {
            let both = [(BEFORE, real(other)?), (OURS, toolpost)];
            let http = both.iter().map(|(name, program)| peers::ours_over_http(name, program, &root, &file));
            let pipes = both.iter().map(|(name, program)| peers::ours_on_pipes(name, program, &root, &file));
            (pipes.collect(), http.collect::<Result<_>>()?)
        }
    };
    hand_on(hanging::measure(&ours, &root)?);
    hand_on(starts(&on_pipes)?);
    calls_on_pipes(&on_pipes, hand_on)?;
    calls_over_http(&over_http, hand_on)
}

/// From before the fork to the answer of the handshake.
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
    state_goals(&mut table);
    table.goal(OURS, "at most 5 ms", |row| row.median <= 5.0);
    Ok(table)
}

fn calls_on_pipes(subjects: &[Subject], hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let mut servers = subjects.iter().map(Client::start).collect::<Result<Vec<_>>>()?;
    let mut idle = Table::new("mcp: memory after the handshake", Unit::Mebibytes);
    for (subject, client) in subjects.iter().zip(&servers) {
        idle.add_figure(subject.name, client.server.resident_mib());
    }
    let mut reads =
        Table::new(format!("mcp: one call, a read of a small file, {READS} in turn"), Unit::Micros);
    for (subject, client) in subjects.iter().zip(&mut servers) {
        let mut samples = Samples::default();
        for round in 0..READS + 200 {
            let began = Instant::now();
            client.call(&subject.call)?;
            if round >= 200 {
                samples.add(began.elapsed());
            }
        }
        reads.add(subject.name, samples, None);
    }
    let title = format!("mcp: reads with {IN_FLIGHT} in flight, {FLOOD} calls, {FLOODS} rounds in turn");
    let mut floods = Table::new(title, Unit::PerSecond);
    let mut processor = Table::new("mcp: processor time of a read, the same calls", Unit::Micros);
    let mut measured: Vec<(Samples, Samples)> = subjects.iter().map(|_| Default::default()).collect();
    for _ in 0..FLOODS {
        for ((subject, client), (times, cpu)) in subjects.iter().zip(&mut servers).zip(&mut measured) {
            let before = client.server.processor_time();
            let began = Instant::now();
            client.flood(&subject.call, FLOOD, IN_FLIGHT)?;
            times.add(began.elapsed() / FLOOD as u32);
            cpu.add((client.server.processor_time() - before) / FLOOD as u32);
        }
    }
    let mut loaded = Table::new("mcp: the most memory, after all these calls", Unit::Mebibytes);
    for ((subject, client), (times, cpu)) in subjects.iter().zip(&servers).zip(measured) {
        floods.add(subject.name, times, None);
        processor.add(subject.name, cpu, None);
        loaded.add_figure(subject.name, client.server.peak_mib());
    }
    for table in [&mut idle, &mut reads, &mut floods, &mut processor, &mut loaded] {
        state_goals(table);
    }
    reads.goal(OURS, "at most 60 µs", |row| row.median <= 60.0);
    floods.goal(OURS, "at least 100,000", |row| row.median >= 100_000.0);
    processor.goal(OURS, "at most 10 µs", |row| row.median <= 10.0);
    [idle, reads, floods, processor, loaded].into_iter().for_each(hand_on);
    Ok(())
}

fn calls_over_http(subjects: &[(Subject, u16)], hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let title = format!(
        "mcp: calls over HTTP with {IN_FLIGHT} in flight on open connections, {HTTP_FLOOD} calls, {FLOODS} rounds in turn"
    );
    let mut floods = Table::new(title, Unit::PerSecond);
    let mut processor = Table::new("mcp: processor time of a call over HTTP, the same calls", Unit::Micros);
    let mut loaded = Table::new("mcp: the most memory, after all these calls over HTTP", Unit::Mebibytes);
    let start = |(subject, port): &(Subject, u16)| HttpClient::start(subject, *port);
    let clients = subjects.iter().map(start).collect::<Result<Vec<_>>>()?;
    let mut measured: Vec<(Samples, Samples)> = subjects.iter().map(|_| Default::default()).collect();
    for round in 0..FLOODS + 1 {
        for (((subject, _), client), (times, cpu)) in subjects.iter().zip(&clients).zip(&mut measured) {
            let before = client.server.processor_time();
            let began = Instant::now();
            client.flood(&subject.call, HTTP_FLOOD, IN_FLIGHT)?;
            if round > 0 {
                times.add(began.elapsed() / HTTP_FLOOD as u32);
                cpu.add((client.server.processor_time() - before) / HTTP_FLOOD as u32);
            }
        }
    }
    for (((subject, _), client), (times, cpu)) in subjects.iter().zip(&clients).zip(measured) {
        floods.add(subject.name, times, None);
        processor.add(subject.name, cpu, None);
        loaded.add_figure(subject.name, client.server.peak_mib());
    }
    for mut table in [floods, processor, loaded] {
        table.lead(OURS, EVERYTHING, 1.0);
        table.lead(OURS, BEFORE, NOT_SLOWER);
        hand_on(table);
    }
    Ok(())
}

fn state_goals(table: &mut Table) {
    table.lead(OURS, FILESYSTEM, AHEAD);
    table.lead(OURS, EVERYTHING, 1.0);
    table.lead(OURS_FIXED, EVERYTHING, 1.0);
    table.lead(OURS, BEFORE, NOT_SLOWER);
}

/// Whether what came is not the answer of a call that worked.
fn is_failure(answer: &[u8]) -> bool {
    let has = |text: &[u8]| answer.windows(text.len()).any(|part| part == text);
    !has(b"\"result\"") || has(b"\"isError\":true")
}
