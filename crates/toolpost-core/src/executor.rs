//! The one path of a call: find, init, repair, validate, hooks, decide, confirm, run, redact, budget, record.
//!
//! Every way in (library, command line, MCP, kernel) ends here, and a tool is run nowhere else. The eleven steps stand in
//! `steps.rs`, in their order. What a session may call and do belongs to its [`Context`]; the executor has what all
//! sessions share: hooks, answers, statistics, the last results.

mod arguments;
mod budget;
mod builder;
mod call;
mod decide;
mod foresee;
mod guard;
mod hook;
mod listing;
mod preview;
mod record;
mod run;
mod stats;
mod steps;
mod to_come;
mod together;
mod turns;

pub use builder::ExecutorBuilder;
pub use call::{Agreed, Call, Checked, Retry};
pub use hook::{Hook, Verdict};
pub use listing::{Absence, AbsentTool, Listing};
pub(crate) use run::{panic_message, payload_message};
pub use stats::{Stats, ToolStats};

use crate::confirm::Answers;
use crate::context::Context;
use crate::error::ToolError;
use crate::outcome::Outcome;
use crate::policy::{Effect, Explanation, Outlook, Policy, Request};
use arc_swap::ArcSwap;
use decide::Remembered;
use hook::Hooks;
use record::Records;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use toolpost_schema::Caller;

/// Calls nested deeper than this (a tool that calls a tool that …) are refused.
const MAX_CALL_DEPTH: usize = 8;

/// Runs tools. Cheap to clone; all clones share hooks, answers and records.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use toolpost_core::{Context, Executor, Output, Registry, Spec, dynamic};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let registry = Arc::new(Registry::new());
/// registry
///     .register(dynamic(Spec::new("ping", "1.0.0", "Answers."), json!({"type": "object"}), |_, _| async {
///         Ok(Output::new("ping", "pong", json!(null)))
///     }))
///     .unwrap();
/// let session = Context::in_memory().with_tools(registry);
/// let outcome = Executor::new().call(&session, "ping", json!({})).await;
/// assert_eq!(outcome.to_text(), "pong");
/// # }
/// ```
#[derive(Clone)]
pub struct Executor {
    inner: Arc<Inner>,
}

struct Inner {
    answers: Option<Arc<dyn Answers>>,
    remembered: Remembered,
    hooks: ArcSwap<Hooks>,
    sinks: Vec<Box<ResultSink>>,
    init_limit: Duration,
    records: Records,
}

type ResultSink = dyn Fn(&Outcome) + Send + Sync;

impl Executor {
    /// An executor without hooks and sinks.
    pub fn new() -> Executor {
        Executor::builder().build()
    }

    /// The policy that a session's calls are decided by: its own, and what was answered since.
    pub fn policy_for(&self, ctx: &Context) -> Policy {
        let policy = self.inner.remembered.add_to(ctx.policy(), ctx.session());
        policy.with_names(ctx.tools().snapshot().names()).explained_in(ctx.dialect().clone())
    }

    /// Runs a tool. Never fails itself: whatever goes wrong is an outcome.
    pub async fn call(&self, ctx: &Context, tool: &str, arguments: Value) -> Outcome {
        self.run(ctx, Call::new(tool, arguments)).await
    }

    /// Runs a tool with options: time-out, retries, dry run.
    pub async fn run(&self, ctx: &Context, call: Call) -> Outcome {
        self.run_in(ctx.tools().snapshot(), ctx, call).await
    }

    /// Runs several calls, results in order: those of parallel-safe tools side by side, the others one after another
    /// beside them. All of them see the same registry. Whatever the policy asks about any of them is asked at once, and
    /// answered, before the first one runs.
    pub async fn call_all(&self, ctx: &Context, calls: Vec<Call>) -> Vec<Outcome> {
        self.run_all_in(ctx.tools().snapshot(), ctx, calls).await
    }

    /// Checks a call without running it: the name, the arguments, the policy. Hooks are not asked, and `init` does not run.
    pub fn validate(&self, ctx: &Context, tool: &str, arguments: Value) -> Result<Checked, ToolError> {
        let snapshot = ctx.tools().snapshot();
        if let Some(checked) = self.check_expected(&snapshot, ctx, tool, &arguments)? {
            return Ok(checked);
        }
        let policy = self.policy_for(ctx);
        let resolved = snapshot.find(tool, ctx.dialect()).map_err(|_| self.unknown_tool(ctx, tool));
        let called = resolved.as_ref().ok().and_then(|found| found.alias.clone());
        let found = steps::find(resolved, ctx, &policy, tool, arguments)?;
        let (entry, mut repairs) = (found.entry, found.repairs);
        let prepared = entry.prepared()?;
        let called = called.as_deref();
        let repaired = steps::repair(ctx, snapshot.dialects(), prepared, called, found.arguments)?;
        let (arguments, more) = steps::validate(ctx, prepared, called, repaired)?;
        repairs.extend(more);
        let accesses = arguments::accesses(ctx, &entry, prepared, &arguments)?;
        let policy = steps::knowing_git_now(ctx, &policy, &accesses);
        let request = Request { tool: entry.name(), accesses: &accesses };
        let effect = policy.decide(&request).effect();
        if effect == Effect::Deny {
            return Err(decide::denied(&policy, &request, ""));
        }
        let foreseen = foresee::foreseen(self, ctx, &entry, &policy, &arguments, &accesses, effect)?;
        let effect = match effect {
            Effect::Allow if foreseen.is_limited() => Outlook::Limited,
            effect => effect.into(),
        };
        Ok(Checked { tool: entry.name().to_owned(), arguments, repairs, accesses, effect, foreseen })
    }

    /// How a call would be decided, rule by rule, and what is known of it beside that, without running it; also where the tool is
    /// not offered.
    pub fn explain(&self, ctx: &Context, tool: &str, arguments: Value) -> Result<Explanation, ToolError> {
        let snapshot = ctx.tools().snapshot();
        if let Some(explanation) = self.explain_expected(&snapshot, ctx, tool) {
            return Ok(explanation);
        }
        let found = snapshot.find(tool, ctx.dialect()).map_err(|_| self.unknown_tool(ctx, tool))?;
        let prepared = found.entry.prepared()?;
        let arguments = match &found.alias {
            Some(alias) => alias.apply(arguments, Caller::Own).0,
            None => arguments,
        };
        let called = found.alias.as_deref();
        let repaired = steps::repair(ctx, snapshot.dialects(), prepared, called, arguments)?;
        let (arguments, _) = steps::validate(ctx, prepared, called, repaired)?;
        let accesses = arguments::accesses(ctx, &found.entry, prepared, &arguments)?;
        let request = Request { tool: found.entry.name(), accesses: &accesses };
        let policy = steps::knowing_git_now(ctx, &self.policy_for(ctx), &accesses);
        let explanation = policy.explain(&request);
        let effect = policy.decide(&request).effect();
        if effect != Effect::Deny
            && let Err(refusal) = steps::admitted(ctx, &policy, found.entry.spec())
        {
            return Ok(explanation.refused(refusal.message()));
        }
        Ok(match foresee::foreseen(self, ctx, &found.entry, &policy, &arguments, &accesses, effect) {
            Ok(foreseen) => explanation.foreseeing(foreseen),
            Err(refusal) => explanation.refused(refusal.message()),
        })
    }

    /// Makes the tools of a session ready whose definitions differ by agent, so that they can be offered. Returns those that
    /// failed.
    pub async fn ready_by_agent(&self, ctx: &Context) -> Vec<(String, ToolError)> {
        let mut failed = Vec::new();
        for entry in ctx.tools().all().iter().filter(|entry| entry.spec().is_by_agent) {
            if let Err(error) = entry.ready(&ctx.setting(), self.inner.init_limit).await {
                failed.push((entry.name().to_owned(), error));
            }
        }
        failed
    }

    /// Counts and times, by tool.
    pub fn stats(&self) -> Stats {
        self.inner.records.stats()
    }

    /// The last outcomes of a session, oldest first.
    pub fn last_results(&self, session: &str) -> Vec<Arc<Outcome>> {
        self.inner.records.last_results(session)
    }
}

impl Default for Executor {
    fn default() -> Executor {
        Executor::new()
    }
}
