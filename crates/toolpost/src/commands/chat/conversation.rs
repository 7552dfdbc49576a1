//! One conversation: a run that ends with each answer and goes on with the next message, all in one session.

use super::super::run::{Facts, count, why};
use super::super::undo::take_back_last;
use super::attach::Said;
use super::past::Past;
use crate::calendar::moment;
use crate::output::{Shown, Stage, cost_in_words, grouped};
use crate::runtime::{Chosen, Prepared, Recorded, Reopened, Runtime, Seat, holder};
use std::sync::Arc;
use std::time::Instant;
use toolpost_agent::AgentFile;
use toolpost_agent::driver::{Activation, Driver};
use toolpost_agent::kernel::{Ended, State};
use toolpost_agent::tree::{Amount, Branch};
use toolpost_core::activation::{Fact, InterruptedCall, Start};
use toolpost_core::event::EventKind;
use toolpost_core::host::{Redactor, Seen, new_id};
use toolpost_core::model::{Model, Profile, Usage};
use toolpost_core::store::{HeldBy, Hold};
use toolpost_core::{Code, Context, Event, ToolError};

/// A conversation with an agent.
pub(super) struct Conversation {
    runtime: Arc<Runtime>,
    stage: Arc<Stage>,
    has_person: bool,
    agent: AgentFile,
    model: Arc<dyn Model>,
    /// What every answer is made with.
    context: Context,
    offers_all: bool,
    pub(super) id: String,
    pub(super) session: String,
    start: Start,
    /// How it stands; none before the first message.
    state: Option<State>,
    /// What it and all agents below it have spent.
    spent: Amount,
    /// How many children it has started.
    children: u64,
    /// The model, where it is another one than that of the last answer.
    new_model: Option<Box<Profile>>,
    /// The calls that were running when the process of the last answer ended; none where that answer has ended.
    interrupted: Option<Vec<InterruptedCall>>,
    /// What the agent does not know and has to hear with the next message.
    news: Vec<String>,
    hold: Option<Hold>,
    /// What was said in it before; empty in a new one.
    pub(super) past: Past,
    /// What the user should hear before it begins.
    pub(super) notes: Vec<String>,
}

/// An answer, and what it took.
pub(super) struct Answered {
    pub(super) ended: Ended,
    pub(super) facts: Facts,
    pub(super) shown: Shown,
    /// Tokens of this answer alone.
    usage: Usage,
    /// And what they cost.
    cost: Amount,
}

impl Conversation {
    /// A new one.
    pub(super) async fn begin(
        runtime: &Arc<Runtime>,
        stage: &Arc<Stage>,
        agent: AgentFile,
        has_person: bool,
    ) -> Result<Conversation, ToolError> {
        let chosen = runtime.model_for(&agent, &today(runtime)).await?;
        let reason = chosen.reason.clone();
        let (id, session) = runtime.new_run(&agent);
        let listener = Arc::clone(stage) as _;
        let Chosen { model, redactor, .. } = chosen;
        let (task, above, caller, state) = (String::new(), None, None, None);
        let seat = Seat { id, session, task, has_person, listener, redactor, above, caller, state };
        let prepared = runtime.activate(&agent, model, seat).await?;
        let mut new = Conversation::of(runtime, stage, agent, prepared, has_person);
        new.notes.insert(0, format!("{} with {} ({reason})", new.agent.name, new.model_name()));
        Ok(new)
    }

    /// One of the log. Returns what the user has said in it, too.
    pub(super) async fn resume(
        runtime: &Arc<Runtime>,
        stage: &Arc<Stage>,
        (session, from): (&str, HeldBy),
        has_person: bool,
    ) -> Result<(Conversation, Vec<String>), ToolError> {
        let (recorded, hold) = runtime.held(session, from, &|recorded| runtime.check_here(recorded))?;
        let start = recorded.start()?.clone();
        let agent = runtime.agent_of(&start)?;
        runtime.host.known().consent(runtime, &agent)?;
        // It goes on with the model that it had, unless the command line names one.
        let last = format!("{}/{}", start.model.vendor, start.model.model);
        let is_scripted = start.model.provider == "script";
        let models = runtime.config.models()?;
        let named = models.for_all.or(models.flag).or_else(|| (!is_scripted).then_some(last));
        let chosen = runtime.model_named(&agent, &today(runtime), named.as_deref()).await?;
        let is_ended = is_ended(&recorded);
        let listener = Arc::clone(stage) as _;
        let reopened = runtime.reopen(recorded, &agent, chosen, (has_person, listener), None).await?;
        let Reopened { events, mut prepared, interrupted, .. } = reopened;
        let state = prepared.activation.state.take();
        let mut old = Conversation::of(runtime, stage, agent, prepared, has_person);
        old.new_model = (*old.model.profile() != start.model).then(|| Box::new(old.model.profile().clone()));
        old.start = start;
        old.state = state;
        old.hold = Some(hold);
        old.interrupted = (!is_ended).then_some(interrupted);
        let messages = messages(&old.id, &events);
        old.past = Past::of(&old.id, &events);
        old.notes.insert(
            0,
            format!(
                "{} with {}, after {}",
                old.agent.name,
                old.model_name(),
                count(messages.len() as u64, "message")
            ),
        );
        Ok((old, messages))
    }

    fn of(
        runtime: &Arc<Runtime>,
        stage: &Arc<Stage>,
        agent: AgentFile,
        prepared: Prepared,
        has_person: bool,
    ) -> Conversation {
        let Prepared { activation, session, notes } = prepared;
        let Activation { id, start, model, context, offers_all, branch, .. } = activation;
        Conversation {
            runtime: Arc::clone(runtime),
            stage: Arc::clone(stage),
            has_person,
            agent,
            model,
            context: context.rebuild().extra(Seen::new()).build(),
            offers_all,
            id,
            session,
            start,
            state: None,
            spent: branch.spent(),
            children: branch.children_begun(),
            new_model: None,
            interrupted: None,
            news: Vec::new(),
            hold: None,
            past: Past::default(),
            notes,
        }
    }

    pub(super) fn agent_name(&self) -> &str {
        &self.agent.name
    }

    /// `vendor/model`.
    pub(super) fn model_name(&self) -> String {
        let Profile { vendor, model, .. } = self.model.profile();
        format!("{vendor}/{model}")
    }

    pub(super) fn takes_images(&self) -> bool {
        self.model.profile().images
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn redactor(&self) -> &Arc<Redactor> {
        self.context.redactor()
    }

    /// Whether something was said in it.
    pub(super) fn has_begun(&self) -> bool {
        self.state.is_some()
    }

    /// Whether the last answer was not finished, because its process ended.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.is_some()
    }

    /// Ends the answer that is being made.
    pub(super) fn stopper(&self) -> impl Fn() + Send + use<> {
        let (runtime, id) = (Arc::clone(&self.runtime), self.id.clone());
        move || runtime.host.driver().cancel(&id)
    }

    /// Finishes the answer whose process had ended.
    pub(super) async fn finish(&mut self) -> Result<Answered, ToolError> {
        self.turn(None).await
    }

    /// Says something, and waits for the answer.
    pub(super) async fn say(&mut self, said: Said) -> Result<Answered, ToolError> {
        self.turn(Some(said)).await
    }

    async fn turn(&mut self, said: Option<Said>) -> Result<Answered, ToolError> {
        if self.hold.is_none() {
            self.hold = Some(self.runtime.store.hold(&self.id, &holder(), HeldBy::Nobody)?);
        }
        let news: Vec<String> = self.news.drain(..).map(|news| format!("[{news}]\n")).collect();
        let said = said.map(|said| Said { text: format!("{}{}", news.concat(), said.text), ..said });
        let branch = Branch::root(&self.id, &self.start.limits, self.runtime.context.cancel().child_token());
        branch.restore(None, &self.id, self.spent);
        branch.count_begun(self.children);
        let (usage, before) = (self.usage(), self.own());
        let more = self.begin_turn(&branch, said).await?;
        let begun = Instant::now();
        let (ended, state) = self.runtime.host.driver().go_on(&self.id, more).await;
        self.state = state.or(self.state.take());
        (self.spent, self.children) = (branch.spent(), branch.children_begun());
        let shown = self.stage.end_answer();
        let ended = ended?;
        let why = why(&ended, &self.start.limits, self.spent)
            .map(|(code, text)| (ended.code.unwrap_or(code), text));
        let facts = Facts {
            agent: self.agent.name.clone(),
            model: self.model_name(),
            session: self.session.clone(),
            id: self.id.clone(),
            calls: shown.calls,
            denials: shown.denials.clone(),
            why,
            elapsed: begun.elapsed(),
            tree: self.spent,
        };
        let usage = Usage {
            input: ended.usage.input.saturating_sub(usage.input),
            output: ended.usage.output.saturating_sub(usage.output),
            ..ended.usage
        };
        let cost = ended.spent().minus(before);
        Ok(Answered { ended, facts, shown, usage, cost })
    }

    /// Takes the run on. Returns what it goes on with.
    async fn begin_turn(&mut self, branch: &Branch, said: Option<Said>) -> Result<Option<Fact>, ToolError> {
        let driver = self.runtime.host.driver();
        let mut start = self.start.clone();
        let mut more = None;
        match (&self.state, said) {
            (None, said) => {
                let said = said.unwrap_or_default();
                (start.task, start.attachments) = (said.text, said.images);
                start.model = self.model.profile().clone();
                self.start = start.clone();
            }
            (Some(_), Some(said)) => {
                more = Some(Fact::Continued {
                    id: new_id(self.context.clock().now_ms()),
                    text: said.text,
                    attachments: said.images,
                    model: self.new_model.take(),
                });
            }
            (Some(_), None) => {}
        }
        driver.add(Activation {
            id: self.id.clone(),
            start,
            model: Arc::clone(&self.model),
            context: self.context.clone(),
            executor: self.runtime.executor.clone(),
            offers_all: self.offers_all,
            temperature: self.agent.temperature,
            thinking: self.agent.thinking,
            listener: Arc::clone(&self.stage) as _,
            branch: branch.clone(),
            state: self.state.clone(),
        })?;
        if let Some(interrupted) = self.interrupted.take() {
            driver.record(&self.id, Fact::Resumed { interrupted })?;
            self.runtime.host.revive(&self.id).await?;
        }
        Ok(more)
    }

    /// Another model from the next message on.
    pub(super) async fn change_model(&mut self, name: &str) -> Result<String, ToolError> {
        let chosen = self.runtime.model_named(&self.agent, &today(&self.runtime), Some(name)).await?;
        let reason = chosen.reason.clone();
        let seat = Seat {
            id: self.id.clone(),
            session: self.session.clone(),
            task: String::new(),
            has_person: self.has_person,
            listener: Arc::clone(&self.stage) as _,
            redactor: chosen.redactor,
            above: None,
            caller: None,
            state: None,
        };
        let prepared = self.runtime.activate(&self.agent, chosen.model, seat).await?;
        let Activation { model, context, offers_all, .. } = prepared.activation;
        self.new_model = self.state.is_some().then(|| Box::new(model.profile().clone()));
        (self.model, self.offers_all) = (model, offers_all);
        self.context = context.rebuild().extra(Seen::new()).build();
        let name = self.model_name();
        self.stage.set_model(&name);
        Ok(format!("{name} ({reason})"))
    }

    /// Takes back the last change that a call of this conversation has made.
    pub(super) async fn undo(&mut self) -> Result<String, ToolError> {
        self.runtime.recorded().await?;
        let (runtime, session) = (Arc::clone(&self.runtime), self.session.clone());
        // It waits for files with threads of its own.
        let (send, done) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let _ = send.send(take_back_last(&runtime.config, &runtime.store, &session));
        });
        let gone = |_| ToolError::new(Code::Panic, "the undo ended without a word");
        let done = done.await.map_err(gone)??;
        self.context.extra().get::<Seen>().into_iter().for_each(|seen| seen.forget_all());
        self.news.push(format!("the user has taken back a change of yours: {}", done.join(", ")));
        Ok(format!("taken back: {}", done.join(", ")))
    }

    /// The tools that the agent has.
    pub(super) fn tools(&self) -> String {
        let listing = self.runtime.executor.listing(&self.context);
        let definitions = match listing.definitions() {
            Ok(definitions) => definitions,
            Err(error) => return error.message().to_owned(),
        };
        let rows = definitions.iter().map(|(_, definition)| {
            let first = definition.description.lines().next().unwrap_or_default();
            let first = first.split_once(". ").map_or(first, |(first, _)| first);
            format!("  {:16} {first}", definition.name)
        });
        let mut rows: Vec<String> = rows.collect();
        if !listing.held_back.is_empty() {
            rows.push(format!("  and {} more, which the agent can search for", listing.held_back.len()));
        }
        if rows.is_empty() { "the agent has no tools".to_owned() } else { rows.join("\n") }
    }

    /// What the agent may do.
    pub(super) fn policy(&self) -> String {
        let policy = self.runtime.executor.policy_for(&self.context);
        let text = toolpost_rules::policy_to_toml(&policy);
        format!(
            "{}\n`toolpost policy explain TOOL ARGS` says what is decided about a call, and why",
            text.trim_end()
        )
    }

    fn usage(&self) -> Usage {
        self.state.as_ref().map(State::usage).unwrap_or_default()
    }

    /// What the agent itself has spent.
    fn own(&self) -> Amount {
        self.state.as_ref().map(State::spent).unwrap_or_default()
    }

    /// Tokens and cost so far.
    pub(super) fn spent(&self) -> String {
        let usage = self.usage();
        let own = spelled(usage, self.own()).unwrap_or_else(|| "nothing spent yet".to_owned());
        match self.spent.tokens > usage.input.saturating_add(usage.output) {
            true => format!(
                "{own}; with all agents {} tokens, {}",
                grouped(self.spent.tokens),
                cost_in_words(self.spent).unwrap_or_else(|| "$0".to_owned())
            ),
            false => own,
        }
    }
}

impl Answered {
    /// What the answer took, in a line for a person.
    pub(super) fn summary(&self) -> String {
        let mut parts = Vec::new();
        if self.facts.calls > 0 {
            parts.push(count(self.facts.calls, "call"));
        }
        parts.extend(spelled(self.usage, self.cost));
        parts.push(format!("{:.1} s", self.facts.elapsed.as_secs_f64()));
        parts.join(" · ")
    }
}

/// Tokens and cost; none where there are none.
fn spelled(usage: Usage, spent: Amount) -> Option<String> {
    if usage.input + usage.output == 0 {
        return None;
    }
    let about = if usage.estimated { "about " } else { "" };
    let cost = cost_in_words(spent).map(|cost| format!(" · {about}{cost}")).unwrap_or_default();
    Some(format!("{about}{} + {} tokens{cost}", grouped(usage.input), grouped(usage.output)))
}

fn today(runtime: &Runtime) -> String {
    moment(runtime.context.clock().now_ms()).get(..10).unwrap_or_default().to_owned()
}

fn is_ended(recorded: &Recorded) -> bool {
    recorded.states.get(&recorded.root).is_some_and(|state| state.ended().is_some())
}

/// What was said to a run, as the log has it.
fn messages(run: &str, events: &[Event]) -> Vec<String> {
    let of_run = events.iter().filter(|event| event.activation.as_deref() == Some(run));
    of_run
        .filter_map(|event| match &event.kind {
            EventKind::Activation { fact: Fact::Started { start } } => Some(start.task.clone()),
            EventKind::Activation { fact: Fact::Continued { text, .. } } => Some(text.clone()),
            _ => None,
        })
        .collect()
}
