//! One run, as this process has it: what it was made from, and how it stands.

use super::listener::Listener;
use super::{LARGEST_SIGNAL, MOST_SIGNAL_BYTES, MOST_SIGNALS, Signal};
use crate::kernel::{Extra, State};
use crate::tree::Branch;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolpost_core::activation::{Fact, OfferedTool, Start};
use toolpost_core::event::{EventKind, EventSink};
use toolpost_core::executor::Executor;
use toolpost_core::host::{BoxFuture, Seen};
use toolpost_core::model::{Model, Thinking};
use toolpost_core::tool::Definition;
use toolpost_core::{Code, Context, Event, ToolError};

/// What a run is made from.
pub struct Activation {
    /// Its id.
    pub id: String,
    /// What it depends on; the tools are filled in by `Activation::begin`.
    pub start: Start,
    /// Who thinks.
    pub model: Arc<dyn Model>,
    /// What its calls reach: tools, policy, dialect, who is asked. Its ids must have the run.
    pub context: Context,
    /// Runs its calls.
    pub executor: Executor,
    /// Whether tools that are usually held back from lists are offered too.
    pub offers_all: bool,
    /// How much chance there is in its answers.
    pub temperature: Option<f64>,
    /// How long it thinks.
    pub thinking: Option<Thinking>,
    /// Who watches.
    pub listener: Arc<dyn Listener>,
    /// Its place in its tree. The run ends when the token of the place fires.
    pub branch: Branch,
    /// How it stands, where it has begun before.
    pub state: Option<State>,
}

/// A run that has begun.
pub(super) struct Running {
    pub(super) id: String,
    pub(super) model: Arc<dyn Model>,
    pub(super) context: Context,
    pub(super) executor: Executor,
    offers_all: bool,
    pub(super) temperature: Option<f64>,
    pub(super) thinking: Option<Thinking>,
    pub(super) listener: Arc<dyn Listener>,
    pub(super) fold: Arc<Fold>,
    /// The declarations of the tools on offer.
    pub(super) definitions: Mutex<Arc<[Definition]>>,
    /// What came with the text of results, by step and place of the call, as the model gets it.
    pub(super) extras: Mutex<HashMap<(u64, usize), Extra>>,
    /// Fires to end the run.
    pub(super) cancel: CancellationToken,
    pub(super) branch: Branch,
    /// Woken by signals.
    pub(super) signalled: Notify,
    /// Whether the run is cancelled because its time is over, and not because somebody stops it.
    pub(super) is_out_of_time: AtomicBool,
}

/// Takes the events of a run into its state and hands them on, in one order: what the log has is what was decided from.
pub(super) struct Fold {
    state: Mutex<State>,
    next: Arc<dyn EventSink>,
}

impl Fold {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Fold {
    fn record(&self, event: &Arc<Event>) {
        let mut state = self.state();
        // Facts are applied by the driver, with what the log leaves out of them.
        if !matches!(event.kind, EventKind::Activation { .. }) {
            state.apply_kept(event, &self.next.kept(event));
        }
        self.next.record(event);
    }

    fn commit(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        self.next.commit()
    }

    fn is_overloaded(&self) -> bool {
        self.next.is_overloaded()
    }

    fn kept(&self, event: &Arc<Event>) -> Arc<Event> {
        self.next.kept(event)
    }
}

impl Activation {
    /// Makes the run ready. Its first fact is recorded where it has none.
    pub(super) fn begin(self) -> Result<Running, ToolError> {
        let state = self.state.unwrap_or_else(|| State::new(&self.id));
        let is_new = state.start().is_none();
        let found: Vec<String> = state.offered().map(|tool| tool.name.clone()).collect();
        let cancel = self.branch.cancel().clone();
        let mut through = None;
        let context = self.context.rebuild().events_through(|next| {
            let fold = Arc::new(Fold { state: Mutex::new(state), next });
            through = Some(Arc::clone(&fold));
            fold
        });
        let Some(fold) = through else { return Err(ToolError::execution("the run has no sink of events")) };
        let provider = self.model.profile().provider.as_str();
        let context = context.extra(self.branch.clone()).cancel(cancel.clone()).provider(Some(provider));
        // What a conversation has seen before, it knows.
        let context = match self.context.extra().get::<Seen>() {
            Some(_) => context.build(),
            None => context.extra(Seen::new()).build(),
        };
        let running = Running {
            id: self.id,
            model: self.model,
            executor: self.executor,
            offers_all: self.offers_all,
            temperature: self.temperature,
            thinking: self.thinking,
            listener: self.listener,
            definitions: Mutex::new(Arc::from(Vec::new())),
            extras: Mutex::default(),
            context,
            fold,
            cancel,
            branch: self.branch,
            signalled: Notify::new(),
            is_out_of_time: AtomicBool::new(false),
        };
        running.listener.begins(&running.id, running.context.redactor());
        let tools = running.offer_listed()?;
        if is_new {
            running.record(Fact::Started { start: Box::new(Start { tools, ..self.start }) });
        } else {
            running.offer_found(&found.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Ok(running)
    }
}

impl Running {
    /// Records a fact, and takes it into the state.
    pub(super) fn record(&self, fact: Fact) {
        self.record_in(&mut self.fold.state(), fact);
    }

    /// The same, while nothing else can change the state.
    pub(super) fn record_in(&self, state: &mut State, fact: Fact) {
        // Only where secrets are known the log may have other texts than this process.
        let whole = (!self.context.redactor().is_empty()).then(|| fact.clone());
        let event = Arc::new(self.context.fact_event(fact));
        let kept = self.fold.next.kept(&event);
        if let (EventKind::Activation { fact }, EventKind::Activation { fact: kept }) =
            (&event.kind, &kept.kind)
        {
            state.apply_kept_fact(whole.as_ref().unwrap_or(fact), kept, event.at_ms);
        }
        self.fold.next.record(&event);
    }

    /// Records what the run is told, if that is not too much.
    pub(super) fn hear(&self, signal: Signal) -> Result<(), ToolError> {
        // Of several who tell something at once, each sees what the others have told.
        let mut state = self.fold.state();
        let is_known = signal.id.as_ref().is_some_and(|id| state.has_heard(id));
        if !is_known && signal.ended.is_none() {
            fits(&signal.text, state.unread())?;
        }
        let Signal { from, text, id, ended } = signal;
        self.record_in(&mut state, Fact::Signalled { from, text, id, ended });
        Ok(())
    }

    /// Records the tools on offer that the run does not know: another model may know them by other names.
    pub(super) fn record_new_tools(&self) -> Result<(), ToolError> {
        let mut tools = self.offer_listed()?;
        {
            let state = self.fold.state();
            tools.retain(|tool| !state.offered().any(|known| known == tool));
        }
        if !tools.is_empty() {
            self.record(Fact::Offered { tools });
        }
        Ok(())
    }

    /// The declarations of all listed tools.
    fn offer_listed(&self) -> Result<Vec<OfferedTool>, ToolError> {
        let listing = self.executor.listing(&self.context);
        let held_back = listing.held_back.iter().filter(|_| self.offers_all);
        let mut definitions = Vec::with_capacity(listing.listed.len());
        let mut tools = Vec::with_capacity(listing.listed.len());
        for entry in listing.listed.iter().chain(held_back) {
            let Some(definition) = listing.definition(entry)? else { continue };
            tools.push(offered(&definition, entry));
            definitions.push(definition);
        }
        *self.definitions() = definitions.into();
        Ok(tools)
    }

    /// Offers tools that were held back and that the agent has found.
    pub(super) fn offer_found(&self, names: &[&str]) -> Result<(), ToolError> {
        let listing = self.executor.listing(&self.context);
        let mut definitions = self.definitions().to_vec();
        let mut tools = Vec::new();
        for entry in &listing.held_back {
            let Some(definition) = listing.definition(entry)? else { continue };
            let is_new = !definitions.iter().any(|known| known.name == definition.name);
            if is_new && names.contains(&definition.name.as_str()) {
                tools.push(offered(&definition, entry));
                definitions.push(definition);
            }
        }
        if !tools.is_empty() {
            *self.definitions() = definitions.into();
            // Whoever goes on with a run finds what it has found before.
            let state = self.fold.state();
            tools.retain(|tool| !state.offered().any(|known| known.name == tool.name));
        }
        if !tools.is_empty() {
            self.record(Fact::Offered { tools });
        }
        Ok(())
    }

    pub(super) fn definitions(&self) -> MutexGuard<'_, Arc<[Definition]>> {
        self.definitions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn extras(&self) -> MutexGuard<'_, HashMap<(u64, usize), Extra>> {
        self.extras.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a model can be told one text more at its next turn.
fn fits(text: &str, (count, bytes): (usize, usize)) -> Result<(), ToolError> {
    if text.len() > LARGEST_SIGNAL {
        let message = format!(
            "the message has {} bytes, and at most {LARGEST_SIGNAL} can be sent; send a shorter one, or write it to a file and send the path",
            text.len()
        );
        return Err(ToolError::new(Code::TooLarge, message).with("limit", LARGEST_SIGNAL));
    }
    if count >= MOST_SIGNALS || bytes.saturating_add(text.len()) > MOST_SIGNAL_BYTES {
        let message = format!(
            "the message was not sent: {count} messages with {bytes} bytes wait for the agent above, and it takes {MOST_SIGNALS} with {MOST_SIGNAL_BYTES} bytes at a turn; go on, and send it later or say it in your answer"
        );
        return Err(ToolError::new(Code::BudgetExceeded, message).with("waiting", count));
    }
    Ok(())
}

fn offered(definition: &Definition, entry: &toolpost_core::registry::Entry) -> OfferedTool {
    let facts = entry.spec().facts;
    OfferedTool {
        name: definition.name.clone(),
        tool: entry.name().to_owned(),
        parallel: facts.parallel_safe,
        idempotent: facts.idempotent,
    }
}
