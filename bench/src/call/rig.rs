//! rig's ways: `rig-core`'s erased handler called in place, and the bus of `rig-agent`, through which its agents call.
//!
//! In 0.44 the agent left `rig-core`: there the nearest thing to a dynamic call is `serve_inline_with`, which is also
//! what `rig-agent`'s `ToolSet::execute` does once it has found the tool. An agent's run calls through the bus instead,
//! whose driver it polls in its own task; neither checks arguments, and neither gives the tool a task.

use super::{Answer, Args, NAME, noop};
use anyhow::{Result, anyhow};
use rig_agent::bus::{Bus, BusDriver, ToolAnswer, ToolHandle};
use rig_core::effect::{EffectKind, Outcome, tool_key};
use rig_core::error::ErrorReport;
use rig_core::serve::adapters::ToolAdapter;
use rig_core::serve::{ErasedHandler, serve_inline_with};
use rig_core::tool::{PublishedContext, Tool, ToolContext};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

struct Noop;

impl Tool for Noop {
    const NAME: &'static str = NAME;
    type Args = Args;
    type Output = String;
    type Error = Infallible;

    fn description(&self) -> String {
        "Does nothing.".to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        schemars::schema_for!(Args).to_value()
    }

    async fn call(&self, _: &mut ToolContext, args: Args) -> Result<String, Infallible> {
        Ok(noop(args).await)
    }
}

/// The handler, called in place.
pub(super) struct Core {
    handler: ErasedHandler,
    ctx: ToolContext,
}

impl Core {
    pub(super) fn new() -> Core {
        Core { handler: ErasedHandler::new(ToolAdapter::new(Noop)), ctx: ToolContext::new() }
    }

    pub(super) async fn call(&self, arguments: String) -> Result<Outcome, ErrorReport> {
        let published = PublishedContext::new();
        let kind = EffectKind::ToolCall { name: NAME.to_owned(), args: arguments };
        serve_inline_with(&self.handler, kind, vec![Arc::new(self.ctx.for_dispatch()), published]).await
    }
}

/// The bus, with its driver polled beside the call as a run does.
pub(super) struct Agent {
    tool: ToolHandle,
    driver: Mutex<BusDriver>,
    ctx: ToolContext,
}

impl Agent {
    pub(super) fn new() -> Result<Agent> {
        let (dispatcher, _, mut driver) = Bus::channel();
        let key = tool_key(NAME);
        driver.register(key.clone(), ToolAdapter::new(Noop)).map_err(|error| anyhow!("{error:?}"))?;
        let tool = dispatcher.handle(&key).map_err(|error| anyhow!("{error:?}"))?;
        Ok(Agent { tool, driver: Mutex::new(driver), ctx: ToolContext::new() })
    }

    pub(super) async fn call(&self, arguments: String) -> Result<ToolAnswer, ErrorReport> {
        let mut call = self.tool.call(NAME, arguments, self.ctx.for_dispatch());
        std::future::poll_fn(move |waker| {
            if let Poll::Ready(answer) = Pin::new(&mut call).poll(waker) {
                return Poll::Ready(answer);
            }
            let mut driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = Pin::new(&mut *driver).poll(waker);
            drop(driver);
            Pin::new(&mut call).poll(waker)
        })
        .await
    }
}

impl Answer for Result<Outcome, ErrorReport> {
    fn is_ok(&self) -> bool {
        matches!(self, Ok(Outcome::ToolResult { result }) if result.is_success())
    }
}

impl Answer for Result<ToolAnswer, ErrorReport> {
    fn is_ok(&self) -> bool {
        self.as_ref().is_ok_and(|answer| answer.result.is_success())
    }
}
