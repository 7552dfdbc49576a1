//! The eleven steps of a call, in their order.
//!
//! Steps 1, 3, 4 and 6 do no I/O; what they need of the disk is looked up before. What a step needs more than a screen for stands in the file of its name.

use super::arguments::{self, Repaired};
use super::call::Call;
use super::decide::{self, Consent, Decided};
use super::guard::with_run_by_git;
use super::hook::{Changed, Hooks};
use super::listing::{Absence, absence};
use super::to_come::to_come;
use super::together::{Member, Together};
use super::{Executor, MAX_CALL_DEPTH, budget, payload_message, run};
use crate::access::{Access, Resource};
use crate::capability::{Capabilities, Capability};
use crate::context::{Context, Running};
use crate::dialect::Dialects;
use crate::error::{Code, ToolError};
use crate::event::EventKind;
use crate::outcome::{Metadata, Outcome, Output, Truncation};
use crate::policy::{Effect, Policy, Remedy};
use crate::registry::{Entry, Prepared, Resolved, Snapshot};
use crate::tool::{OutputBudget, Spec};
use futures_util::FutureExt;
use futures_util::future::Either;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use toolpost_schema::Repair;
use toolpost_schema::{Alias, Caller};
use toolpost_text::id::new_shared_id;

/// What a call asks for, once its tool is found.
pub(super) struct Found {
    pub(super) entry: Arc<Entry>,
    pub(super) arguments: Value,
    pub(super) repairs: Vec<Repair>,
}

/// Step 1: the tool that the name leads to, whether the session may call it at all, and the arguments in its own spelling.
pub(super) fn find(
    found: Result<Resolved, ToolError>,
    ctx: &Context,
    policy: &Policy,
    name: &str,
    arguments: Value,
) -> Result<Found, ToolError> {
    let Resolved { entry, alias, is_own } = found?;
    // With a rule that does nothing, more would be allowed than its program wants.
    if let Some(problem) = policy.problem() {
        return Err(problem.into());
    }
    let spec = entry.spec();
    admitted(ctx, policy, spec)?;
    let shown = ctx.dialect().shown_name(&spec.name).unwrap_or(&spec.name);
    let mut repairs = Vec::new();
    if !is_own {
        let to = format!("`{shown}`");
        repairs.push(Repair { path: "tool".to_owned(), from: format!("`{name}`"), to });
    }
    let arguments = match alias {
        None => arguments,
        Some(alias) => {
            let caller = match is_own {
                true => Caller::Own,
                false => Caller::Other(ctx.spelling_of(&spec.name, Some(&alias))),
            };
            let (arguments, left_out) = alias.apply(arguments, caller);
            repairs.extend(left_out);
            arguments
        }
    };
    Ok(Found { entry, arguments, repairs })
}

/// Whether the session may call the tool at all.
pub(super) fn admitted(ctx: &Context, policy: &Policy, spec: &Spec) -> Result<(), ToolError> {
    let why = absence(ctx, policy, &ctx.tools().snapshot(), spec);
    let shown = ctx.dialect().shown_name(&spec.name).unwrap_or(&spec.name);
    let message = match why {
        None | Some(Absence::UnknownProvider(_) | Absence::Dialect(..) | Absence::NothingToFind) => {
            return Ok(());
        }
        Some(Absence::Policy(_)) => return check_offered(policy, spec, shown),
        Some(Absence::Role(_)) => return check_role(ctx, spec, shown),
        Some(Absence::Service(need, advice)) => {
            let advice = advice.map(|advice| format!("; {advice}")).unwrap_or_default();
            let message = format!("`{shown}` needs {}{advice}", need.in_words());
            return Err(ToolError::new(need.missing_code(), message));
        }
        Some(Absence::Selection(by)) => format!(
            "`{shown}` is not among the tools of this session, which has only those of {by}; add its pack, or leave that out"
        ),
        Some(Absence::Provider(providers)) => {
            let (own, others) = (ctx.provider().unwrap_or_default(), providers.join(" or "));
            format!(
                "`{shown}` is made for models of {others}, and the model of this session is of {own}; use another tool"
            )
        }
    };
    Err(ToolError::new(Code::ToolNotFound, message))
}

/// Step 2: the tool made ready, once.
async fn init<'e>(
    executor: &Executor,
    ctx: &Context,
    entry: &'e Entry,
) -> Result<&'e Arc<Prepared>, ToolError> {
    if entry.is_ready() {
        return entry.prepared();
    }
    let setting = ctx.setting();
    // Boxed, like all that few calls need: every call would carry its size.
    let ready = Box::pin(entry.ready(&setting, executor.inner.init_limit));
    let (prepared, is_first) = tokio::select! {
        biased;
        () = ctx.cancel().cancelled() => return Err(run::cancelled(ctx.known_as(entry.name()))),
        ready = ready => ready?,
    };
    if is_first {
        ctx.record(|| EventKind::ToolInitialized { tool: entry.name().to_owned() });
    }
    Ok(prepared)
}

/// Step 3: arguments that do not fit, mended where nothing is lost.
pub(super) fn repair(
    ctx: &Context,
    dialects: &Dialects,
    prepared: &Prepared,
    called: Option<&Alias>,
    arguments: Value,
) -> Result<Repaired, ToolError> {
    arguments::repaired(ctx, dialects, prepared, called, arguments)
}

/// Step 4: what the schema says of them.
pub(super) fn validate(
    ctx: &Context,
    prepared: &Prepared,
    called: Option<&Alias>,
    repaired: Repaired,
) -> Result<(Value, Vec<Repair>), ToolError> {
    arguments::validated(ctx, prepared, called, repaired)
}

/// Step 5: the host's hooks, which may stop the call or change its arguments.
async fn hooks<'h>(
    executor: &Executor,
    hooks: &'h Hooks,
    ctx: &Context,
    entry: &Entry,
    arguments: &Value,
) -> Result<Option<Changed<'h>>, ToolError> {
    if hooks.is_empty() {
        return Ok(None);
    }
    Box::pin(executor.before(hooks, ctx, entry, arguments)).await
}

/// Before step 6: the policy with what git runs of the files that the call names.
async fn knowing_git(ctx: &Context, policy: Policy, accesses: &[Access]) -> Result<Policy, ToolError> {
    let written = written(accesses);
    if written.is_empty() || !ctx.host_workspace().has_repositories() {
        return Ok(policy);
    }
    let workspace = ctx.host_workspace().clone();
    let run = crate::blocking::blocking(move || workspace.run_by_git(&written)).await?;
    Ok(with_run_by_git(&policy, &run))
}

/// The same, for a check that runs nothing.
pub(super) fn knowing_git_now(ctx: &Context, policy: &Policy, accesses: &[Access]) -> Policy {
    let written = written(accesses);
    match written.is_empty() {
        true => policy.clone(),
        false => with_run_by_git(policy, &ctx.host_workspace().run_by_git(&written)),
    }
}

/// The files that a call would write.
fn written(accesses: &[Access]) -> Vec<String> {
    let path = |access: &Access| match &access.resource {
        Resource::Path(path) if access.action == Capability::Write => Some(path.clone()),
        _ => None,
    };
    accesses.iter().filter_map(path).collect()
}

/// Step 6: what the policy says.
fn decide(ctx: &Context, policy: Policy, entry: &Entry, accesses: &[Access]) -> Result<Decided, ToolError> {
    decide::decided(ctx, policy, entry, accesses)
}

/// Step 7: what the person says, where the policy asks.
async fn confirm(
    executor: &Executor,
    ctx: &Context,
    (entry, accesses, arguments): (&Arc<Entry>, &[Access], &Value),
    decided: Decided,
    call: &mut Call,
) -> Result<Consent, ToolError> {
    if decided.effect != Effect::Ask {
        return Ok(decided.consent);
    }
    let agreed = call.agreed.take();
    Box::pin(executor.confirmed(ctx, entry, accesses, arguments, decided, agreed.as_ref())).await
}

/// Step 8: the tool runs.
async fn start(
    executor: &Executor,
    ctx: &Context,
    call: &Call,
    (entry, accesses, arguments): (&Arc<Entry>, &[Access], Value),
    consent: Consent,
    metadata: &mut Metadata,
) -> Result<Output<Value>, ToolError> {
    let result = executor.execute(ctx, entry, call, arguments, accesses, consent, metadata).await;
    result.map(Output::with_data_as_text)
}

/// Step 9: known secrets taken out.
async fn redact(ctx: &Context, result: Result<Output<Value>, ToolError>) -> Result<Output<Value>, ToolError> {
    if ctx.redactor().is_empty() {
        return result;
    }
    Box::pin(budget::without_secrets_in(ctx, result)).await
}

/// Step 10: the text cut to its budget, and the whole kept under a handle.
async fn cut(
    ctx: &Context,
    limit: OutputBudget,
    result: Result<Output<Value>, ToolError>,
) -> (Result<Output<Value>, ToolError>, Option<Truncation>) {
    match budget::fitting(limit, result) {
        Ok(fitting) => fitting,
        Err(result) => Box::pin(budget::within(ctx, limit, result)).await,
    }
}

/// Step 11: events, statistics, hooks that look on, sinks.
async fn record(executor: &Executor, hooks: &Hooks, ctx: &Context, outcome: &Outcome, known: &Known) {
    executor.record(ctx, outcome, known.is_found);
    // The result of a change is given when its end is durable too. Any other call waits only where events would pile up.
    let is_change = known.can_change && outcome.metadata.attempts > 0;
    if (is_change && ctx.events().is_listening() || ctx.events().is_overloaded())
        && let Err(error) = ctx.events().commit().await
    {
        ctx.record(|| EventKind::Warning { message: error.message().to_owned() });
    }
    if !hooks.is_empty() {
        Box::pin(executor.after(hooks, ctx, outcome)).await;
    }
    executor.tell(ctx, outcome);
}

impl Executor {
    /// One call, from its name to its outcome.
    pub(crate) fn run_in<'a>(
        &'a self,
        snapshot: Arc<Snapshot>,
        parent: &'a Context,
        call: Call,
    ) -> crate::host::BoxFuture<'a, Outcome> {
        let found = snapshot.find(&call.tool, parent.dialect());
        self.run_found(snapshot, found, parent, call, None)
    }

    /// Several calls: see [`Executor::call_all`].
    pub(crate) async fn run_all_in(
        &self,
        snapshot: Arc<Snapshot>,
        ctx: &Context,
        calls: Vec<Call>,
    ) -> Vec<Outcome> {
        // A call alone has nobody to wait for.
        let together = (calls.len() > 1).then(|| Together::new(ctx.running().confirm.clone(), calls.len()));
        let mut in_turn = 0;
        let runs = calls.into_iter().zip(1..).map(|(call, number)| {
            let found = snapshot.find(&call.tool, ctx.dialect());
            let is_safe = found.as_ref().is_ok_and(|found| found.entry.spec().facts.parallel_safe);
            let place = (!is_safe).then_some(in_turn);
            in_turn += usize::from(!is_safe);
            let member = together.as_ref().map(|together| together.member(number, place));
            self.run_found(snapshot.clone(), found, ctx, call, member)
        });
        let runs = pin!(futures_util::future::join_all(runs.collect::<Vec<_>>()));
        let Some(together) = &together else { return runs.await };
        match futures_util::future::select(runs, pin!(together.ask_all())).await {
            Either::Left((outcomes, _)) => outcomes,
            Either::Right(((), runs)) => runs.await,
        }
    }

    fn run_found<'a>(
        &'a self,
        snapshot: Arc<Snapshot>,
        found: Result<Resolved, ToolError>,
        parent: &'a Context,
        call: Call,
        member: Option<Member>,
    ) -> crate::host::BoxFuture<'a, Outcome> {
        // Boxed, because a tool may call tools: the future would otherwise contain itself.
        Box::pin(async move {
            let (mut call, mut snapshot, mut found) = (call, snapshot, found);
            let id = call.id.take().unwrap_or_else(|| new_shared_id(parent.clock().now_ms()));
            let mut is_requested = false;
            let asking = |ctx: Context| match &member {
                Some(member) => ctx.asking(member.confirm()),
                None => ctx,
            };
            // Only a tool of a source that has yet to start is waited for.
            let sources = if found.is_err() { to_come(&snapshot, parent, &call.tool) } else { Vec::new() };
            if !sources.is_empty() {
                let ctx = asking(self.derive(parent, &snapshot, &call, None, id.clone()));
                requested(&ctx, &call);
                is_requested = true;
                found = match Box::pin(self.await_source(&ctx, &call, &sources)).await {
                    Ok(agreed) => {
                        call.agreed = agreed.or(call.agreed);
                        snapshot = parent.tools().snapshot();
                        snapshot.find(&call.tool, parent.dialect())
                    }
                    Err(why) => Err(why),
                };
            }
            // What could not be found is told in the words of the session.
            if found.as_ref().is_err_and(|why| why.code() == Code::ToolNotFound) {
                found = Err(self.unknown_tool(parent, &call.tool));
            }
            let alias = found.as_ref().ok().and_then(|found| found.alias.clone());
            let ctx = asking(self.derive(parent, &snapshot, &call, alias, id));
            if !is_requested {
                requested(&ctx, &call);
            }
            let known = Known {
                tool: call.tool.as_str().into(),
                is_found: false,
                can_change: false,
                budget: OutputBudget::default(),
                metadata: Metadata::default(),
            };
            let mut ending = Ending { executor: self, ctx: &ctx, known: Mutex::new(known), is_over: false };
            let hooks = self.inner.hooks.load_full();
            let steps = pin!(self.steps(
                found,
                snapshot.dialects(),
                &hooks,
                &ctx,
                (call, member.as_ref()),
                &ending.known
            ));
            // The last net: the tool's own crashes are caught nearer to it.
            let result = AssertUnwindSafe(steps).catch_unwind().await;
            let result =
                result.unwrap_or_else(|crash| Err(run::crashed("the call", &payload_message(&*crash))));
            let result = redact(&ctx, result).await;
            let limit = ending.look(|known| known.budget);
            let (result, truncated) = cut(&ctx, limit, result).await;
            ending.is_over = true;
            let known =
                ending.look(|known| Known { metadata: std::mem::take(&mut known.metadata), ..known.clone() });
            let metadata = budget::redacted(&ctx, Metadata { truncated, ..known.metadata.clone() });
            // A name that no tool has may be anything, a secret too.
            let tool = match known.is_found {
                true => known.tool.to_string(),
                false => ctx.redactor().redact(&known.tool).into_owned(),
            };
            let outcome = Outcome { tool, call_id: ctx.call_id().to_owned(), result, metadata };
            record(self, &hooks, &ctx, &outcome, &known).await;
            outcome
        })
    }

    /// Steps 1 to 8.
    async fn steps(
        &self,
        found: Result<Resolved, ToolError>,
        dialects: &Dialects,
        own_hooks: &Hooks,
        ctx: &Context,
        (mut call, member): (Call, Option<&Member>),
        known: &Mutex<Known>,
    ) -> Result<Output<Value>, ToolError> {
        let know = |change: &mut dyn FnMut(&mut Known)| {
            change(&mut known.lock().unwrap_or_else(PoisonError::into_inner));
        };
        if ctx.call_depth() > MAX_CALL_DEPTH {
            return Err(ToolError::new(
                Code::DepthExceeded,
                format!("calls are nested deeper than {MAX_CALL_DEPTH}; call `{}` directly", call.tool),
            ));
        }
        if let Ok(found) = &found {
            know(&mut |known| {
                known.tool = found.entry.shared_name().clone();
                known.is_found = true;
                known.can_change = !found.entry.spec().facts.idempotent;
                known.budget = found.entry.spec().budget;
            });
        }
        let policy = self.policy_for(ctx);
        let arguments = std::mem::take(&mut call.arguments);
        let Found { entry, arguments, repairs } = find(found, ctx, &policy, &call.tool, arguments)?;
        if ctx.is_cancelled() {
            return Err(run::cancelled(ctx.known_as(entry.name())));
        }
        let noted = |repairs: Vec<Repair>| {
            if !repairs.is_empty() {
                ctx.record(|| EventKind::ArgumentsRepaired { repairs: repairs.clone() });
                know(&mut |known| known.metadata.repairs.extend(repairs.iter().cloned()));
            }
        };
        let prepared = init(self, ctx, &entry).await?;
        let checked = |arguments: Value| match call.skips_validation {
            true => Ok((arguments, Vec::new())),
            false => {
                let repaired = repair(ctx, dialects, prepared, ctx.alias(), arguments)?;
                validate(ctx, prepared, ctx.alias(), repaired)
            }
        };
        let checked_first = checked(arguments);
        noted(repairs.into_iter().chain(checked_first.iter().flat_map(|(_, more)| more.clone())).collect());
        let (mut arguments, _) = checked_first?;
        if let Some(changed) = hooks(self, own_hooks, ctx, &entry, &arguments).await? {
            let by = changed.by;
            let (changed, more) = checked(changed.arguments).map_err(|error| {
                let message = format!("hook `{by}` changed the arguments: {}", error.message());
                error.with_message(message)
            })?;
            noted(more);
            arguments = changed;
        }
        let accesses = arguments::accesses(ctx, &entry, prepared, &arguments)?;
        let policy = knowing_git(ctx, policy, &accesses).await?;
        let decided = decide(ctx, policy, &entry, &accesses)?;
        let consent = confirm(self, ctx, (&entry, &accesses, &arguments), decided, &mut call).await?;
        if let Some(member) = member {
            tokio::select! {
                biased;
                () = ctx.cancel().cancelled() => return Err(run::cancelled(ctx.known_as(entry.name()))),
                () = member.may_start() => {}
            }
        }
        let mut metadata = known.lock().unwrap_or_else(PoisonError::into_inner).metadata.clone();
        let result = start(self, ctx, &call, (&entry, &accesses, arguments), consent, &mut metadata).await;
        know(&mut |known| std::mem::swap(&mut known.metadata, &mut metadata));
        result
    }

    /// The context of a call, before anything is known of its tool.
    pub(super) fn derive(
        &self,
        parent: &Context,
        snapshot: &Arc<Snapshot>,
        call: &Call,
        alias: Option<Arc<Alias>>,
        id: Arc<str>,
    ) -> Context {
        let above = parent.running();
        parent.derive(Running {
            tool: call.tool.as_str().into(),
            alias,
            parent: (!above.id.is_empty()).then(|| above.id.clone()),
            depth: above.depth + usize::from(!above.id.is_empty()),
            workspace: parent.host_workspace().clone(),
            confirm: above.confirm.clone(),
            guard: None,
            journal: None,
            cancel: above.cancel.child(),
            deadline: above.deadline.clone(),
            budget: above.budget,
            granted: Capabilities::NONE,
            // What a dry run calls is a dry run.
            is_dry_run: call.is_dry_run || above.is_dry_run,
            executor: Some((self.clone(), snapshot.clone())),
            span: tracing::info_span!(
                parent: &above.span,
                "execute_tool",
                session = parent.session(),
                agent = parent.ids().agent.as_deref(),
                call = &*id,
                tool = call.tool.as_str()
            ),
            id,
            ended: None,
            held: above.held.clone(),
            overlay: above.overlay.clone(),
            planned: None,
        })
    }
}

/// Whether what the tool requires is granted or can be.
pub(super) fn check_offered(policy: &Policy, spec: &Spec, shown: &str) -> Result<(), ToolError> {
    if policy.offers(&spec.name, spec.required) {
        return Ok(());
    }
    let absent = spec.required.difference(policy.granted().union(policy.askable()));
    // Of a group of tools hardly anybody means all.
    let tool = spec.rule_names.is_some().then_some(spec.name.as_str());
    let advice = policy.advise(&Remedy::Grant { missing: absent, tool });
    let message = format!("`{shown}` needs {absent}, which is not granted; {advice}");
    let missing = serde_json::to_value(absent).unwrap_or_default();
    Err(ToolError::new(Code::PermissionDenied, message).with("missing", missing))
}

/// Whether the role of the caller has the tool.
fn check_role(ctx: &Context, spec: &Spec, shown: &str) -> Result<(), ToolError> {
    let role = ctx.ids().role.as_deref();
    if spec.is_for_role(role) {
        return Ok(());
    }
    let has = spec.roles.join(" or ");
    let own = role.map_or_else(|| "no role".to_owned(), |role| format!("the role {role}"));
    let message = format!(
        "`{shown}` is for the role {has}, and this session has {own}; leave it to one with that role"
    );
    Err(ToolError::new(Code::RoleForbidden, message).with("roles", spec.roles.as_slice()))
}

/// Records that a call was made.
fn requested(ctx: &Context, call: &Call) {
    ctx.record(|| EventKind::CallRequested {
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        parent: ctx.parent_call().map(str::to_owned),
    });
}

/// What is known of a call by the time it ends, however early that is.
#[derive(Clone)]
struct Known {
    tool: Arc<str>,
    is_found: bool,
    can_change: bool,
    budget: OutputBudget,
    metadata: Metadata,
}

/// Records the end of a call whose caller has gone away, by dropping the future.
struct Ending<'a> {
    executor: &'a Executor,
    ctx: &'a Context,
    known: Mutex<Known>,
    is_over: bool,
}

impl Ending<'_> {
    fn look<T>(&self, at: impl FnOnce(&mut Known) -> T) -> T {
        at(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (tool, is_found) = self.look(|known| (known.tool.clone(), known.is_found));
        let outcome = Outcome {
            result: Err(run::cancelled(&tool)),
            tool: tool.to_string(),
            call_id: self.ctx.call_id().to_owned(),
            metadata: Metadata::default(),
        };
        self.executor.record(self.ctx, &outcome, is_found);
        self.executor.tell(self.ctx, &outcome);
    }
}
