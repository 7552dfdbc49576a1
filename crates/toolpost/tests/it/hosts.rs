//! Guarantee 42: the text that a tool writes for the model reaches the model, in every host of the table; an edit changes its
//! file, a picture is one, and what runs ends with an interrupt.
//!
//! Each host is the real one, installed by name and version, with its default settings and the entry that `mcp install`
//! writes, without a terminal and without a network beyond loopback. We play its model, and look at what the host sends it.
//! Some hosts run here, all of them where `TOOLPOST_SOAK` is set.

mod host;
mod judge;
mod model;
mod stage;
mod wire;

use crate::{Home, Ran, project};
use host::{Column, HOSTS, Host, OTHERS};
use judge::{count, pictures};
use model::{Call, Model, Seen};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use stage::Stage;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// No host needs this long, also on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(240);

/// Within this time an interrupted host and what it runs have ended.
const END: Duration = Duration::from_secs(20);

/// The texts that the first three calls give on the command line: what the model has to be sent.
fn expected(home: &Home, dialect: &str, calls: &[Call]) -> Vec<String> {
    let text = |(index, (tool, arguments)): (usize, &Call)| {
        let words = ["call", tool, &arguments.to_string(), "--policy", "privileged", "--dialect", dialect];
        let (_, envelope) = home.json(&words);
        assert_eq!(envelope["success"], index < 2, "{envelope}");
        let text = envelope["output"].as_str().or(envelope["error"]["message"].as_str());
        text.unwrap_or_else(|| panic!("{envelope}")).trim().to_owned()
    };
    calls.iter().take(3).enumerate().map(text).collect()
}

/// Waits until this holds; whether it did.
fn within(limit: Duration, holds: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    loop {
        match holds() {
            true => return true,
            false if began.elapsed() > limit => return false,
            false => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Whether a command `sleep SECONDS` runs on this machine.
fn runs(seconds: u32) -> bool {
    let wanted = format!("sleep\0{seconds}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .map(|one| one.path().join("cmdline"))
        .any(|file| std::fs::read(file).is_ok_and(|line| line == wanted.as_bytes()))
}

/// Interrupts the host as a terminal does while the last call runs; whether both have ended soon.
fn interrupted(child: &mut Child, seconds: u32, was_asked: bool) -> bool {
    let group = Pid::from_child(child);
    // Where the last call was not asked for, nothing is waited for.
    let is_running = was_asked && within(END, || runs(seconds));
    if kill_process_group(group, Signal::INT).is_err() {
        return false;
    }
    let began = Instant::now();
    let mut has_ended = false;
    while !has_ended && began.elapsed() < END {
        has_ended = child.try_wait().unwrap().is_some();
        std::thread::sleep(Duration::from_millis(20));
    }
    let is_over = is_running && has_ended && within(END, || !runs(seconds));
    // Whoever does not heed an interrupt.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    is_over
}

/// The row of a host as it was found, or why there is none.
fn found(host: &Host) -> Result<Vec<String>, String> {
    let model = Model::start(host.naming);
    let stage = Stage::new(model.address);
    // A number that no other command has.
    let seconds = 100_000 + u32::from(model.address.port());
    let calls = host.dialect.calls(seconds);
    let texts = expected(&stage.home, host.dialect.name(), &calls);
    model.ask_for(calls.clone());
    (host.prepare)(&stage);
    let mut has_entry = false;
    if let Ok(words) = host.install {
        let mut command = stage.command(stage::TOOLPOST);
        let ran = Ran::of(
            command.args(["mcp", "install"]).args(words).args(["--policy", "privileged"]).output().unwrap(),
        );
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        has_entry = true;
    }
    let mut command = (host.command)(&stage, &host.wanted);
    let said = stage.home.path("said");
    let file = std::fs::File::create(&said).unwrap();
    command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("{} does not start: {error}", host.name))?;
    let began = Instant::now();
    let mut status = None;
    while model.seen().asked < calls.len() && began.elapsed() < PATIENCE && status.is_none() {
        status = child.try_wait().unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let seen = model.seen();
    let was_interrupted = interrupted(&mut child, seconds, seen.asked == calls.len());
    let about = || {
        let said = String::from_utf8_lossy(&std::fs::read(&said).unwrap()).into_owned();
        let last = seen.requests.last().map(Value::to_string).unwrap_or_default();
        format!(
            "{} {}: {status:?}; other requests: {:?}; it said:\n{said}\n{last}",
            host.name,
            host.version(),
            seen.others
        )
    };
    let is_asked = |target: &&String| !host.asks_for.iter().any(|place| target.contains(place));
    let outside: Vec<&String> = seen.outside.iter().filter(is_asked).collect();
    if !outside.is_empty() {
        return Err(format!("it looked for {outside:?}; {}", about()));
    }
    if seen.requests.len() != calls.len() {
        return Err(format!("{} requests came; {}", seen.requests.len(), about()));
    }
    let is_changed = std::fs::read(stage.home.path("repo/src/main.rs")).unwrap() == b"fn changed() {}\n";
    Ok(Column::ALL
        .map(|column| answer(column, &seen, &texts, [is_changed, was_interrupted, has_entry]))
        .to_vec())
}

/// What was found in a column.
fn answer(column: Column, seen: &Seen, texts: &[String], facts: [bool; 3]) -> String {
    let [is_changed, was_interrupted, has_entry] = facts;
    // From the request after a call on, its model is sent the text, so many times.
    let times = |index: usize| {
        let counts: Vec<usize> = seen.requests.iter().map(|one| count(one, &texts[index])).collect();
        let (before, after) = counts.split_at(index + 1);
        match after {
            [first, rest @ ..] if before.iter().all(|n| *n == 0) && rest.iter().all(|n| n == first) => {
                match first {
                    0 => "no".to_owned(),
                    1 => "yes".to_owned(),
                    2 => "yes, twice".to_owned(),
                    more => format!("yes, {more} times"),
                }
            }
            _ => format!("{counts:?}"),
        }
    };
    let is = |holds: bool| if holds { "yes" } else { "no" }.to_owned();
    match column {
        Column::Text => times(0),
        Column::Output => times(1),
        Column::Error => times(2),
        Column::Edit => is(is_changed),
        Column::Picture => {
            let counts: Vec<usize> = seen.requests.iter().map(pictures).collect();
            is(counts[5] > 0 && counts[..5].iter().all(|one| *one == 0))
        }
        Column::Cancel => is(was_interrupted),
        // Every call was made of tools that come from the entry.
        Column::Install => is(has_entry),
    }
}

/// Runs a host and compares it with its row of the table.
fn compare(host: &Host) -> Result<(), String> {
    let found = found(host)?;
    let mut wrong = Vec::new();
    let mut row = format!("{}\t{}", host.name, host.version());
    for (column, found) in Column::ALL.into_iter().zip(&found) {
        let answer = host.answer(column);
        // A reason follows the answer.
        let fits =
            answer == found || found == "no" && (answer.starts_with("no: ") || column == Column::Install);
        if !fits {
            wrong.push(format!("{column:?} is `{found}`, not `{answer}`"));
        }
        row.push_str(&format!("\t{}", if fits { answer } else { found }));
    }
    println!("host: {row}");
    match wrong.as_slice() {
        [] => Ok(()),
        wrong => Err(format!("{row}: {}", wrong.join("; "))),
    }
}

fn check(name: &str) {
    let host = Host::named(name);
    compare(host).unwrap_or_else(|wrong| panic!("{wrong}"));
    println!("measure: guarantee 42: {name} {} is as the table says", host.version());
}

#[test]
fn guarantee_42_claude_code_reads_the_text() {
    check("@anthropic-ai/claude-code");
}

#[test]
fn guarantee_42_codex_reads_the_text() {
    check("@openai/codex");
}

#[test]
fn guarantee_42_gemini_cli_reads_the_text() {
    check("@google/gemini-cli");
}

#[test]
fn guarantee_42_opencode_reads_the_text() {
    check("opencode-ai");
}

#[test]
fn guarantee_42_qwen_code_reads_the_text() {
    check("@qwen-code/qwen-code");
}

#[test]
fn guarantee_42_copilot_cli_reads_the_text() {
    check("@github/copilot");
}

#[test]
fn guarantee_42_smolagents_reads_the_text() {
    check("smolagents");
}

#[test]
fn guarantee_42_langchain_reads_the_text() {
    check("langchain-mcp-adapters");
}

/// The others take minutes and gigabytes: they run in `cargo xtask hosts` and `soak`.
#[test]
fn guarantee_42_the_other_hosts_read_the_text() {
    assert_eq!(HOSTS.len() + OTHERS.len(), 20);
    let is_full = std::env::var_os("TOOLPOST_SOAK").is_some();
    // `TOOLPOST_HOST` names the one that is looked into.
    let only = std::env::var("TOOLPOST_HOST").ok();
    let is_wanted = |host: &&Host| only.as_ref().map_or(is_full, |name| host.name == name);
    let wrong: Vec<String> = OTHERS.iter().filter(is_wanted).filter_map(|host| compare(host).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    if is_full {
        println!("measure: guarantee 42: {} more hosts are as the table says", OTHERS.len());
    }
}

#[test]
fn the_table_of_the_guide_has_these_hosts_and_versions() {
    let page = std::fs::read_to_string(project().join("docs/guide/mcp.md")).unwrap();
    let (_, rest) = page.split_once("<!-- hosts:begin -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- hosts:end -->").unwrap();
    let mut rows = table.lines();
    assert_eq!(
        rows.next(),
        Some("| host | version | date | text | output | error | edit | picture | cancel | install |")
    );
    assert_eq!(rows.next(), Some("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"));
    let rows: Vec<Vec<&str>> =
        rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect();
    assert_eq!(rows.len(), HOSTS.len() + OTHERS.len(), "{table}");
    for (row, host) in rows.iter().zip(HOSTS.iter().chain(&OTHERS)) {
        let [name, version, date, answers @ ..] = row.as_slice() else { panic!("{row:?}") };
        assert_eq!((*name, *version), (format!("`{}`", host.name).as_str(), host.version()), "{ADVICE}");
        assert!(date.len() == 10 && date.starts_with("20"), "{row:?}");
        assert_eq!(answers, Column::ALL.map(|column| host.answer(column)), "{name}: {ADVICE}");
    }
}

const ADVICE: &str = "the table is out of date; run `cargo xtask hosts`";
