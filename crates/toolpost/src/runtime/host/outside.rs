//! Agents that a call from outside of every run starts: over MCP, or by `toolpost call`.
//!
//! Such a run is the first of a tree of its own. It has the policy, the person and the end of its call, and the limits of its
//! file. Its id names its session too, so that a later process finds it.

use super::continued::{check_agent, check_same, unknown};
use super::ending::told;
use super::{Chosen, TreeHost, check_schema, task};
use crate::calendar::moment;
use crate::runtime::activate::Caller;
use crate::runtime::host::Child;
use crate::runtime::{Recorded, Reopened, Runtime, Seat, holder};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolpost_agent::AgentFile;
use toolpost_agent::kernel::State;
use toolpost_agent::tree::child_id;
use toolpost_core::activation::{Fact, Limits};
use toolpost_core::event::{EventKind, EventSink};
use toolpost_core::host::{SpawnOrder, SpawnedAgent};
use toolpost_core::store::{HeldBy, Hold};
use toolpost_core::{Code, Context, Event, ToolError};

/// How many such runs are at work at once: as many as an agent may start, where its file says nothing. Others wait for their
/// turn.
pub(super) struct Turns(Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Turns {
        let most = Limits::usual().fan_out.and_then(|most| usize::try_from(most).ok());
        Turns(Arc::new(Semaphore::new(most.unwrap_or(Semaphore::MAX_PERMITS))))
    }
}

/// What such a run keeps until its end.
pub(super) struct Kept {
    context: Context,
    hold: Hold,
    _turn: OwnedSemaphorePermit,
}

impl Kept {
    /// The run has ended: another process may go on with it.
    pub(super) async fn end(self) {
        // Where its end cannot be written, the store goes on refusing to write after somebody else.
        if self.context.committed().await.is_ok() {
            self.hold.release();
        }
    }
}

/// Tells the caller which tools the agents of its tree use.
struct Relay(Context);

impl EventSink for Relay {
    fn record(&self, event: &Arc<Event>) {
        if let (EventKind::CallStarted { tool, .. }, Some(agent)) = (&event.kind, &event.agent) {
            self.0.progress(format!("{agent}: {tool}"), json!({"agent": agent, "tool": tool}));
        }
    }
}

impl TreeHost {
    pub(super) async fn start_outside(
        &self,
        ctx: &Context,
        order: SpawnOrder,
    ) -> Result<SpawnedAgent, ToolError> {
        let runtime = self.runtime()?;
        if order.is_in_background {
            let message = "no agent made this call, so that none could be notified later; leave `wait` out, and cancel the call to end the agent";
            return Err(ToolError::new(Code::ValidationError, message));
        }
        let agent = self.known.of_type(&runtime, None, &order.agent_type)?;
        check_schema(order.result_schema.as_ref())?;
        let turn = tokio::select! {
            turn = Arc::clone(&self.turns.0).acquire_owned() => turn,
            () = ctx.cancel().cancelled() => {
                return Err(ToolError::new(Code::Cancelled, "the call was cancelled before the agent began"));
            }
        };
        let turn = turn.map_err(|_| ToolError::execution("no agents are started any more"))?;
        // Its tools may be those of servers that have yet to start.
        runtime.executor.all_ready(&runtime.context).await;
        let today = moment(ctx.clock().now_ms());
        let chosen = runtime.model_below(&agent, today.get(..10).unwrap_or_default(), ctx.redactor()).await?;
        let schema = order.result_schema.clone();
        let begun = match order.continues.clone() {
            Some(wanted) => self.gone_on(&runtime, ctx, (&agent, chosen), (&wanted, order.prompt)).await?,
            None => self.begun_by(&runtime, ctx, (&agent, chosen), order).await?,
        };
        let Outside { mut child, session, hold, below } = begun;
        child.kept = Some(Kept { context: ctx.clone(), hold, _turn: turn });
        let name = format!("{session}/{}", child.id);
        let ended = self.finish(ctx, child).await;
        // Nobody else goes on with what was below it.
        self.begun().retain(|id, _| !below.contains(id));
        told(&agent.name, name, ended?, schema.as_ref())
    }

    /// A new run.
    async fn begun_by(
        &self,
        runtime: &Arc<Runtime>,
        ctx: &Context,
        (agent, chosen): (&AgentFile, Chosen),
        order: SpawnOrder,
    ) -> Result<Outside, ToolError> {
        let id = child_id(ctx.call_id(), 0);
        let (store, run) = (Arc::clone(&runtime.store), id.clone());
        let hold = ctx.blocking_in_pool(move |_| store.hold(&run, &holder(), HeldBy::Nobody)).await?;
        let (listener, has_person) = self.audience();
        let Chosen { model, redactor, .. } = chosen;
        let seat = Seat {
            id: id.clone(),
            session: ctx.session().to_owned(),
            task: task(&order.prompt, order.result_schema.as_ref()),
            has_person,
            listener,
            redactor,
            above: None,
            caller: Some(caller(ctx, ctx.session())),
            state: None,
        };
        let mut prepared = runtime.activate(agent, model, seat).await?;
        prepared.activation.start.result_schema = order.result_schema;
        let session = prepared.session.clone();
        let branch = prepared.activation.branch.clone();
        let child =
            Child { id, prepared: Some(prepared), branch, place: None, kept: None, facts: Vec::new() };
        Ok(Outside { child, session, hold, below: Vec::new() })
    }

    /// A run that such a call has begun before, also of another process, with more to do.
    async fn gone_on(
        &self,
        runtime: &Arc<Runtime>,
        ctx: &Context,
        (agent, chosen): (&AgentFile, Chosen),
        (wanted, prompt): (&str, String),
    ) -> Result<Outside, ToolError> {
        let wanted = wanted.trim();
        let (session, run) = wanted.rsplit_once('/').unwrap_or((ctx.session(), wanted));
        let (recorded, hold) = self.held(runtime, ctx, agent, (session, run)).await?;
        let model = chosen.model.profile().clone();
        let before = recorded.start()?.model.clone();
        let is_ended = recorded.states.get(run).is_some_and(|state| state.ended().is_some());
        let caller = Some(caller(ctx, session));
        let reopened = runtime.reopen(recorded, agent, chosen, self.watcher(), caller).await?;
        let Reopened { prepared, interrupted, below, .. } = reopened;
        let mut facts = Vec::new();
        if !is_ended {
            facts.push(Fact::Resumed { interrupted });
        }
        facts.push(Fact::Continued {
            id: ctx.call_id().to_owned(),
            text: prompt,
            attachments: Vec::new(),
            model: (model != before).then(|| Box::new(model)),
        });
        let (id, branch) = (prepared.activation.id.clone(), prepared.activation.branch.clone());
        let child = Child { id, prepared: Some(prepared), branch, place: None, kept: None, facts };
        Ok(Outside { child, session: session.to_owned(), hold, below })
    }

    /// What the log has of a run, held by this process.
    async fn held(
        &self,
        runtime: &Arc<Runtime>,
        ctx: &Context,
        agent: &AgentFile,
        (session, run): (&str, &str),
    ) -> Result<(Recorded, Hold), ToolError> {
        ctx.committed().await?;
        let (runtime, agent) = (Arc::clone(runtime), agent.clone());
        let (session, run) = (session.to_owned(), run.to_owned());
        ctx.blocking_in_pool(move |_| {
            let read = || {
                let of = |since| Recorded::read_since(&*runtime.store, (&session, &run), since);
                // The session may be older than the run by far.
                let recorded = match begun_ms(&run) {
                    since @ Some(_) => of(since).or_else(|_| of(None)),
                    None => of(None),
                };
                let recorded = recorded.map_err(|error| match error.code() {
                    Code::FileNotFound | Code::ValidationError => unknown(&run),
                    _ => error,
                })?;
                check(&runtime, &agent, &run, &recorded)?;
                Ok::<Recorded, ToolError>(recorded)
            };
            read()?;
            let hold = runtime.store.hold(&run, &holder(), HeldBy::Nobody)?;
            // What was read before may have been the past of somebody who held it.
            Ok((read()?, hold))
        })
        .await
    }

    fn watcher(&self) -> (bool, Arc<dyn toolpost_agent::driver::Listener>) {
        let (listener, has_person) = self.audience();
        (has_person, listener)
    }
}

/// A run that is ready.
struct Outside {
    child: Child,
    session: String,
    hold: Hold,
    /// The runs that the host expects to go on with it.
    below: Vec<String>,
}

/// The call, as the runs of its tree know it.
fn caller(ctx: &Context, session: &str) -> Caller {
    let context = ctx.rebuild().session(session).events(Arc::new(Relay(ctx.clone()))).build();
    Caller { context, call: ctx.call_id().to_owned() }
}

/// When a run was begun, by its id, which begins with the time of its call in ten digits of base 32; a little before, as clocks
/// are set.
fn begun_ms(run: &str) -> Option<u64> {
    const DIGITS: &str = "0123456789abcdefghjkmnpqrstvwxyz";
    const MARGIN_MS: u64 = 3_600_000;
    let value = |digit: char| DIGITS.find(digit).and_then(|value| u64::try_from(value).ok());
    let time = run.get(..10)?.chars().try_fold(0_u64, |time, digit| Some(time * 32 + value(digit)?));
    Some(time?.saturating_sub(MARGIN_MS))
}

/// Whether a run is one that a call from outside may go on with.
fn check(runtime: &Runtime, agent: &AgentFile, run: &str, recorded: &Recorded) -> Result<(), ToolError> {
    let state = recorded.states.get(run).filter(|_| recorded.root == run);
    let start = state.and_then(State::start).filter(|start| start.call.is_some() && start.parent.is_none());
    let Some(start) = start else { return Err(unknown(run)) };
    check_agent(agent, run, &start.agent)?;
    runtime.check_here(recorded)?;
    check_same(agent, state)
}
