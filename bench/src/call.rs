//! `call`: one no-op tool, its arguments given as a JSON string, called in every way.
//!
//! The ways do different amounts of work. Only toolpost checks the arguments against the schema, decides, catches a
//! crash, gives the tool a deadline and a token, and records; and, unless the tool is quick, gives it a task of its own,
//! so that a blocked thread stays there.

mod direct;
mod rig;
mod toolpost;

use crate::report::{Table, Unit};
use crate::samples::{Samples, peak_memory_kib};
use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::Deserialize;
use std::hint::black_box;
use std::time::Instant;
use tokio::runtime::Runtime;

const ROUNDS: usize = 200;
const WARM_UP: usize = 20;
const CALLS_PER_ROUND: usize = 200;

const NAME: &str = "noop";
const ARGUMENTS: &str = r#"{"path": "src/main.rs", "limit": 100, "flag": true}"#;

const DIRECT: &str = "a  direct";
const TOOLPOST: &str = "b  toolpost, no events";
const TOOLPOST_LOG: &str = "b' toolpost, memory log";
const TOOLPOST_TASK: &str = "b\" toolpost, tool in its own task";
const RIG_CORE: &str = "c  rig-core, handler inline";
const RIG_AGENT: &str = "c' rig-agent, bus as in an agent run";

/// What the model may ask for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A file.
    path: String,
    /// How much of it.
    limit: u64,
    /// Whether to.
    flag: bool,
}

/// The function behind every way.
async fn noop(args: Args) -> String {
    black_box((&args.path, args.limit, args.flag));
    "ok".to_owned()
}

/// Measures all ways from inside a task and from outside the runtime's threads.
pub(crate) fn measure() -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    let from_task = runtime.block_on(async { tokio::spawn(rounds()).await })??;
    let from_block_on = runtime.block_on(rounds())?;
    Ok(vec![
        table(&runtime, "from a task of a multi-thread runtime", from_task),
        table(&runtime, "from block_on, outside the runtime's threads", from_block_on),
    ])
}

async fn rounds() -> Result<Vec<(&'static str, Samples)>> {
    let (quiet, logged) = (toolpost::Subject::quiet()?, toolpost::Subject::logged()?);
    let task = toolpost::Subject::in_a_task()?;
    let (core, agent) = (rig::Core::new(), rig::Agent::new()?);
    let mut samples: [Samples; 6] = Default::default();
    for round in 0..WARM_UP + ROUNDS {
        if round == WARM_UP {
            samples = Default::default();
        }
        let [a, b, b_logged, b_task, c, c_agent] = &mut samples;
        calls(a, direct::call).await?;
        calls(b, |arguments| quiet.call(arguments)).await?;
        calls(b_logged, |arguments| logged.call(arguments)).await?;
        calls(b_task, |arguments| task.call(arguments)).await?;
        calls(c, |arguments| core.call(arguments)).await?;
        calls(c_agent, |arguments| agent.call(arguments)).await?;
    }
    Ok([DIRECT, TOOLPOST, TOOLPOST_LOG, TOOLPOST_TASK, RIG_CORE, RIG_AGENT]
        .into_iter()
        .zip(samples)
        .collect())
}

/// Times each call by itself; the string is made beforehand, the result is dropped within.
async fn calls<F, R>(samples: &mut Samples, call: impl Fn(String) -> F) -> Result<()>
where
    F: Future<Output = R>,
    R: Answer,
{
    let answer = call(ARGUMENTS.to_owned()).await;
    ensure!(answer.is_ok(), "a call did not work: {}", std::any::type_name::<F>());
    for _ in 0..CALLS_PER_ROUND {
        let arguments = ARGUMENTS.to_owned();
        let started = Instant::now();
        drop(black_box(call(arguments).await));
        samples.add(started.elapsed());
    }
    Ok(())
}

/// What a way of calling gives back.
trait Answer {
    /// Whether the tool ran and answered.
    fn is_ok(&self) -> bool;
}

fn table(runtime: &Runtime, place: &str, measured: Vec<(&'static str, Samples)>) -> Table {
    let threads = runtime.metrics().num_workers();
    let title = format!(
        "call: a no-op with three arguments, {place} ({threads} threads), {} calls each",
        ROUNDS * CALLS_PER_ROUND
    );
    let mut table = Table::new(title, Unit::Micros);
    for (name, samples) in measured {
        table.add(name, samples, None);
    }
    let (core, agent) = (table.median(RIG_CORE), table.median(RIG_AGENT));
    for name in [TOOLPOST, TOOLPOST_LOG] {
        table.goal(name, "at most 4 µs", |row| row.median <= 4.0);
        table.goal(name, "at most 3 µs over a", |row| row.over_first <= 3.0);
        table.goal(name, "≤ c", |row| row.median <= core);
        table.goal(name, "≤ c'", |row| row.median <= agent);
    }
    table.note(format!("peak memory of this process so far: {:.1} MiB", peak_memory_kib() as f64 / 1024.0));
    table
}
