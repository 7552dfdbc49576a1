//! The one path of a call: find, init, repair, validate, hooks, decide, confirm, run, redact, budget, record.
//!
//! Every way in (library, command line, MCP, kernel) ends here, and a tool is run nowhere else.

mod arguments;
mod budget;
mod builder;
mod call;
mod decide;
mod guard;
mod hook;
mod listing;
mod preview;
mod record;
mod run;
mod stats;
mod turns;
mod upstream;

pub use builder::ExecutorBuilder;
pub use call::{Agreed, Call, Checked, Retry};
pub use hook::{Hook, Verdict};
pub use listing::Listing;
pub(crate) use run::{panic_message, payload_message};
pub use stats::{Stats, ToolStats};

use crate::alias::Alias;
use crate::capability::Capabilities;
use crate::confirm::Answers;
use crate::context::{Context, Running};
use crate::error::{Code, ToolError};
use crate::event::EventKind;
use crate::id::new_id;
use crate::outcome::{Metadata, Outcome};
use crate::policy::{Effect, Explanation, Policy, Request};
use crate::registry::{Entry, Prepared, Registry, Resolved, Snapshot};
use crate::schema::Repair;
use crate::tool::{OutputBudget, Spec};
use decide::Remembered;
use futures_util::FutureExt;
use record::Records;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// Calls nested deeper than this (a tool that calls a tool that …) are refused.
const MAX_CALL_DEPTH: usize = 8;

/// Runs tools. Cheap to clone; all clones share registry, policy, hooks and records.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use toolpost_core::{Context, Executor, Output, Policy, Registry, Spec, dynamic};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let registry = Arc::new(Registry::new());
/// registry
///     .register(dynamic(Spec::new("ping", "1.0.0", "Answers."), json!({"type": "object"}), |_, _| async {
///         Ok(Output::new("ping", "pong", json!(null)))
///     }))
///     .unwrap();
/// let executor = Executor::new(registry, Policy::default());
/// let outcome = executor.call(&Context::in_memory(), "ping", json!({})).await;
/// assert_eq!(outcome.to_text(), "pong");
/// # }
/// ```
#[derive(Clone)]
pub struct Executor {
    inner: Arc<Inner>,
}

struct Inner {
    registry: Arc<Registry>,
    policy: Policy,
    answers: Option<Arc<dyn Answers>>,
    remembered: Remembered,
    hooks: Vec<Arc<dyn Hook>>,
    sinks: Vec<Box<ResultSink>>,
    init_limit: Duration,
    records: Records,
}

type ResultSink = dyn Fn(&Outcome) + Send + Sync;

impl Executor {
    /// An executor without hooks and sinks.
    pub fn new(registry: Arc<Registry>, policy: Policy) -> Executor {
        Executor::builder(registry, policy).build()
    }

    /// The registry it takes tools from.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.inner.registry
    }

    /// The policy that a session's calls are decided by: the one given, and what was answered since.
    pub fn policy_for(&self, session: &str) -> Policy {
        self.inner.remembered.add_to(&self.inner.policy, session)
    }

    /// Runs a tool. Never fails itself: whatever goes wrong is an outcome.
    pub async fn call(&self, ctx: &Context, tool: &str, arguments: Value) -> Outcome {
        self.run(ctx, Call::new(tool, arguments)).await
    }

    /// Runs a tool with options: time-out, retries, dry run.
    pub async fn run(&self, ctx: &Context, call: Call) -> Outcome {
        self.run_in(self.inner.registry.snapshot(), ctx, call).await
    }

    /// Runs several calls, results in order: those of parallel-safe tools side by side, the others one after another
    /// beside them. All of them see the same registry.
    pub async fn call_all(&self, ctx: &Context, calls: Vec<Call>) -> Vec<Outcome> {
        self.run_all_in(self.inner.registry.snapshot(), ctx, calls).await
    }

    /// Checks a call without running it: the name, the arguments, the policy. Hooks are not asked, and `init` does
    /// not run.
    pub fn validate(&self, ctx: &Context, tool: &str, arguments: Value) -> Result<Checked, ToolError> {
        let snapshot = self.inner.registry.snapshot();
        if let Some(checked) = self.check_expected(&snapshot, ctx, tool, &arguments)? {
            return Ok(checked);
        }
        let found = snapshot.find(tool, ctx.dialect())?;
        let entry = found.entry;
        let (arguments, mut repairs) = self.offered(&found, ctx, tool, arguments)?;
        let prepared = entry.prepared()?;
        let (arguments, more) = arguments::check(prepared, arguments)?;
        repairs.extend(more);
        let accesses = arguments::accesses(ctx, entry, prepared, &arguments)?;
        let request = Request { tool: entry.name(), accesses: &accesses };
        let policy = self.policy_for(ctx.session());
        let effect = policy.decide(&request).effect();
        if effect == Effect::Deny {
            return Err(decide::denied(&policy, &request, ""));
        }
        Ok(Checked { tool: entry.name().to_owned(), arguments, repairs, accesses, effect })
    }

    /// How a call would be decided, rule by rule, without running it; also where the tool is not offered.
    pub fn explain(&self, ctx: &Context, tool: &str, arguments: Value) -> Result<Explanation, ToolError> {
        let snapshot = self.inner.registry.snapshot();
        if let Some(explanation) = self.explain_expected(&snapshot, ctx, tool) {
            return Ok(explanation);
        }
        let Resolved { entry, alias, .. } = snapshot.find(tool, ctx.dialect())?;
        let prepared = entry.prepared()?;
        let arguments = match &alias {
            Some(alias) => alias.apply(arguments).0,
            None => arguments,
        };
        let (arguments, _) = arguments::check(prepared, arguments)?;
        let accesses = arguments::accesses(ctx, entry, prepared, &arguments)?;
        let request = Request { tool: entry.name(), accesses: &accesses };
        Ok(self.policy_for(ctx.session()).explain(&request))
    }

    /// Counts and times, by tool.
    pub fn stats(&self) -> Stats {
        self.inner.records.stats()
    }

    /// The last outcomes of a session, oldest first.
    pub fn last_results(&self, session: &str) -> Vec<Arc<Outcome>> {
        self.inner.records.last_results(session)
    }

    pub(crate) async fn run_all_in(
        &self,
        snapshot: Arc<Snapshot>,
        ctx: &Context,
        calls: Vec<Call>,
    ) -> Vec<Outcome> {
        let total = calls.len();
        let (mut beside, mut in_turn) = (Vec::new(), Vec::new());
        for (index, call) in calls.into_iter().enumerate() {
            let is_safe = snapshot
                .find(&call.tool, ctx.dialect())
                .is_ok_and(|found| found.entry.spec().facts.parallel_safe);
            if is_safe { beside.push((index, call)) } else { in_turn.push((index, call)) }
        }
        let beside = futures_util::future::join_all(beside.into_iter().map(|(index, call)| {
            let snapshot = snapshot.clone();
            async move { (index, self.run_in(snapshot, ctx, call).await) }
        }));
        let in_turn = async {
            let mut outcomes = Vec::new();
            for (index, call) in in_turn {
                outcomes.push((index, self.run_in(snapshot.clone(), ctx, call).await));
            }
            outcomes
        };
        let (beside, in_turn) = Box::pin(futures_util::future::join(beside, in_turn)).await;
        let mut outcomes: Vec<Option<Outcome>> = (0..total).map(|_| None).collect();
        for (index, outcome) in beside.into_iter().chain(in_turn) {
            outcomes[index] = Some(outcome);
        }
        outcomes.into_iter().flatten().collect()
    }

    pub(crate) fn run_in<'a>(
        &'a self,
        snapshot: Arc<Snapshot>,
        parent: &'a Context,
        call: Call,
    ) -> crate::BoxFuture<'a, Outcome> {
        // Boxed, because a tool may call tools: the future would otherwise contain itself.
        Box::pin(async move {
            let mut call = call;
            let id = new_id(parent.clock().now_ms());
            let mut is_requested = false;
            let mut snapshot = snapshot;
            let mut missing = None;
            if self.is_to_come(&snapshot, parent, &call.tool) {
                let ctx = self.derive(parent, &snapshot, &call, None, id.clone());
                requested(&ctx, &call);
                is_requested = true;
                match self.await_server(&ctx, &call).await {
                    Ok(agreed) => {
                        call.agreed = agreed.or(call.agreed);
                        snapshot = self.inner.registry.snapshot();
                    }
                    Err(why) => missing = Some(why),
                }
            }
            let found = match missing {
                Some(why) => Err(why),
                None => snapshot.find(&call.tool, parent.dialect()),
            };
            let alias = found.as_ref().ok().and_then(|found| found.alias.clone());
            let ctx = self.derive(parent, &snapshot, &call, alias, id);
            if !is_requested {
                requested(&ctx, &call);
            }
            let mut known = Known {
                tool: call.tool.clone(),
                is_found: false,
                budget: OutputBudget::default(),
                metadata: Metadata::default(),
            };
            let mut ending = Ending { executor: self, ctx: &ctx, tool: call.tool.clone(), is_over: false };
            let performed = AssertUnwindSafe(self.perform(found, &ctx, call, &mut known)).catch_unwind();
            // The last net: the tool's own crashes are caught nearer to it.
            let result = performed
                .await
                .unwrap_or_else(|crash| Err(run::crashed("the call", &payload_message(&*crash))));
            let (result, truncated) = budget::finish(&ctx, known.budget, result).await;
            let metadata = budget::redacted(&ctx, Metadata { truncated, ..known.metadata });
            // A name that no tool has may be anything, a secret too.
            let tool = match known.is_found {
                true => known.tool,
                false => ctx.redactor().redact(&known.tool).into_owned(),
            };
            let outcome = Outcome { tool, call_id: ctx.call_id().to_owned(), result, metadata };
            ending.is_over = true;
            self.record(&ctx, &outcome, known.is_found);
            self.after(&ctx, &outcome).await;
            self.tell(&ctx, &outcome);
            outcome
        })
    }

    /// The context of a call, before anything is known of its tool.
    fn derive(
        &self,
        parent: &Context,
        snapshot: &Arc<Snapshot>,
        call: &Call,
        alias: Option<Arc<Alias>>,
        id: String,
    ) -> Context {
        let above = parent.running();
        parent.derive(Running {
            id,
            tool: call.tool.clone(),
            alias,
            parent: (!above.id.is_empty()).then(|| above.id.clone()),
            depth: above.depth + usize::from(!above.id.is_empty()),
            workspace: parent.host_workspace().clone(),
            guard: None,
            cancel: above.cancel.child_token(),
            deadline: above.deadline.clone(),
            budget: above.budget,
            granted: Capabilities::NONE,
            // What a dry run calls is a dry run.
            is_dry_run: call.is_dry_run || above.is_dry_run,
            executor: Some((self.clone(), snapshot.clone())),
            span: tracing::Span::none(),
            ended: Arc::default(),
            held: above.held.clone(),
            overlay: above.overlay.clone(),
            planned: Arc::default(),
        })
    }

    /// Steps 1 to 9.
    async fn perform(
        &self,
        found: Result<Resolved<'_>, ToolError>,
        ctx: &Context,
        mut call: Call,
        known: &mut Known,
    ) -> Result<crate::Output<Value>, ToolError> {
        if ctx.call_depth() > MAX_CALL_DEPTH {
            return Err(ToolError::new(
                Code::DepthExceeded,
                format!("calls are nested deeper than {MAX_CALL_DEPTH}; call `{}` directly", call.tool),
            ));
        }
        // 1 find
        let found = found?;
        let entry = found.entry;
        entry.name().clone_into(&mut known.tool);
        known.is_found = true;
        known.budget = entry.spec().budget;
        let metadata = &mut known.metadata;
        let arguments = std::mem::take(&mut call.arguments);
        let (arguments, repairs) = self.offered(&found, ctx, &call.tool, arguments)?;
        metadata.repairs = repairs;
        if ctx.cancel().is_cancelled() {
            return Err(run::cancelled(entry.name()));
        }
        // 2 init
        let prepared = self.initialize(ctx, entry).await?;
        // 3 repair, 4 validate
        let checked = self.checked(prepared, arguments, &call, metadata);
        note_repairs(ctx, &metadata.repairs);
        let arguments = checked?;
        // 5 hooks
        let arguments = match self.before(ctx, entry, &arguments).await? {
            Some(changed) => {
                let noted = metadata.repairs.len();
                let arguments = self.checked(prepared, changed, &call, metadata)?;
                note_repairs(ctx, &metadata.repairs[noted..]);
                arguments
            }
            None => arguments,
        };
        // 6 decide, 7 confirm
        let accesses = arguments::accesses(ctx, entry, prepared, &arguments)?;
        let agreed = call.agreed.take();
        let consent = self.decide(ctx, entry, &accesses, &arguments, agreed.as_ref()).await?;
        // 8 start, run
        self.execute(ctx, entry, &call, arguments, &accesses, consent, metadata).await
    }

    /// Whether the tool that was found may be called at all, and the arguments in its own spelling.
    fn offered(
        &self,
        found: &Resolved<'_>,
        ctx: &Context,
        name: &str,
        arguments: Value,
    ) -> Result<(Value, Vec<Repair>), ToolError> {
        let Resolved { entry, alias, is_own } = found;
        let spec = entry.spec();
        self.check_offered(ctx, spec)?;
        if let Some(need) = spec.needs.iter().find(|need| !ctx.has(**need)) {
            return Err(ToolError::new(
                need.missing_code(),
                format!("`{}` needs the {} service, which is not there", spec.name, need.as_str()),
            ));
        }
        let mut repairs = Vec::new();
        if !is_own {
            let to = format!("`{}`", spec.name);
            repairs.push(Repair { path: "tool".to_owned(), from: format!("`{name}`"), to });
        }
        let Some(alias) = alias else { return Ok((arguments, repairs)) };
        let (arguments, left_out) = alias.apply(arguments);
        repairs.extend(left_out);
        Ok((arguments, repairs))
    }

    /// Whether what the tool requires is granted or can be.
    fn check_offered(&self, ctx: &Context, spec: &Spec) -> Result<(), ToolError> {
        let policy = self.policy_for(ctx.session());
        if policy.offers(&spec.name, spec.required) {
            return Ok(());
        }
        let absent = spec.required.difference(policy.granted().union(policy.askable()));
        let flags: Vec<String> = absent.iter().map(|one| format!("--allow {one}")).collect();
        // Of a server's tools hardly anybody means all.
        let narrower = match spec.name.starts_with("mcp__") {
            true => format!(", or just this tool with `--allow-rule '{}: *'`", spec.name),
            false => String::new(),
        };
        let message = format!(
            "`{}` needs {absent}, which is not granted; allow it with `{}`{narrower}",
            spec.name,
            flags.join(" ")
        );
        let missing = serde_json::to_value(absent).unwrap_or_default();
        Err(ToolError::new(Code::PermissionDenied, message).with("missing", missing))
    }

    async fn initialize<'e>(&self, ctx: &Context, entry: &'e Entry) -> Result<&'e Arc<Prepared>, ToolError> {
        if entry.is_ready() {
            return entry.prepared();
        }
        let setting = ctx.setting();
        let (prepared, is_first) = tokio::select! {
            biased;
            () = ctx.cancel().cancelled() => return Err(run::cancelled(entry.name())),
            ready = entry.ready(&setting, self.inner.init_limit) => ready?,
        };
        if is_first {
            ctx.record(|| EventKind::ToolInitialized { tool: entry.name().to_owned() });
        }
        Ok(prepared)
    }

    fn checked(
        &self,
        prepared: &Prepared,
        arguments: Value,
        call: &Call,
        metadata: &mut Metadata,
    ) -> Result<Value, ToolError> {
        if call.skips_validation {
            return Ok(arguments);
        }
        let (arguments, repairs) = arguments::check(prepared, arguments)?;
        metadata.repairs.extend(repairs);
        Ok(arguments)
    }
}

/// What is known of a call by the time it ends, however early that is.
/// Records that a call was made.
fn requested(ctx: &Context, call: &Call) {
    ctx.record(|| EventKind::CallRequested {
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        parent: ctx.parent_call().map(str::to_owned),
    });
}

struct Known {
    tool: String,
    is_found: bool,
    budget: OutputBudget,
    metadata: Metadata,
}

/// Records the end of a call whose caller has gone away, by dropping the future.
struct Ending<'a> {
    executor: &'a Executor,
    ctx: &'a Context,
    tool: String,
    is_over: bool,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let tool = self.ctx.running().executor.as_ref().and_then(|(_, snapshot)| {
            snapshot.find(&self.tool, self.ctx.dialect()).ok().map(|found| found.entry.name().to_owned())
        });
        let is_found = tool.is_some();
        let tool = tool.unwrap_or_else(|| std::mem::take(&mut self.tool));
        let outcome = Outcome {
            result: Err(run::cancelled(&tool)),
            tool,
            call_id: self.ctx.call_id().to_owned(),
            metadata: Metadata::default(),
        };
        self.executor.record(self.ctx, &outcome, is_found);
        self.executor.tell(self.ctx, &outcome);
    }
}

fn note_repairs(ctx: &Context, repairs: &[Repair]) {
    if !repairs.is_empty() {
        ctx.record(|| EventKind::ArgumentsRepaired { repairs: repairs.to_vec() });
    }
}
