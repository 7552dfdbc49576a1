//! A thousand runs at once in a process of their own, and the memory that they take.

use super::subject::{World, one_tool, script};
use crate::report::{Table, Unit};
use crate::samples::{Samples, peak_memory_kib};
use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolpost_agent::driver::{Driver as _, LocalDriver, NoListener};
use toolpost_agent::tree::Branch;
use toolpost_core::activation::{Limits, Reason};
use toolpost_core::model::Model;
use toolpost_store::StoreUrl;

/// The flag that makes this program the process of the runs.
pub(crate) const RUNS: &str = "--kernel-runs";

const COUNT: usize = 1_000;
const CALLS: usize = 20;
const ROUNDS: usize = 3;
const MEMORY: &str = "store in memory";
const SQLITE: &str = "store on SQLite";

/// Runs all of them; prints how long they took, in microseconds, and the most memory there was, in KiB.
pub(crate) fn runs(url: &str) -> Result<()> {
    let url: StoreUrl = url.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    let started = Instant::now();
    runtime.block_on(async {
        let world = World::new(&url, one_tool()?)?;
        let model: Arc<dyn Model> = Arc::new(script(CALLS)?);
        let driver = LocalDriver::new();
        let ids: Vec<String> = (0..COUNT).map(|number| format!("run-{number}")).collect();
        // All are children of one agent, with one budget.
        let limits = Limits { fan_out: None, ..Limits::usual() };
        let root = Branch::root("root", &limits, world.context.cancel().child_token());
        let own = Limits { turns: Some(10_000), ..Limits::default() };
        let places = ids.iter().map(|id| root.child(id, &own)).collect::<Result<Vec<_>, _>>()?;
        for (id, place) in ids.iter().zip(&places) {
            let branch = place.branch().clone();
            driver.add(world.run_at(branch, id.clone(), Arc::clone(&model), Arc::new(NoListener)))?;
        }
        ids.iter().for_each(|id| driver.start(id));
        for id in &ids {
            let ended = driver.wait(id).await?;
            ensure!(ended.reason == Reason::Done && ended.turns == CALLS as u64 + 1, "{ended:?}");
        }
        Ok(())
    })?;
    println!("{} {}", started.elapsed().as_micros(), peak_memory_kib());
    Ok(())
}

/// One row for each store.
pub(super) fn measure(folder: &Path) -> Result<Table> {
    let mut table = Table::new(
        format!("kernel: {COUNT} agents of one tree with {CALLS} calls each, at once in one process"),
        Unit::Millis,
    );
    for name in [MEMORY, SQLITE] {
        let (mut samples, mut peak) = (Samples::default(), 0);
        for round in 0..ROUNDS {
            let url = match name {
                MEMORY => "memory".to_owned(),
                _ => format!("sqlite:{}", folder.join(format!("many-{round}.db")).display()),
            };
            let output = Command::new(std::env::current_exe()?).arg(format!("{RUNS}={url}")).output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8(output.stdout)?;
            let (micros, kib) = said.trim().split_once(' ').context("the runs said nothing")?;
            samples.add(Duration::from_micros(micros.parse()?));
            peak = peak.max(kib.parse()?);
        }
        table.add(name, samples, Some(peak));
        table.goal(name, "under 500 MB", |_| peak * 1024 < 500_000_000);
    }
    Ok(table)
}
