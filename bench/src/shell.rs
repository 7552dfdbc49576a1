//! `shell`: what a command costs through the whole executor, beside the shell alone, and how soon its first line is told.

use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::{Result, anyhow, bail};
use serde_json::json;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolpost_core::event::{EventKind, EventSink};
use toolpost_core::policy::{Policy, Profile};
use toolpost_core::{Call, Capability, Context, Event, Executor, Registry};
use toolpost_disk::Disk;
use toolpost_tools::Settings;
use toolpost_tools::shell::{self, Confinement};

const ROUNDS: usize = 300;
const WARM_UP: usize = 20;
const LINES: usize = 40;
const FILES: usize = 30_000;
const FOLDERS: usize = 3_000;
const FIRSTS: usize = 10;
const LATERS: usize = 20;

const SH: &str = "sh -c true";
const BASH: &str = "bash -c true";
const PLAIN: &str = "`true`, no sandbox";
const CONFINED: &str = "`true`, sandbox";
const LINE: &str = "`true; true`, no sandbox";
const FIRST: &str = "first in the sandbox";
const LATER: &str = "later ones in the sandbox";
const CONFINED_LINE: &str = "`true; true`, sandbox";

/// Runs each in turn, many times.
pub(crate) fn measure(hand_on: &mut impl FnMut(Table)) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for name in [".git/hooks", "src"] {
        std::fs::create_dir_all(folder.path().join(name))?;
    }
    std::fs::write(folder.path().join(".env"), "KEY=1\n")?;
    let heard = Arc::new(Heard::default());
    let ctx = Context::builder(Arc::new(Disk::open([folder.path()])?)).events(heard.clone()).build();
    let (free, confined) = (tools(Confinement::None)?, tools(Confinement::Strict)?);
    let runtime = tokio::runtime::Runtime::new()?;
    let mut samples: Vec<(&str, Samples)> =
        [SH, BASH, PLAIN, LINE, CONFINED, CONFINED_LINE].map(|name| (name, Samples::default())).into();
    for round in 0..WARM_UP + ROUNDS {
        for (name, samples) in &mut samples {
            let took = match *name {
                SH => alone("/bin/sh")?,
                BASH => alone("/bin/bash")?,
                PLAIN => ours(&runtime, &free, &ctx, "true")?,
                LINE => ours(&runtime, &free, &ctx, "true; true")?,
                CONFINED => ours(&runtime, &confined, &ctx, "true")?,
                _ => ours(&runtime, &confined, &ctx, "true; true")?,
            };
            if round >= WARM_UP {
                samples.add(took);
            }
        }
    }
    let mut table =
        Table::new(format!("shell: a command through the executor, {ROUNDS} rounds in turn"), Unit::Millis);
    for (name, samples) in samples {
        table.add(name, samples, None);
    }
    table.goal(PLAIN, "at most 1.3 × sh -c true", |row| row.ratio <= 1.3);
    table.goal(CONFINED, "at most 6 ms over sh -c true", |row| row.over_first <= 6.0);
    table.goal(CONFINED_LINE, "at most 6 ms over sh -c true", |row| row.over_first <= 6.0);
    hand_on(table);
    let mut first = Samples::default();
    for _ in 0..LINES {
        heard.clear();
        let started = Instant::now();
        ours(&runtime, &confined, &ctx, "echo first; sleep 0.1; echo second")?;
        first.add(heard.first().ok_or_else(|| anyhow!("nothing was told"))?.duration_since(started));
    }
    let mut table =
        Table::new(format!("shell: the first line of a slow command, {LINES} times"), Unit::Millis);
    table.add("told after", first, None);
    table.goal("told after", "within 50 ms", |row| row.median <= 50.0);
    hand_on(table);
    large(&runtime, &free, &confined, hand_on)?;
    build(&runtime, &free, &confined, hand_on)
}

/// What the guard costs a build that creates many files: each `.py` becomes a `.pyc`, by a temporary file and a rename.
/// A plain copy of the same files, which does nothing but create, is the worst case.
fn build(
    runtime: &tokio::runtime::Runtime,
    free: &Arc<Registry>,
    confined: &Arc<Registry>,
    hand_on: &mut impl FnMut(Table),
) -> Result<()> {
    const BUILT: usize = 10_000;
    const BUILDS: usize = 5;
    let folder = tempfile::tempdir()?;
    for index in 0..BUILT {
        let own = folder.path().join(format!("src/package{}", index / 100));
        std::fs::create_dir_all(&own)?;
        let lines: String = (0..40)
            .map(|line| {
                format!("def f{line}(a, b=[{index}]):\n    return [x + a for x in b if x > {line}]\n")
            })
            .collect();
        std::fs::write(own.join(format!("module{index}.py")), lines)?;
    }
    let ctx = Context::builder(Arc::new(Disk::open([folder.path()])?)).build();
    for (title, line, clean) in [
        (
            "a build that creates 10,000 files",
            "python3 -m compileall -q src",
            "find . -name __pycache__ -prune -exec rm -rf {} +",
        ),
        ("a copy of 10,000 files", "cp -r src copy", "rm -rf copy"),
    ] {
        let (mut plain, mut guarded) = (Samples::default(), Samples::default());
        for _ in 0..BUILDS {
            for (executor, samples) in [(free, &mut plain), (confined, &mut guarded)] {
                ours(runtime, free, &ctx, clean)?;
                samples.add(ours(runtime, executor, &ctx, line)?);
            }
        }
        let mut table = Table::new(format!("shell: {title}, {BUILDS} times in turn"), Unit::Millis);
        table.add("no sandbox", plain, None);
        table.add("sandbox", guarded, None);
        table.goal("sandbox", "at most 5 % over no sandbox", |row| row.ratio <= 1.05);
        hand_on(table);
    }
    Ok(())
}

/// What a large tree costs: each command looks whether it is as the last one saw it.
fn large(
    runtime: &tokio::runtime::Runtime,
    free: &Arc<Registry>,
    confined: &Arc<Registry>,
    hand_on: &mut impl FnMut(Table),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for name in [".git/hooks", ".git/refs"] {
        std::fs::create_dir_all(folder.path().join(name))?;
    }
    for index in 0..FOLDERS {
        let own = folder.path().join(format!("part{}/module{}/folder{index}", index % 10, index % 100));
        std::fs::create_dir_all(&own)?;
        for file in 0..FILES / FOLDERS {
            std::fs::write(own.join(format!("component_{file}.ts")), "")?;
        }
    }
    std::fs::write(folder.path().join(".env"), "KEY=1\n")?;
    // A survey is remembered of folders that were at rest.
    std::thread::sleep(Duration::from_secs(1));
    let (mut plain, mut first, mut later) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..FIRSTS {
        // What is remembered is kept with the disk.
        let ctx = Context::builder(Arc::new(Disk::open([folder.path()])?)).build();
        first.add(ours(runtime, confined, &ctx, "true")?);
        for _ in 0..LATERS {
            plain.add(ours(runtime, free, &ctx, "true")?);
            later.add(ours(runtime, confined, &ctx, "true")?);
        }
    }
    let title = format!("shell: `true` in a tree of {FILES} files in {FOLDERS} folders, one process");
    let mut table = Table::new(title, Unit::Millis);
    table.add(PLAIN, plain, None);
    table.add(FIRST, first, None);
    table.add(LATER, later, None);
    table.goal(LATER, "at most 20 ms over no sandbox", |row| row.over_first <= 20.0);
    table.goal(LATER, "at most 6 ms over no sandbox", |row| row.over_first <= 6.0);
    hand_on(table);
    Ok(())
}

/// When something was told first.
#[derive(Default)]
struct Heard(Mutex<Option<Instant>>);

impl Heard {
    fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn first(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Heard {
    fn record(&self, event: &Arc<Event>) {
        if matches!(event.kind, EventKind::Progress { .. }) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        }
    }
}

/// The tools of a session whose commands are confined like this.
fn tools(confinement: Confinement) -> Result<Arc<Registry>> {
    let registry = Arc::new(Registry::new());
    let shell = shell::Settings { confinement, ..shell::Settings::default() };
    toolpost_tools::register_all(&registry, &Settings { shell, ..Settings::default() })?;
    Ok(registry)
}

fn ours(
    runtime: &tokio::runtime::Runtime,
    tools: &Arc<Registry>,
    ctx: &Context,
    command: &str,
) -> Result<Duration> {
    let policy = Policy::profile(Profile::Standard).allow(Capability::Exec);
    let (executor, ctx) = (Executor::new(), ctx.rebuild().tools(tools.clone()).policy(policy).build());
    let call = Call::new("bash", json!({ "command": command }));
    // Timed in a task, from which every host calls: this thread is woken once more, which is not the command's.
    let timed = runtime.spawn(async move {
        let started = Instant::now();
        let outcome = executor.run(&ctx, call).await;
        (started.elapsed(), outcome)
    });
    let (took, outcome) = runtime.block_on(timed)?;
    outcome.result.map_err(|error| anyhow!("{error}"))?;
    Ok(took)
}

fn alone(shell: &str) -> Result<Duration> {
    let started = Instant::now();
    let output = std::process::Command::new(shell).args(["-c", "true"]).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        bail!("{shell} -c true failed");
    }
    Ok(started.elapsed())
}
