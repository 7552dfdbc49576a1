//! Tools of servers that have yet to start. What can be decided without the server is decided before it is started:
//! whether the tool could be offered, what the rules say of it, and what a person says who is asked.

use super::call::{Agreed, Call, Checked};
use super::decide::{decided, denied};
use super::{Executor, run, steps};
use crate::context::Context;
use crate::error::{Code, ToolError};
use crate::policy::{Effect, Explanation, Foreseen, Outlook, Policy, Request};
use crate::registry::{Entry, Snapshot};
use crate::source::{Expected, ToolSource};
use crate::tool::{Definition, dynamic};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A server that takes longer to start is spoken of.
const QUIET: Duration = Duration::from_millis(500);

impl Executor {
    /// Waits for the server of a tool that has yet to start, if the call could be allowed at all; asks first, where
    /// that is what the policy says. What was agreed to belongs into the call. Returns at once for all other tools.
    pub async fn awaited(&self, ctx: &Context, call: &Call) -> Result<Option<Agreed>, ToolError> {
        let snapshot = ctx.tools().snapshot();
        let sources = to_come(&snapshot, ctx, &call.tool);
        if sources.is_empty() {
            return Ok(None);
        }
        let id = toolpost_text::id::new_shared_id(ctx.clock().now_ms());
        let ctx = self.derive(ctx, &snapshot, call, None, id);
        self.await_source(&ctx, call, &sources).await
    }

    /// Waits for all servers of which some tool could be offered to this session. The others are named, with the reason.
    pub async fn all_ready(&self, ctx: &Context) -> Vec<(String, ToolError)> {
        let policy = self.policy_for(ctx);
        let is_wanted = |expected: &Expected| could_be_offered(&policy, expected);
        let sources = ctx.tools().sources();
        let failed = sources.iter().map(|source| source.wanted_ready(&is_wanted));
        futures_util::future::join_all(failed).await.into_iter().flatten().collect()
    }

    /// Decides what can be decided, then waits for the sources that may have the tool. `ctx` is the call's.
    pub(super) async fn await_source(
        &self,
        ctx: &Context,
        call: &Call,
        sources: &[Arc<dyn ToolSource>],
    ) -> Result<Option<Agreed>, ToolError> {
        if ctx.call_depth() > super::MAX_CALL_DEPTH {
            // Refused by the first step, which needs no server.
            return Ok(None);
        }
        let agreed = match call.agreed.clone() {
            Some(agreed) => Some(agreed),
            None => self.decide_expected(ctx, call, &expected(sources, &call.tool)).await?,
        };
        let mut ready = std::pin::pin!(first_ready(ctx, sources, &call.tool));
        let mut patience = std::pin::pin!(tokio::time::sleep(QUIET));
        let mut is_told = false;
        loop {
            tokio::select! {
                biased;
                () = ctx.cancel().cancelled() => return Err(run::cancelled(&call.tool)),
                ready = &mut ready => return ready.map(|()| agreed),
                () = &mut patience, if !is_told => {
                    is_told = true;
                    ctx.progress(format!("waiting for the server of `{}` to start", call.tool), Value::Null);
                }
            }
        }
    }

    /// Refuses what would be refused whatever the tool turns out to be, and asks about a tool that is known well enough.
    async fn decide_expected(
        &self,
        ctx: &Context,
        call: &Call,
        expected: &[Expected],
    ) -> Result<Option<Agreed>, ToolError> {
        self.first_refusal(ctx, expected, call.is_dry_run || ctx.is_dry_run())?;
        // Only where there is one possibility the question is the one that would be asked later.
        let [only] = expected else { return Ok(None) };
        let entry = Arc::new(self.entry(only)?);
        let decided = decided(ctx, knowing(self.policy_for(ctx), only), &entry, &only.accesses)?;
        let consent = self.confirmed(ctx, &entry, &only.accesses, &call.arguments, decided, None).await?;
        let tool = entry.name().to_owned();
        Ok((!consent.accesses.is_empty()).then_some(Agreed { tool, accesses: consent.accesses }))
    }

    /// The refusal, if every possible declaration of the tool is refused.
    fn first_refusal(&self, ctx: &Context, expected: &[Expected], is_dry_run: bool) -> Result<(), ToolError> {
        let mut first = None;
        for one in expected {
            match self.refusal(ctx, one, is_dry_run) {
                Ok(()) => return Ok(()),
                Err(why) => first = first.or(Some(why)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    fn refusal(&self, ctx: &Context, expected: &Expected, is_dry_run: bool) -> Result<(), ToolError> {
        let policy = knowing(self.policy_for(ctx), expected);
        steps::check_offered(&policy, &expected.spec, &expected.spec.name)?;
        if is_dry_run {
            run::check_dry_run(&self.entry(expected)?)?;
        }
        let request = Request { tool: &expected.spec.name, accesses: &expected.accesses };
        match policy.decide(&request).effect() {
            Effect::Deny => Err(denied(&policy, &request, "")),
            Effect::Allow | Effect::Ask => Ok(()),
        }
    }

    /// A check of a call whose server has yet to start and that a person would be asked about: its server is not started
    /// for the check, so its arguments stay unchecked. None where the tool is there; an error where it is denied.
    pub(super) fn check_expected(
        &self,
        snapshot: &Snapshot,
        ctx: &Context,
        tool: &str,
        arguments: &Value,
    ) -> Result<Option<Checked>, ToolError> {
        let sources = to_come(snapshot, ctx, tool);
        if sources.is_empty() {
            return Ok(None);
        }
        let expected = expected(&sources, tool);
        self.first_refusal(ctx, &expected, false)?;
        let policy = self.policy_for(ctx);
        let effects = expected.iter().map(|one| effect(&policy, one));
        let (Some(Effect::Ask), Some(first)) = (effects.min(), expected.first()) else { return Ok(None) };
        Ok(Some(Checked {
            tool: first.spec.name.clone(),
            arguments: arguments.clone(),
            repairs: Vec::new(),
            accesses: first.accesses.clone(),
            effect: Outlook::Ask,
            foreseen: Foreseen::default(),
        }))
    }

    /// How a call would be decided whose server has yet to start. None where that depends on what the server says of its tools.
    pub(super) fn explain_expected(
        &self,
        snapshot: &Snapshot,
        ctx: &Context,
        tool: &str,
    ) -> Option<Explanation> {
        let sources = to_come(snapshot, ctx, tool);
        let policy = self.policy_for(ctx);
        let expected = expected(&sources, tool);
        let is_open = expected.len() > 1 && expected.iter().any(|one| effect(&policy, one) == Effect::Allow);
        let first = expected.first().filter(|_| !is_open)?;
        Some(knowing(policy, first).explain(&Request { tool: &first.spec.name, accesses: &first.accesses }))
    }

    /// The tool as the executor knows tools, for a question about it.
    fn entry(&self, expected: &Expected) -> Result<Entry, ToolError> {
        let Expected { spec, accesses, facts } = expected.clone();
        let name = spec.name.clone();
        let tool = dynamic(spec, json!({"type": "object"}), move |_, _| {
            let message = format!("the server of `{name}` has not been started");
            async move { Err(ToolError::new(Code::InitFailed, message)) }
        });
        Entry::new(Arc::new(tool.with_accesses(accesses).with_facts(facts)), Arc::default())
    }

    /// See [`Context::unlisted`].
    pub(crate) async fn unlisted(&self, ctx: &Context) -> (Vec<Definition>, Vec<(String, ToolError)>) {
        let failed = self.all_ready(ctx).await;
        let listing = self.listing(ctx);
        let offer = |entry: &Arc<Entry>| listing.definition(entry).ok().flatten();
        (listing.held_back.iter().filter_map(offer).collect(), failed)
    }
}

/// The sources that may have a tool that is not there yet; none where it is.
pub(super) fn to_come(snapshot: &Snapshot, ctx: &Context, tool: &str) -> Vec<Arc<dyn ToolSource>> {
    match snapshot.find(tool, ctx.dialect()) {
        Ok(_) => Vec::new(),
        Err(_) => ctx.tools().sources_of(tool),
    }
}

fn expected(sources: &[Arc<dyn ToolSource>], tool: &str) -> Vec<Expected> {
    sources.iter().flat_map(|source| source.expected(tool)).collect()
}

/// Waits for one source after another until one has registered the tool. Fails where all have, with the first reason.
async fn first_ready(ctx: &Context, sources: &[Arc<dyn ToolSource>], tool: &str) -> Result<(), ToolError> {
    let mut first = None;
    for source in sources {
        match source.ready(tool).await {
            Ok(()) if ctx.tools().snapshot().find(tool, ctx.dialect()).is_ok() => return Ok(()),
            Ok(()) => {}
            Err(why) => first = first.or(Some(why)),
        }
    }
    first.map_or(Ok(()), Err)
}

/// The policy, with the names by which rules know a tool that has yet to come.
fn knowing(policy: Policy, expected: &Expected) -> Policy {
    match expected.spec.rule_names {
        Some(_) => policy.with_names(&policy.names().with(&expected.spec)),
        None => policy,
    }
}

fn effect(policy: &Policy, expected: &Expected) -> Effect {
    knowing(policy.clone(), expected)
        .decide(&Request { tool: &expected.spec.name, accesses: &expected.accesses })
        .effect()
}

/// Whether some tool of a server could be offered: it is not denied, or some rule allows one of them.
fn could_be_offered(policy: &Policy, expected: &Expected) -> bool {
    effect(policy, expected) != Effect::Deny
        || knowing(policy.clone(), expected).may_allow_some(&expected.spec.name)
}
