//! Step 8: the tool runs, in a task of its own, within its time, with its files locked.

use super::decide::Consent;
use super::guard::CallGuard;
use super::{Call, Executor};
use crate::access::{Access, Resource};
use crate::capability::{Capabilities, Capability};
use crate::context::{Context, Deadline, Running};
use crate::error::{Code, ToolError};
use crate::event::EventKind;
use crate::outcome::{DryRun, Metadata, Output, PlannedChange};
use crate::policy::Policy;
use crate::registry::{AbortOnDrop, Entry};
use crate::workspace::{Bound, Change, Guard, Lock, Overlay, Usage, Workspace, WorkspacePath};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinError;
use tracing::Instrument;

impl Executor {
    /// Runs the tool as often as the call's retry allows.
    #[expect(clippy::too_many_arguments, reason = "the results of seven steps meet here")]
    pub(super) async fn execute(
        &self,
        ctx: &Context,
        entry: &Arc<Entry>,
        call: &Call,
        arguments: Value,
        accesses: &[Access],
        consent: Consent,
        metadata: &mut Metadata,
    ) -> Result<Output<Value>, ToolError> {
        let spec = entry.spec();
        let is_dry_run = ctx.is_dry_run();
        if is_dry_run {
            check_dry_run(entry)?;
        }
        let _locks = if is_dry_run { Vec::new() } else { lock_files(ctx, spec.required, accesses).await? };
        let arguments = Arc::new(arguments);
        let attempts = if spec.facts.retryable && !is_dry_run { call.retry.attempts.max(1) } else { 1 };
        let limit = call.timeout.unwrap_or(spec.timeout).min(spec.max_timeout);
        let usage = Arc::new(Usage::default());
        let mut attempt = 1;
        let started = Instant::now();
        let result = loop {
            if ctx.cancel().is_cancelled() {
                break Err(cancelled(entry.name()));
            }
            ctx.record(|| EventKind::CallStarted { tool: spec.name.clone(), attempt, dry_run: is_dry_run });
            if !spec.facts.idempotent && !is_dry_run {
                ctx.events().commit().await?;
            }
            let overlay = is_dry_run.then(|| Arc::new(Overlay::over(ctx.host_workspace().clone())));
            let running = running(ctx, entry, &consent, limit, overlay.clone(), usage.clone());
            let result = attempt_once(running, entry.clone(), arguments.clone(), limit).await;
            if let Some(overlay) = overlay {
                metadata.dry_run = Some(planned(overlay.changes()));
            }
            match result {
                Err(error) if error.is_retryable() && attempt < attempts => {
                    let delay = call.retry.delay_after(attempt);
                    ctx.record(|| EventKind::CallRetried {
                        attempt,
                        error: error.clone(),
                        delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                    });
                    tokio::select! {
                        () = tokio::time::sleep(delay) => {}
                        () = ctx.cancel().cancelled() => {}
                    }
                    attempt += 1;
                }
                result => break result,
            }
        };
        metadata.attempts = attempt;
        metadata.execution_time_ms = round_to_micros(started.elapsed());
        metadata.bytes_read = usage.bytes_read();
        metadata.bytes_written = usage.bytes_written();
        metadata.files_accessed = usage.files();
        result
    }

    /// What a call would change, for the question before it; only where computing it executes nothing.
    pub(super) async fn preview(
        &self,
        ctx: &Context,
        entry: &Arc<Entry>,
        policy: &Policy,
        asking: &[Access],
        arguments: &Value,
    ) -> Option<String> {
        let all = entry.capabilities();
        if !all.has(Capability::Write) || all.has(Capability::Exec) || all.has(Capability::Network) {
            return None;
        }
        if !ctx.wants_preview() {
            return None;
        }
        let overlay = Arc::new(Overlay::over(ctx.host_workspace().clone()));
        let limit = Duration::from_secs(5);
        let granted = entry.spec().required;
        let guard = CallGuard {
            tool: entry.name().to_owned(),
            granted,
            policy: policy.clone(),
            consented: asking.to_vec(),
        };
        let consent = Consent { granted, guard: Arc::new(guard) };
        let mut trial = running(ctx, entry, &consent, limit, Some(overlay), Arc::default()).running().clone();
        trial.is_dry_run = true;
        let output =
            attempt_once(ctx.derive(trial), entry.clone(), Arc::new(arguments.clone()), limit).await.ok()?;
        Some(ctx.redactor().redact(&output.text).into_owned())
    }
}

/// The context that the tool itself gets.
fn running(
    ctx: &Context,
    entry: &Entry,
    consent: &Consent,
    limit: Duration,
    overlay: Option<Arc<Overlay>>,
    usage: Arc<Usage>,
) -> Context {
    let above = ctx.running();
    let inner: Arc<dyn Workspace> = match overlay {
        Some(overlay) => overlay,
        None => ctx.host_workspace().clone(),
    };
    let guard: Arc<dyn Guard> = consent.guard.clone();
    ctx.derive(Running {
        tool: entry.name().to_owned(),
        workspace: Arc::new(Bound::new(inner, guard.clone(), usage)),
        guard: Some(guard),
        cancel: above.cancel.child_token(),
        deadline: Deadline::after(limit),
        budget: entry.spec().budget,
        granted: consent.granted,
        span: tracing::debug_span!(
            "execute_tool",
            gen_ai.tool.name = entry.name(),
            gen_ai.tool.call.id = ctx.call_id()
        ),
        ..above.clone()
    })
}

/// One attempt: the tool in its own task, ended by its deadline or its caller.
async fn attempt_once(
    ctx: Context,
    entry: Arc<Entry>,
    arguments: Arc<Value>,
    limit: Duration,
) -> Result<Output<Value>, ToolError> {
    let name = entry.name().to_owned();
    let grace = entry.spec().grace;
    let span = ctx.span().clone();
    let inner = ctx.clone();
    // In a task of its own: a panic is caught, and a tool that blocks its thread cannot keep its caller from leaving.
    let mut task = AbortOnDrop(tokio::spawn(
        async move {
            match inner.is_dry_run() {
                true => entry.tool().dry_run(&inner, &arguments).await,
                false => entry.tool().call(&inner, &arguments).await,
            }
        }
        .instrument(span),
    ));
    let ended = tokio::select! {
        biased;
        result = &mut task.0 => return joined(result, &name),
        () = ctx.cancel().cancelled() => cancelled(&name),
        () = ctx.running().deadline.reached() => {
            ToolError::new(
                Code::Timeout,
                format!("`{name}` took longer than {}; ask for less, or for more time", shown(limit)),
            )
            .with("timeoutMs", u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
        }
    };
    // Told to end, a tool may still hand over what it has.
    ctx.cancel().cancel();
    match tokio::time::timeout(grace, &mut task.0).await {
        Ok(Ok(Ok(output))) if ended.code() == Code::Timeout => Ok(output),
        Ok(Ok(Err(own))) if own.code() == ended.code() && !own.details().is_empty() => Err(own),
        _ => Err(ended),
    }
}

fn joined(
    result: Result<Result<Output<Value>, ToolError>, JoinError>,
    name: &str,
) -> Result<Output<Value>, ToolError> {
    result.unwrap_or_else(|error| {
        Err(ToolError::new(Code::Panic, format!("`{name}` crashed: {}", panic_message(error))))
    })
}

/// What a crashed task said last.
pub(crate) fn panic_message(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else { return "it was stopped".to_owned() };
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "it gave no message".to_owned(),
    }
}

pub(super) fn cancelled(tool: &str) -> ToolError {
    ToolError::new(Code::Cancelled, format!("the call of `{tool}` was cancelled"))
}

fn check_dry_run(entry: &Entry) -> Result<(), ToolError> {
    let all = entry.capabilities();
    if entry.spec().has_own_dry_run || !(all.has(Capability::Exec) || all.has(Capability::Network)) {
        return Ok(());
    }
    Err(ToolError::execution(format!(
        "`{}` can do more than change files ({all}) and has no dry run of its own",
        entry.name()
    )))
}

/// The turns to change every file the call names, always taken in the same order, so that no two calls wait for
/// each other.
async fn lock_files(
    ctx: &Context,
    required: Capabilities,
    accesses: &[Access],
) -> Result<Vec<Lock>, ToolError> {
    if !required.has(Capability::Write) {
        return Ok(Vec::new());
    }
    let workspace = ctx.host_workspace();
    let mut paths = BTreeMap::new();
    for access in accesses {
        if let (Capability::Write, Resource::Path(path)) = (access.action, &access.resource) {
            let path = WorkspacePath::new(path.clone());
            // Two spellings, or a link and its target, are one file and one turn.
            let name = match workspace.stat(&path).await {
                Ok(stat) => stat.name,
                Err(_) => workspace.name(&path)?,
            };
            paths.insert(name, path);
        }
    }
    let mut locks = Vec::with_capacity(paths.len());
    for path in paths.values() {
        tokio::select! {
            lock = workspace.lock(path) => locks.push(lock?),
            () = ctx.cancel().cancelled() => return Err(cancelled(&ctx.running().tool)),
        }
    }
    Ok(locks)
}

fn planned(changes: Vec<Change>) -> DryRun {
    let size = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| bytes.len() as u64);
    let changes = changes.into_iter().map(|change| PlannedChange {
        kind: match (&change.before, &change.after) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "change",
        }
        .to_owned(),
        bytes_before: size(&change.before),
        bytes_after: size(&change.after),
        path: change.path,
    });
    DryRun { changes: changes.collect() }
}

fn shown(limit: Duration) -> String {
    if limit < Duration::from_secs(1) {
        format!("{} ms", limit.as_millis())
    } else {
        format!("{} s", limit.as_secs_f64())
    }
}

fn round_to_micros(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
