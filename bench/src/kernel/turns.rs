//! From one question to the model to the next: its answer, the decision, the call, and all that is recorded.

use super::subject::{World, one_tool, script};
use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::{Result, ensure};
use futures_util::stream::BoxStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use toolpost_agent::driver::{LocalDriver, NoListener};
use toolpost_agent::model::Script;
use toolpost_core::activation::Reason;
use toolpost_core::model::{Delta, Model, ModelError, Profile, Request};
use toolpost_store::StoreUrl;

const CALLS: usize = 20;
const LONG: usize = 200;
const MEMORY: &str = "store in memory";
const SQLITE: &str = "store on SQLite";

/// A script that keeps when it was asked.
struct Timed {
    script: Script,
    asked: Mutex<Vec<Instant>>,
}

impl Model for Timed {
    fn profile(&self) -> &Profile {
        self.script.profile()
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        self.script.stream(request, cancel)
    }
}

/// One row for each store, and one for the end of long runs.
pub(super) fn measure(folder: &Path) -> Result<Table> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    let sqlite = StoreUrl::Sqlite(folder.join("turns.db"));
    let title = format!("kernel: a turn with one call that returns 1 KiB at once, runs of {CALLS} calls");
    let mut table = Table::new(title, Unit::Micros);
    let long = format!("{MEMORY}, turns {} to {LONG}", LONG - CALLS + 1);
    let rows = [
        (MEMORY, StoreUrl::Memory, CALLS, 500),
        (SQLITE, sqlite, CALLS, 25),
        (long.as_str(), StoreUrl::Memory, LONG, 50),
    ];
    for (name, url, calls, runs) in rows {
        let samples = runtime.block_on(async { tokio::spawn(turns(url, calls, runs)).await })??;
        table.add(name, samples, None);
    }
    table.goal(MEMORY, "under 200 µs", |row| row.median < 200.0);
    table.goal(MEMORY, "p95 too", |row| row.p95 < 200.0);
    table.note("Both stores are waited for before each call: an answer that has calls must be durable before they run. On SQLite");
    table.note(
        "that is a sync of the disk. The script, which reads the whole conversation in each turn, is within.",
    );
    Ok(table)
}

/// The times of the last turns of each run.
async fn turns(url: StoreUrl, calls: usize, runs: usize) -> Result<Samples> {
    let world = World::new(&url, one_tool()?)?;
    let (script, driver) = (script(calls)?, LocalDriver::new());
    let mut samples = Samples::default();
    let warm_up = runs.div_ceil(10);
    for run in 0..runs + warm_up {
        let model = Arc::new(Timed { script: script.clone(), asked: Mutex::default() });
        let activation = world.run(format!("run-{run}"), Arc::clone(&model) as _, Arc::new(NoListener));
        let ended = driver.run(activation).await?;
        ensure!(ended.reason == Reason::Done && ended.turns == calls as u64 + 1, "{ended:?}");
        let asked = model.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if run >= warm_up {
            let last = &asked[asked.len() - CALLS - 1..];
            last.windows(2).for_each(|pair| samples.add(pair[1] - pair[0]));
        }
    }
    Ok(samples)
}
