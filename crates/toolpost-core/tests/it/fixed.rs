//! An executor whose sessions all have the same tools and the same policy: what most tests need.

use serde_json::Value;
use std::ops::Deref;
use std::sync::Arc;
use toolpost_core::executor::{Agreed, Checked, ExecutorBuilder, Listing};
use toolpost_core::policy::Explanation;
use toolpost_core::{Call, Context, Executor, Outcome, Policy, Registry, ToolError};

#[derive(Clone)]
pub(crate) struct Fixed {
    executor: Executor,
    tools: Arc<Registry>,
    policy: Policy,
}

impl Deref for Fixed {
    type Target = Executor;

    fn deref(&self) -> &Executor {
        &self.executor
    }
}

#[allow(dead_code, reason = "each test crate uses what it needs")]
impl Fixed {
    pub(crate) fn new(tools: Arc<Registry>, policy: Policy) -> Fixed {
        Fixed::with(Executor::builder(), tools, policy)
    }

    pub(crate) fn with(builder: ExecutorBuilder, tools: Arc<Registry>, policy: Policy) -> Fixed {
        Fixed { executor: builder.build(), tools, policy }
    }

    /// The context with these tools and this policy.
    pub(crate) fn session(&self, ctx: &Context) -> Context {
        ctx.rebuild().tools(self.tools.clone()).policy(self.policy.clone()).build()
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.tools
    }

    pub(crate) fn policy_for(&self, session: &str) -> Policy {
        let ctx = self.session(&Context::in_memory());
        self.executor.policy_for(&ctx.rebuild().session(session).build())
    }

    pub(crate) async fn call(&self, ctx: &Context, tool: &str, arguments: Value) -> Outcome {
        self.executor.call(&self.session(ctx), tool, arguments).await
    }

    pub(crate) async fn run(&self, ctx: &Context, call: Call) -> Outcome {
        self.executor.run(&self.session(ctx), call).await
    }

    pub(crate) async fn call_all(&self, ctx: &Context, calls: Vec<Call>) -> Vec<Outcome> {
        self.executor.call_all(&self.session(ctx), calls).await
    }

    pub(crate) async fn awaited(&self, ctx: &Context, call: &Call) -> Result<Option<Agreed>, ToolError> {
        self.executor.awaited(&self.session(ctx), call).await
    }

    pub(crate) async fn all_ready(&self, ctx: &Context) -> Vec<(String, ToolError)> {
        self.executor.all_ready(&self.session(ctx)).await
    }

    pub(crate) fn validate(&self, ctx: &Context, tool: &str, arguments: Value) -> Result<Checked, ToolError> {
        self.executor.validate(&self.session(ctx), tool, arguments)
    }

    pub(crate) fn explain(
        &self,
        ctx: &Context,
        tool: &str,
        arguments: Value,
    ) -> Result<Explanation, ToolError> {
        self.executor.explain(&self.session(ctx), tool, arguments)
    }

    pub(crate) fn listing(&self, ctx: &Context) -> Listing {
        self.executor.listing(&self.session(ctx))
    }
}
