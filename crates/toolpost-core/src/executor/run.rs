//! Step 8: the tool runs, in a task of its own unless it is quick, within its time, with its files locked.

use super::decide::Consent;
use super::guard::CallGuard;
use super::turns::Turns;
use super::{Call, Executor};
use crate::access::Access;
use crate::capability::Capability;
use crate::context::{Context, Held, Running};
use crate::error::{Code, ToolError};
use crate::event::EventKind;
use crate::outcome::{DryRun, Metadata, Output, PlannedChange};
use crate::registry::{AbortOnDrop, Entry};
use crate::workspace::{Bound, Guard, Journaled, Overlay, Touched, Usage, Workspace};
use futures_util::FutureExt;
use serde_json::Value;
use std::any::Any;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::task::JoinError;
use tracing::Instrument;

/// How long a tool that is dropped may hold up its caller.
const ABORT: Duration = Duration::from_millis(10);

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
        let limit = call.timeout.unwrap_or(spec.timeout).min(spec.max_timeout);
        let turns = match is_dry_run {
            true => {
                check_dry_run(entry)?;
                Turns::default()
            }
            false if !Turns::are_needed(accesses) => Turns::of(ctx),
            false => Box::pin(Turns::take(ctx, entry.name(), limit, accesses)).await?,
        };
        let arguments = Arc::new(arguments);
        let attempts = if spec.facts.retryable && !is_dry_run { call.retry.attempts.max(1) } else { 1 };
        let usage = Arc::new(Usage::default());
        // What a dry run changes is nothing that anybody would have to take back.
        let journal = ctx.journal().filter(|_| !is_dry_run);
        let journal = journal.map(|journal| Arc::new(Journaled::new(journal, ctx.session(), ctx.call_id())));
        let mut attempt = 1;
        let started = ctx.clock().elapsed();
        let mut paused = Duration::ZERO;
        let mut result = loop {
            if ctx.is_cancelled() {
                break Err(cancelled(ctx.known_as(entry.name())));
            }
            ctx.record(|| EventKind::CallStarted { tool: spec.name.clone(), attempt, dry_run: is_dry_run });
            if !spec.facts.idempotent && !is_dry_run && ctx.events().is_listening() {
                ctx.events().commit().await?;
            }
            // What a dry run calls writes into the same overlay, so that one call sees what the other would write.
            let overlay = is_dry_run.then(|| ctx.running().overlay.clone().unwrap_or_else(|| overlay(ctx)));
            let revision = overlay.as_ref().map_or(0, |overlay| overlay.revision());
            let frame = Frame {
                consent: &consent,
                limit,
                overlay: overlay.clone(),
                usage: usage.clone(),
                held: turns.held.clone(),
                journal: journal.clone(),
            };
            let running = running(ctx, entry, frame);
            let result = match spec.is_quick {
                true => attempt_in_place(&running, entry, &arguments, limit).await,
                false => {
                    Box::pin(attempt_once(running.clone(), entry.clone(), arguments.clone(), limit)).await
                }
            };
            paused += running.running().deadline.paused();
            if let Some(overlay) = overlay {
                let guard = running.running().guard.as_deref();
                let shows = |name: &str| guard.is_some_and(|guard| guard.shows(name));
                let mut planned = planned(overlay.touched_since(revision), &shows);
                if let Some(more) = &running.running().planned {
                    planned.changes.append(&mut more.lock().unwrap_or_else(PoisonError::into_inner));
                }
                metadata.dry_run = Some(planned);
            }
            match result {
                Err(error)
                    if error.is_retryable()
                        && attempt < attempts
                        && let Some(delay) = call.retry.pause(attempt, &error) =>
                {
                    ctx.record(|| EventKind::CallRetried {
                        attempt,
                        error: error.clone(),
                        delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                    });
                    tokio::select! {
                        biased;
                        () = ctx.cancel().cancelled() => break Err(cancelled(ctx.known_as(entry.name()))),
                        () = tokio::time::sleep(delay) => attempt += 1,
                    }
                }
                result => break result,
            }
        };
        let is_success = result.is_ok();
        metadata.not_undone = journal.as_ref().map(|journal| journal.not_undone()).unwrap_or_default();
        let journal = journal.filter(|journal| journal.has_changes());
        let lost = journal.as_ref().and_then(|journal| journal.lost());
        let is_kept = lost.is_none() && journal.as_ref().is_none_or(|journal| journal.is_kept());
        metadata.undo = (!is_kept).then_some(false);
        if let (Ok(output), Some(lost)) = (&mut result, lost) {
            output.text = format!("{}\n{lost}", output.text.trim_end_matches('\n'));
        }
        if let Some(journal) = journal.filter(|journal| journal.is_kept())
            && let Err(error) = ctx.blocking_in_pool(move |_| journal.end(is_success)).await
        {
            ctx.record(|| EventKind::Warning { message: error.message().to_owned() });
        }
        metadata.attempts = attempt;
        let elapsed = ctx.clock().elapsed().saturating_sub(started);
        metadata.execution_time_ms = round_to_micros(elapsed.saturating_sub(paused));
        metadata.bytes_read = usage.bytes_read();
        metadata.bytes_written = usage.bytes_written();
        metadata.files_accessed = usage.files();
        result
    }
}

/// What an attempt gets beside the call's own context.
pub(super) struct Frame<'a> {
    pub(super) consent: &'a Consent,
    pub(super) limit: Duration,
    pub(super) overlay: Option<Arc<Overlay>>,
    pub(super) usage: Arc<Usage>,
    pub(super) held: Held,
    /// Who is told of changes; in a dry run nobody.
    pub(super) journal: Option<Arc<Journaled>>,
}

/// The context that the tool itself gets.
pub(super) fn running(ctx: &Context, entry: &Entry, frame: Frame<'_>) -> Context {
    let above = ctx.running();
    let inner: Arc<dyn Workspace> = match &frame.overlay {
        Some(overlay) => overlay.clone(),
        None => {
            let workspace = ctx.host_workspace();
            workspace.for_call(&|| ctx.by()).unwrap_or_else(|| workspace.clone())
        }
    };
    let ended = Arc::new(AtomicBool::new(false));
    let guard: Arc<dyn Guard> = Arc::new(CallGuard {
        tool: entry.shared_name().clone(),
        granted: frame.consent.granted,
        policy: frame.consent.policy.clone(),
        consented: frame.consent.accesses.clone(),
        ended: ended.clone(),
    });
    ctx.derive(Running {
        id: above.id.clone(),
        tool: entry.shared_name().clone(),
        alias: above.alias.clone(),
        parent: above.parent.clone(),
        depth: above.depth,
        workspace: Arc::new(Bound::new(inner, guard.clone(), frame.usage, frame.journal.clone())),
        confirm: above.confirm.clone(),
        guard: Some(guard),
        journal: frame.journal,
        cancel: above.cancel.beside(),
        deadline: above.deadline.after(frame.limit),
        budget: entry.spec().budget,
        granted: frame.consent.granted,
        is_dry_run: above.is_dry_run,
        executor: above.executor.clone(),
        span: above.span.clone(),
        ended: Some(ended),
        held: frame.held,
        planned: frame.overlay.is_some().then(Arc::default),
        overlay: frame.overlay,
    })
}

pub(super) fn overlay(ctx: &Context) -> Arc<Overlay> {
    laid_over(ctx.host_workspace().clone())
}

pub(super) fn laid_over(below: Arc<dyn Workspace>) -> Arc<Overlay> {
    Arc::new(Overlay::over(below))
}

/// Ends an attempt however its future ends: whatever the tool left running is told, and held back.
struct Ends<'a>(&'a Context);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let running = self.0.running();
        if let Some(ended) = &running.ended {
            running.cancel.end(ended);
        }
    }
}

/// One attempt of a tool that never blocks, polled by the task of its caller: two threads need not be woken for it. Its
/// crash is caught, and where it has to wait, its deadline and its caller end it like any other.
async fn attempt_in_place(
    ctx: &Context,
    entry: &Entry,
    arguments: &Value,
    limit: Duration,
) -> Result<Output<Value>, ToolError> {
    let _ends = Ends(ctx);
    let work = async {
        match ctx.is_dry_run() {
            true => entry.tool().dry_run(ctx, arguments).await,
            false => entry.tool().call(ctx, arguments).await,
        }
    };
    let mut work = pin!(AssertUnwindSafe(work.instrument(ctx.span().clone())).catch_unwind());
    // Most are done at once: then no timer is set.
    let first = poll_fn(|waker| Poll::Ready(work.as_mut().poll(waker))).await;
    match first {
        Poll::Ready(_) if ctx.is_cancelled() => Err(cancelled(ctx.known_as(entry.name()))),
        Poll::Ready(result) => caught(result, ctx.known_as(entry.name())),
        Poll::Pending => Box::pin(waited(ctx, entry, work, limit)).await,
    }
}

/// The rest of an attempt in place that has to wait.
async fn waited(
    ctx: &Context,
    entry: &Entry,
    mut work: Pin<&mut (impl Future<Output = Caught> + Send)>,
    limit: Duration,
) -> Result<Output<Value>, ToolError> {
    let name = ctx.known_as(entry.name());
    let ended = tokio::select! {
        biased;
        () = ctx.cancel().cancelled() => cancelled(name),
        result = &mut work => return known_better(ctx, name, limit, caught(result, name)),
        () = ctx.running().deadline.reached() => timed_out(name, limit),
    };
    // Told to end, a tool may still hand over what it has.
    ctx.cancel().cancel();
    match tokio::time::timeout(entry.spec().grace, work).await {
        Ok(result) => last_word(ended, caught(result, name)),
        Err(_) => Err(ended),
    }
}

/// What a future gave that was watched for a crash.
type Caught = Result<Result<Output<Value>, ToolError>, Box<dyn Any + Send>>;

fn caught(result: Caught, name: &str) -> Result<Output<Value>, ToolError> {
    result.unwrap_or_else(|crash| Err(crashed(name, &payload_message(&*crash))))
}

/// A tool that noticed first that its time is over knows less of the limit than is known here, unless it says more.
fn known_better(
    ctx: &Context,
    name: &str,
    limit: Duration,
    result: Result<Output<Value>, ToolError>,
) -> Result<Output<Value>, ToolError> {
    match result {
        Err(own) if own.code() == Code::Timeout && own.details().is_empty() && is_over(ctx) => {
            Err(timed_out(name, limit))
        }
        result => result,
    }
}

/// What becomes of a call that was told to end, and then gave this.
fn last_word(ended: ToolError, last: Result<Output<Value>, ToolError>) -> Result<Output<Value>, ToolError> {
    match last {
        Ok(output) if ended.code() == Code::Timeout => Ok(output),
        Err(own) if own.code() == ended.code() && !own.details().is_empty() => Err(own),
        _ => Err(ended),
    }
}

/// One attempt: the tool in its own task, ended by its deadline or its caller.
pub(super) async fn attempt_once(
    ctx: Context,
    entry: Arc<Entry>,
    arguments: Arc<Value>,
    limit: Duration,
) -> Result<Output<Value>, ToolError> {
    let name = ctx.known_as(entry.name()).to_owned();
    let grace = entry.spec().grace;
    let span = ctx.span().clone();
    let inner = ctx.clone();
    let _ends = Ends(&ctx);
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
        // First, so that it does not depend on chance what becomes of a tool that ends because it was told to.
        () = ctx.cancel().cancelled() => cancelled(&name),
        // A result that is there counts, also when the time ran out at the same moment.
        result = &mut task.0 => return known_better(&ctx, &name, limit, joined(result, &name)),
        () = ctx.running().deadline.reached() => timed_out(&name, limit),
    };
    // Told to end, a tool may still hand over what it has.
    ctx.cancel().cancel();
    let last = tokio::time::timeout(grace, &mut task.0).await;
    if last.is_err() {
        // Dropped before the caller has its answer, with the calls it made, unless its thread is blocked.
        task.0.abort();
        let _ = tokio::time::timeout(ABORT, &mut task.0).await;
    }
    match last {
        Ok(Ok(last)) => last_word(ended, last),
        _ => Err(ended),
    }
}

fn is_over(ctx: &Context) -> bool {
    ctx.time_left().is_some_and(|left| left.is_zero())
}

fn timed_out(tool: &str, limit: Duration) -> ToolError {
    let message = format!("`{tool}` took longer than {}; ask for less, or for more time", shown(limit));
    let milliseconds = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    ToolError::new(Code::Timeout, message).with("timeoutMs", milliseconds)
}

fn joined(
    result: Result<Result<Output<Value>, ToolError>, JoinError>,
    name: &str,
) -> Result<Output<Value>, ToolError> {
    result.unwrap_or_else(|error| Err(crashed(name, &panic_message(error))))
}

pub(super) fn crashed(tool: &str, why: &str) -> ToolError {
    ToolError::new(Code::Panic, format!("`{tool}` crashed: {why}"))
}

/// What a crashed task said last.
pub(crate) fn panic_message(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(payload) => payload_message(&*payload),
        Err(_) => "it was stopped".to_owned(),
    }
}

/// What a panic said.
pub(crate) fn payload_message(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "it gave no message".to_owned(),
    }
}

pub(super) fn cancelled(tool: &str) -> ToolError {
    ToolError::new(Code::Cancelled, format!("the call of `{tool}` was cancelled"))
}

pub(super) fn check_dry_run(entry: &Entry) -> Result<(), ToolError> {
    let all = entry.capabilities();
    if entry.spec().has_own_dry_run || !(all.has(Capability::Exec) || all.has(Capability::Network)) {
        return Ok(());
    }
    Err(ToolError::execution(format!(
        "`{}` can do more than change files ({all}) and has no dry run of its own",
        entry.name()
    )))
}

/// What a dry run would change. Of a file that the model may not read, neither the size is reported nor whether the new
/// content differs: otherwise a caller could test guesses.
fn planned(touched: Vec<Touched>, shows: &dyn Fn(&str) -> bool) -> DryRun {
    let changes = touched.into_iter().filter_map(|touched| {
        let is_shown = shows(&touched.path);
        let was_there = touched.bytes_before.is_some();
        let is_listed = touched.is_changed || (!is_shown && was_there);
        let kind = match (was_there, touched.bytes_after) {
            (false, _) => "create",
            (_, None) => "delete",
            _ => "change",
        };
        is_listed.then(|| PlannedChange {
            kind: kind.to_owned(),
            bytes_before: touched.bytes_before.filter(|_| is_shown),
            bytes_after: touched.bytes_after,
            path: touched.path,
        })
    });
    DryRun { changes: changes.collect() }
}

pub(super) fn shown(limit: Duration) -> String {
    if limit < Duration::from_secs(1) {
        format!("{} ms", limit.as_millis())
    } else {
        format!("{} s", limit.as_secs_f64())
    }
}

fn round_to_micros(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
