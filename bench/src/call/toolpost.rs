//! Through the whole executor: find, validate, decide, run, record.

use super::{Answer, Args, NAME, noop};
use anyhow::Result;
use serde_json::Value;
use std::sync::Arc;
use toolpost_core::event::{EventSink, MemoryLog, NoEvents};
use toolpost_core::{
    Capability, Context, Executor, Memory, Outcome, Output, Registry, Spec, Tool, ToolError,
};

struct Noop {
    is_quick: bool,
}

impl Tool for Noop {
    type Args = Args;
    type Data = ();

    fn spec(&self) -> Spec {
        let spec = Spec::new(NAME, "1.0.0", "Does nothing.").requires(Capability::Read).idempotent();
        if self.is_quick { spec.quick() } else { spec }
    }

    async fn call(&self, _: &Context, args: Args) -> Result<Output, ToolError> {
        Ok(Output::text(noop(args).await))
    }
}

pub(super) struct Subject {
    executor: Executor,
    ctx: Context,
}

impl Subject {
    /// Nobody listens to events; statistics and last results are kept all the same.
    pub(super) fn quiet() -> Result<Subject> {
        Subject::new(Noop { is_quick: true }, Arc::new(NoEvents))
    }

    /// Every event is kept in memory.
    pub(super) fn logged() -> Result<Subject> {
        Subject::new(Noop { is_quick: true }, Arc::new(MemoryLog::default()))
    }

    /// The same tool, not said to be quick.
    pub(super) fn in_a_task() -> Result<Subject> {
        Subject::new(Noop { is_quick: false }, Arc::new(NoEvents))
    }

    fn new(tool: Noop, events: Arc<dyn EventSink>) -> Result<Subject> {
        let registry = Arc::new(Registry::new());
        registry.register(tool)?;
        let ctx = Context::builder(Arc::new(Memory::new())).events(events).tools(registry).build();
        Ok(Subject { executor: Executor::new(), ctx })
    }

    pub(super) async fn call(&self, arguments: String) -> Result<Outcome, serde_json::Error> {
        let arguments: Value = serde_json::from_str(&arguments)?;
        Ok(self.executor.call(&self.ctx, NAME, arguments).await)
    }
}

impl Answer for Result<Outcome, serde_json::Error> {
    fn is_ok(&self) -> bool {
        self.as_ref().is_ok_and(Outcome::is_success)
    }
}
