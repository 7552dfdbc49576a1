//! Ours: the tools called through the whole executor.

use super::Search;
use crate::search::case::Case;
use anyhow::{Context as _, Result, anyhow};
use std::sync::Arc;
use tokio::runtime::Runtime;
use toolpost_core::{Context, Executor, Registry};
use toolpost_disk::Disk;

pub(super) struct Subject {
    runtime: Runtime,
    executor: Executor,
    ctx: Context,
}

impl Subject {
    pub(super) fn new(corpus: &str) -> Result<Subject> {
        let registry = Arc::new(Registry::new());
        toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default())?;
        Ok(Subject {
            runtime: Runtime::new()?,
            executor: Executor::new(),
            ctx: Context::builder(Arc::new(Disk::open([corpus])?)).tools(registry).build(),
        })
    }
}

impl Search for Subject {
    fn search(&self, case: &Case) -> Result<u64> {
        let call = self.executor.call(&self.ctx, case.tool(), case.ours(case.shown));
        let outcome = self.runtime.block_on(call);
        let output = outcome.result.map_err(|error| anyhow!("{error}"))?;
        let data = &output.data;
        Ok(data["files"].as_array().context("the answer has no files")?.len() as u64)
    }
}
