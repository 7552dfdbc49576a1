//! The agents of one process as a tree: which there are, how one is started below another, and how its end is told.
//!
//! Depth, fan-out and budget are kept by the tree's [`Branch`]; the policy of a child is the meet of its own and its parent's.
//! The id of a child follows from the call that starts it, so that the same call made again goes on with the same child.

mod continued;
mod custom;
mod ending;
mod known;
mod outside;

pub(crate) use custom::{outside_name, outside_part};
pub(crate) use known::Known;

use super::activate::{Above, Caller, Chosen, Seat, Withheld};
use super::{Prepared, Runtime};
use crate::calendar::moment;
use continued::{check_continued, check_same};
use ending::{shortened, told};
use outside::{Kept, Turns};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio_util::sync::DropGuard;
use toolpost_agent::AgentFile;
use toolpost_agent::driver::{Driver, Listener, LocalDriver, NoListener, Signal};
use toolpost_agent::kernel::{Ended, State};
use toolpost_agent::result;
use toolpost_agent::tree::{Branch, Place, child_id};
use toolpost_core::activation::{Fact, InterruptedCall};
use toolpost_core::host::{AgentHost, AgentType, BoxFuture, SpawnOrder, SpawnedAgent};
use toolpost_core::model::Model;
use toolpost_core::{Code, Context, ToolError};

/// Who watches the agents of a tree, and whether a person can be asked.
pub(crate) struct Audience {
    pub(crate) listener: Arc<dyn Listener>,
    pub(crate) has_person: bool,
}

impl Default for Audience {
    fn default() -> Audience {
        Audience { listener: Arc::new(NoListener), has_person: false }
    }
}

/// Runs the agents of a tree.
#[derive(Default)]
pub(crate) struct TreeHost {
    runtime: OnceLock<Weak<Runtime>>,
    audience: OnceLock<Audience>,
    driver: Arc<LocalDriver>,
    known: Known,
    /// How the runs stand that another process has begun.
    begun: Mutex<HashMap<String, Begun>>,
    /// Of those that calls from outside of every run have started.
    turns: Turns,
}

/// How a run stands that another process has begun, and what is known of the calls that it was in.
pub(crate) type Begun = (State, Vec<InterruptedCall>);

/// The model of a run, for the agents below it.
struct RunModel(Arc<dyn Model>);

/// A child that is ready to run.
struct Child {
    id: String,
    /// None once it is taken on.
    prepared: Option<Prepared>,
    branch: Branch,
    /// None for the first of a tree.
    place: Option<Place>,
    /// None for one below another.
    kept: Option<Kept>,
    /// What is recorded of it before it goes on.
    facts: Vec<Fact>,
}

impl TreeHost {
    /// Makes the host work: agents are made from the parts of this runtime.
    pub(crate) fn attach(&self, runtime: &Arc<Runtime>, audience: Audience) {
        let _ = self.runtime.set(Arc::downgrade(runtime));
        let _ = self.audience.set(audience);
    }

    /// Who runs its agents.
    pub(crate) fn driver(&self) -> &Arc<LocalDriver> {
        &self.driver
    }

    /// The agents that there are.
    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    /// Runs that were begun are gone on with from here.
    pub(crate) fn expect(&self, begun: HashMap<String, Begun>) {
        self.begun().extend(begun);
    }

    /// Goes on with the agents that a run has left at work.
    pub(crate) async fn revive(&self, run: &str) -> Result<(), ToolError> {
        let (ctx, state) = (self.driver.context(run)?, self.driver.state(run)?);
        for (id, name) in state.background() {
            let Some(start) = self.begun().get(id).and_then(|(state, _)| state.start().cloned()) else {
                continue;
            };
            let runtime = self.runtime()?;
            let branch = branch_of(&ctx)?;
            let agent = self.known.of_type(&runtime, ctx.ids().agent.as_deref(), name)?;
            let order = SpawnOrder {
                agent_type: name.clone(),
                prompt: start.task.clone(),
                result_schema: start.result_schema.clone(),
                ..SpawnOrder::default()
            };
            let mut child = self.child(&runtime, &ctx, &branch, &agent, (id.clone(), order)).await?;
            self.add(&mut child).await?;
            self.watch(run.to_owned(), id.clone(), name.clone(), child);
        }
        Ok(())
    }

    fn begun(&self) -> MutexGuard<'_, HashMap<String, Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn runtime(&self) -> Result<Arc<Runtime>, ToolError> {
        let runtime = self.runtime.get().and_then(Weak::upgrade);
        runtime.ok_or_else(|| ToolError::new(Code::LlmAssistRequired, "no agents can be started here"))
    }

    pub(super) fn audience(&self) -> (Arc<dyn Listener>, bool) {
        match self.audience.get() {
            Some(audience) => (Arc::clone(&audience.listener), audience.has_person),
            None => (Arc::new(NoListener), false),
        }
    }

    /// Lets the agents below a run know its model.
    pub(super) fn with_model(context: &Context, model: &Arc<dyn Model>) -> Context {
        context.rebuild().extra(RunModel(Arc::clone(model))).build()
    }

    async fn start(&self, ctx: &Context, order: SpawnOrder) -> Result<SpawnedAgent, ToolError> {
        let Some(branch) = ctx.extra().get::<Branch>() else { return self.start_outside(ctx, order).await };
        let runtime = self.runtime()?;
        let agent = self.known.of_type(&runtime, ctx.ids().agent.as_deref(), &order.agent_type)?;
        let (schema, is_in_background) = (order.result_schema.clone(), order.is_in_background);
        let id = order.continues.clone().unwrap_or_else(|| child_id(ctx.call_id(), 0));
        if is_in_background && self.driver.state(branch.id())?.background().contains_key(&id) {
            // The same call was made before, by another process.
            return Ok(at_work(id));
        }
        let child = self.child(&runtime, ctx, &branch, &agent, (id.clone(), order)).await?;
        if is_in_background {
            return self.leave(ctx, &branch, &agent, child).await;
        }
        let ended = self.finish(ctx, child).await?;
        told(&agent.name, id, ended, schema.as_ref())
    }

    /// Makes a child ready: a new one, one that another process has begun, or one that has ended and goes on.
    async fn child(
        &self,
        runtime: &Arc<Runtime>,
        ctx: &Context,
        branch: &Branch,
        agent: &AgentFile,
        (id, order): (String, SpawnOrder),
    ) -> Result<Child, ToolError> {
        let SpawnOrder { prompt, result_schema, continues, .. } = order;
        check_schema(result_schema.as_ref())?;
        let (mut state, interrupted) = self.begun().remove(&id).unzip();
        if let (Some(wanted), None) = (&continues, &state) {
            state = Some(self.recorded(ctx, agent, wanted).await?);
        }
        if let (Some(wanted), Some(state)) = (&continues, &state) {
            check_continued(ctx, agent, wanted, state)?;
        }
        check_same(agent, state.as_ref())?;
        let is_continued =
            state.as_ref().is_some_and(|state| state.continued().iter().any(|id| id == ctx.call_id()));
        let mut facts: Vec<Fact> = Vec::new();
        if state.as_ref().is_some_and(|state| state.ended().is_none()) {
            facts.extend(interrupted.map(|interrupted| Fact::Resumed { interrupted }));
        }
        if continues.is_some() && !is_continued {
            let (attachments, model) = (Vec::new(), None);
            let id = ctx.call_id().to_owned();
            facts.push(Fact::Continued { id, text: prompt.clone(), attachments, model });
        }
        let place = branch.child_in_turn(&id, &agent.limits, ctx.cancel()).await?;
        let task = task(&prompt, result_schema.as_ref());
        let Chosen { model, redactor, .. } = model_below(runtime, agent, ctx).await?;
        let above = Above {
            policy: ctx.policy().clone(),
            role: ctx.ids().role.clone(),
            branch: place.branch().clone(),
            parent: branch.id().to_owned(),
            call: ctx.call_id().to_owned(),
            result_schema,
            withheld: ctx.extra().get::<Withheld>().map(|withheld| (*withheld).clone()).unwrap_or_default(),
        };
        let (listener, has_person) = self.audience();
        let session = ctx.session().to_owned();
        let caller = ctx.extra().get::<Caller>().map(|caller| (*caller).clone());
        let above = Some(above);
        let seat = Seat { id, session, task, has_person, listener, redactor, above, caller, state };
        let prepared = runtime.activate(agent, model, seat).await?;
        Ok(Child {
            id: prepared.activation.id.clone(),
            branch: place.branch().clone(),
            place: Some(place),
            kept: None,
            prepared: Some(prepared),
            facts,
        })
    }

    /// Runs a child to its end, which is also the end of its place. It ends when the call does.
    async fn finish(&self, ctx: &Context, mut child: Child) -> Result<Ended, ToolError> {
        let token = child.branch.cancel().clone();
        let _ends: DropGuard = token.clone().drop_guard();
        self.add(&mut child).await?;
        let mut running = self.run(child);
        let ended = tokio::select! {
            ended = &mut running => ended,
            () = ctx.cancel().cancelled() => {
                token.cancel();
                running.await
            }
        };
        ended.map_err(|error| died(&error))?
    }

    /// Takes a child on: what it has begun with is recorded.
    async fn add(&self, child: &mut Child) -> Result<(), ToolError> {
        let Some(prepared) = child.prepared.take() else { return Ok(()) };
        let is_begun = prepared.activation.state.is_some();
        self.driver.add(prepared.activation)?;
        for fact in std::mem::take(&mut child.facts) {
            self.driver.record(&child.id, fact)?;
        }
        if is_begun {
            Box::pin(self.revive(&child.id)).await?;
        }
        Ok(())
    }

    /// Lets a child go on in a task of its own.
    fn run(&self, child: Child) -> tokio::task::JoinHandle<Result<Ended, ToolError>> {
        let Child { id, place, kept, .. } = child;
        let driver = Arc::clone(&self.driver);
        tokio::spawn(async move {
            let ended = driver.finish(&id).await;
            drop(place);
            if let Some(kept) = kept {
                kept.end().await;
            }
            ended
        })
    }

    /// Starts a child that nobody waits for. The agent above is told of its end, however it ends.
    async fn leave(
        &self,
        ctx: &Context,
        branch: &Branch,
        agent: &AgentFile,
        mut child: Child,
    ) -> Result<SpawnedAgent, ToolError> {
        let (parent, id, name) = (branch.id().to_owned(), child.id.clone(), agent.name.clone());
        // Its beginning comes first: whoever goes on finds both or none.
        self.add(&mut child).await?;
        self.driver.record(&parent, Fact::Spawned { child: id.clone(), agent: name.clone() })?;
        ctx.committed().await?;
        self.watch(parent, id.clone(), name, child);
        Ok(at_work(id))
    }

    fn watch(&self, parent: String, id: String, name: String, child: Child) {
        let state = self.driver.state(&id).ok();
        let schema = state.as_ref().and_then(|state| state.start()?.result_schema.clone());
        let running = self.run(child);
        let driver = Arc::clone(&self.driver);
        tokio::spawn(async move {
            let ended = running.await.unwrap_or_else(|error| Err(died(&error)));
            let result = ended.and_then(|ended| told(&name, id.clone(), ended, schema.as_ref()));
            let text = match result {
                Ok(SpawnedAgent { data: Some(data), .. }) => {
                    format!("has ended. Its result:\n{}", shortened(&data.to_string(), &id))
                }
                Ok(SpawnedAgent { text, .. }) => {
                    format!("has ended. Its result:\n{}", shortened(&text, &id))
                }
                Err(error) => format!("has failed: {}: {}", error.code(), error.message()),
            };
            let signal = Signal {
                from: format!("{name} ({id})"),
                text,
                id: Some(format!("end of {id}")),
                ended: Some(id),
            };
            // Where the agent above has ended, there is nobody to tell.
            let _ = driver.signal(&parent, signal).await;
        });
    }

    async fn signal(&self, ctx: &Context, text: String) -> Result<String, ToolError> {
        let parent = ctx.ids().parent_activation.clone().ok_or_else(|| {
            let message =
                "no other agent started this agent, so there is no parent to signal; say it in your answer";
            ToolError::new(Code::ExecutionError, message)
        })?;
        let name = ctx.ids().agent.clone().unwrap_or_default();
        let id = branch_of(ctx)?.id().to_owned();
        let signal =
            Signal { from: format!("{name} ({id})"), text, id: Some(ctx.call_id().to_owned()), ended: None };
        let told = self.driver.state(&parent).ok().and_then(|state| Some(state.start()?.agent.clone()));
        if told.is_none() {
            let message = "the agent that started you has ended, so it cannot be signalled";
            return Err(ToolError::execution(message));
        }
        self.driver.signal(&parent, signal).await?;
        Ok(told.unwrap_or(parent))
    }

    /// The types, for descriptions.
    fn listed(&self, agent: Option<&str>) -> Vec<AgentType> {
        match self.runtime() {
            Ok(runtime) => self.known.types(&runtime, agent),
            Err(_) => self.known.found_types(),
        }
    }
}

impl AgentHost for TreeHost {
    fn types(&self, agent: Option<&str>) -> Vec<AgentType> {
        self.listed(agent)
    }

    fn spawn<'a>(
        &'a self,
        ctx: &'a Context,
        order: SpawnOrder,
    ) -> BoxFuture<'a, Result<SpawnedAgent, ToolError>> {
        Box::pin(self.start(ctx, order))
    }

    fn signal_parent<'a>(
        &'a self,
        ctx: &'a Context,
        text: String,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(self.signal(ctx, text))
    }
}

/// Refuses a schema of a result that is none, before anything is paid for.
fn check_schema(schema: Option<&Value>) -> Result<(), ToolError> {
    let Some(Err(error)) = schema.cloned().map(toolpost_core::schema::Schema::compile) else { return Ok(()) };
    let message = format!("the schema of the result is not valid: {error}; write a JSON schema");
    Err(ToolError::new(Code::ValidationError, message))
}

/// What an agent has to do whose result may have to be data.
fn task(prompt: &str, schema: Option<&Value>) -> String {
    match schema {
        Some(schema) => format!("{prompt}\n\n{}", result::instruction(schema)),
        None => prompt.to_owned(),
    }
}

fn branch_of(ctx: &Context) -> Result<Arc<Branch>, ToolError> {
    ctx.extra().get::<Branch>().ok_or_else(|| {
        let message = "agents are started by agents; `toolpost run` starts the first one";
        ToolError::new(Code::LlmAssistRequired, message)
    })
}

/// The model of an agent below another: its own, or else that of the agent above.
async fn model_below(runtime: &Runtime, agent: &AgentFile, ctx: &Context) -> Result<Chosen, ToolError> {
    let above = ctx.extra().get::<RunModel>().map(|model| Arc::clone(&model.0));
    let is_replaced = runtime.config.models()?.for_all.is_some();
    let has_own = !is_replaced && (agent.script.is_some() || !agent.models.is_empty());
    match above.filter(|model| model.profile().provider != "script" && !has_own) {
        Some(model) => Ok(Chosen {
            model,
            reason: "the agent above has it".to_owned(),
            redactor: (**ctx.redactor()).clone(),
        }),
        None => {
            let today = moment(ctx.clock().now_ms());
            runtime.model_below(agent, today.get(..10).unwrap_or_default(), ctx.redactor()).await
        }
    }
}

/// An agent that was left at work.
fn at_work(id: String) -> SpawnedAgent {
    let usage = toolpost_core::model::Usage::default();
    SpawnedAgent { id, text: String::new(), data: None, turns: 0, usage, cost: None }
}

/// A child whose task crashed.
fn died(error: &tokio::task::JoinError) -> ToolError {
    ToolError::new(Code::Panic, format!("the agent died: {error}"))
}
