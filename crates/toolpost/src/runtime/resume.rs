//! From the log to runs that can go on: how each agent of a session stands, and what became of calls that were running.

use super::host::Begun;
use super::{Caller, Chosen, Prepared, Runtime, Seat};
use crate::calendar::moment;
use crate::commands::chat::own_agent;
use crate::commands::stored::nearest_to;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use toolpost_agent::AgentFile;
use toolpost_agent::driver::Listener;
use toolpost_agent::kernel::{Fork, State};
use toolpost_agent::tree::Amount;
use toolpost_core::activation::{Fact, InterruptedCall, Start};
use toolpost_core::event::EventKind;
use toolpost_core::store::{ChangeQuery, EventQuery, Held, HeldBy, Hold, Logged, Store};
use toolpost_core::text::hex;
use toolpost_core::{Capability, Code, Context, Event, ToolError, WorkspacePath};
use toolpost_process::{Ending, Identity};

/// What the log has of a session with runs of agents.
pub(crate) struct Recorded {
    /// The session.
    pub(crate) session: String,
    /// The run that is meant: its first agent.
    pub(crate) root: String,
    /// Every run of the session that no agent has started, oldest first.
    pub(crate) roots: Vec<String>,
    /// How each run stands.
    pub(crate) states: HashMap<String, State>,
    /// Everything, oldest first.
    pub(crate) events: Vec<Event>,
}

impl Recorded {
    /// Reads a session, by its id: its last run is meant. `SESSION/RUN` means another one, by its id or the ending of it.
    pub(crate) fn read(store: &dyn Store, name: &str) -> Result<Recorded, ToolError> {
        let of = |session: &str| -> Result<Vec<Event>, ToolError> {
            let query = EventQuery { session: Some(session.to_owned()), ..EventQuery::default() };
            Ok(store.events(&query)?.into_iter().map(|Logged { event, .. }| event).collect())
        };
        let events = of(name)?;
        if !events.is_empty() {
            return Recorded::of(name, events, None);
        }
        if let Some((session, run)) = name.rsplit_once('/') {
            let events = of(session)?;
            if !events.is_empty() {
                return Recorded::of(session, events, Some(run));
            }
        }
        let known = store.sessions()?;
        let near = nearest_to(name, known.iter().map(|one| one.session.as_str()));
        let hint = near.unwrap_or_else(|| "`toolpost sessions` shows which there are".to_owned());
        Err(ToolError::new(Code::FileNotFound, format!("there is no session `{name}`; {hint}")))
    }

    /// Reads what the log has of a session since a time. The run of this id is meant.
    pub(crate) fn read_since(
        store: &dyn Store,
        (session, run): (&str, &str),
        since_ms: Option<u64>,
    ) -> Result<Recorded, ToolError> {
        let query = EventQuery { session: Some(session.to_owned()), since_ms, ..EventQuery::default() };
        let events = store.events(&query)?.into_iter().map(|Logged { event, .. }| event);
        Recorded::of(session, events.collect(), Some(run))
    }

    fn of(session: &str, events: Vec<Event>, run: Option<&str>) -> Result<Recorded, ToolError> {
        let mut states: HashMap<String, State> = HashMap::new();
        for event in &events {
            if let Some(run) = &event.activation {
                states.entry(run.clone()).or_insert_with(|| State::new(run)).apply(event);
            }
        }
        let began = events.iter().filter_map(|event| match &event.kind {
            EventKind::Activation { fact: Fact::Started { start } } if start.parent.is_none() => {
                event.activation.clone()
            }
            _ => None,
        });
        let roots: Vec<String> = began.collect();
        let Some(last) = roots.last() else {
            let message = format!("no agent has run in the session `{session}`");
            return Err(ToolError::new(Code::ValidationError, message));
        };
        let root = match run {
            None => last.clone(),
            Some(run) => {
                let mut meant = roots.iter().filter(|root| !run.is_empty() && root.ends_with(run));
                match (meant.next(), meant.next()) {
                    (Some(root), None) => root.clone(),
                    (first, _) => {
                        let why = if first.is_none() { "no run" } else { "several runs" };
                        let message = format!(
                            "the session `{session}` has {why} with the ending `{run}`; there are {}",
                            names(session, &roots)
                        );
                        return Err(ToolError::new(Code::ValidationError, message));
                    }
                }
            }
        };
        Ok(Recorded { session: session.to_owned(), root, roots, states, events })
    }

    /// The same session, with the run that is to go on: the one that is not finished. Of several it must be named, unless
    /// all but one are held by others.
    fn unfinished(mut self, store: &dyn Store, name: &str, from: HeldBy) -> Result<Recorded, ToolError> {
        if name != self.session {
            return Ok(self);
        }
        let is_open = |root: &&String| self.states.get(*root).is_some_and(|state| state.ended().is_none());
        let mut open: Vec<String> = self.roots.iter().filter(is_open).cloned().collect();
        if open.len() > 1 && from == HeldBy::Nobody {
            let mut free = Vec::new();
            for root in &open {
                if store.holder(root)?.is_none() {
                    free.push(root.clone());
                }
            }
            // Where all are held, the last one says by whom.
            open = if free.is_empty() { open.split_off(open.len() - 1) } else { free };
        }
        match open.as_slice() {
            [] => Ok(self),
            [one] => {
                self.root.clone_from(one);
                Ok(self)
            }
            several => {
                let message = format!(
                    "the session `{name}` has {} runs that are not finished; name one: {}",
                    several.len(),
                    names(&self.session, several)
                );
                Err(ToolError::new(Code::ValidationError, message))
            }
        }
    }

    /// The name by which the run is found, where the session alone does not say it.
    pub(crate) fn name_of(&self, root: &str) -> String {
        match self.roots.as_slice() {
            [_] => self.session.clone(),
            _ => run_name(&self.session, root),
        }
    }

    /// What the first agent depends on.
    pub(crate) fn start(&self) -> Result<&Start, ToolError> {
        let start = self.states.get(&self.root).and_then(State::start);
        start.ok_or_else(|| ToolError::execution("the log has lost the beginning of the run"))
    }

    /// What the agents below the first depend on that go on with it: a call that had started waits for each, or it was left
    /// at work.
    fn waited_for(&self) -> Vec<&Start> {
        let mut waited = Vec::new();
        let mut above: Vec<&str> = vec![&self.root];
        let children = self.tree();
        while let Some(id) = above.pop() {
            let Some(parent) = self.states.get(id).filter(|state| state.ended().is_none()) else { continue };
            let calls = parent.open_calls();
            for (child, state) in &children {
                let start = state.start().filter(|start| start.parent.as_deref() == Some(id));
                let Some(start) = start.filter(|_| state.ended().is_none()) else { continue };
                let is_called = calls.iter().any(|(call, ..)| Some(call) == start.call.as_ref());
                if is_called || parent.background().contains_key(*child) {
                    waited.push(start);
                    above.push(child);
                }
            }
        }
        waited
    }

    /// The agents of the run that is meant, parents before children.
    pub(crate) fn tree(&self) -> Vec<(&str, &State)> {
        self.tree_of(&self.root)
    }

    /// The agents of a run, parents before children.
    pub(crate) fn tree_of<'a>(&'a self, root: &'a str) -> Vec<(&'a str, &'a State)> {
        let mut children: BTreeMap<&str, Vec<(&str, &State)>> = BTreeMap::new();
        for (id, state) in &self.states {
            if let Some(parent) = state.start().and_then(|start| start.parent.as_deref()) {
                children.entry(parent).or_default().push((id, state));
            }
        }
        // Ids begin with the time of the first run; the order of their beginnings is that of the log.
        let order: HashMap<&str, usize> = self
            .events
            .iter()
            .enumerate()
            .filter_map(|(place, event)| Some((event.activation.as_deref()?, place)))
            .rev()
            .collect();
        children.values_mut().for_each(|list| list.sort_by_key(|(id, _)| order.get(id).copied()));
        let mut tree = Vec::new();
        let mut waiting: Vec<&str> = vec![root];
        while let Some(id) = waiting.pop() {
            let Some(state) = self.states.get_key_value(id) else { continue };
            tree.push((state.0.as_str(), state.1));
            let below = children.get(id).into_iter().flatten();
            waiting.extend(below.rev().map(|(id, _)| *id));
        }
        tree
    }
}

/// `SESSION/ENDING`, for one run of a session with several.
fn run_name(session: &str, root: &str) -> String {
    const ENDING: usize = 8;
    format!("{session}/{}", root.get(root.len().saturating_sub(ENDING)..).unwrap_or(root))
}

/// The runs of a session, by the names that find them.
fn names(session: &str, roots: &[String]) -> String {
    let names: Vec<String> = roots.iter().map(|root| format!("`{}`", run_name(session, root))).collect();
    names.join(", ")
}

/// The first agent of a session, ready to go on.
pub(crate) struct Reopened {
    /// All that the log has of the session.
    pub(crate) events: Vec<Event>,
    /// Ready to run.
    pub(crate) prepared: Prepared,
    /// What is known of the calls that it was in.
    pub(crate) interrupted: Vec<InterruptedCall>,
    /// The other runs of the session, which the host expects to go on.
    pub(crate) below: Vec<String>,
}

/// A run that goes on.
pub(crate) struct Resumed {
    /// Ready to run.
    pub(crate) prepared: Prepared,
    /// What is recorded of it first.
    pub(crate) fact: Fact,
    /// Held by this process.
    pub(crate) hold: Hold,
}

/// This process, for others who want what it holds: in words, and so that they can tell whether it still runs.
pub(crate) fn holder() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let words = format!("process {} on {host}", std::process::id());
    match Identity::own() {
        Some(own) => format!("{words} ({own})"),
        None => words,
    }
}

/// How long a process that loses its run has to be gone.
const EVICTION: Duration = Duration::from_secs(10);

/// Ends the process that has lost a run, where it is on this machine: it may hang with locks of files, and may wake up in the
/// middle of a change. One on another machine has neither of these here, and the store refuses what it does.
fn evict(holder: &str) -> Result<Ending, ToolError> {
    let text = holder.rsplit_once('(').and_then(|(_, text)| text.strip_suffix(')'));
    let Some(Ok(process)) = text.map(str::parse::<Identity>) else { return Ok(Ending::Elsewhere) };
    process.end(EVICTION).map_err(|error| {
        let message = format!(
            "the process {} has lost the run but cannot be ended: {error}; end it, and resume the run without --take-over",
            process.pid()
        );
        ToolError::new(Code::TaskConflict, message)
    })
}

impl Runtime {
    /// What the log has of a run that has ended; none where it can go on.
    pub(crate) fn finished(&self, session: &str, from: HeldBy) -> Result<Option<Recorded>, ToolError> {
        self.check_kept()?;
        let recorded = Recorded::read(&*self.store, session)?.unfinished(&*self.store, session, from)?;
        let is_ended = recorded.states.get(&recorded.root).is_some_and(|state| state.ended().is_some());
        Ok(is_ended.then_some(recorded))
    }

    /// Makes the run of a session ready to go on.
    pub(crate) async fn resume(
        self: &Arc<Self>,
        session: &str,
        from: HeldBy,
        (has_person, listener): (bool, Arc<dyn Listener>),
    ) -> Result<Resumed, ToolError> {
        let name = Recorded::read(&*self.store, session)?.unfinished(&*self.store, session, from)?;
        let name = name.name_of(&name.root);
        let (recorded, hold) = self.held(&name, from, &|recorded| self.check_goes_on(recorded))?;
        let agent = self.agent_of(recorded.start()?)?;
        self.host.known().consent(self, &agent)?;
        let today = moment(self.context.clock().now_ms());
        let chosen = self.model_for(&agent, today.get(..10).unwrap_or_default()).await?;
        let profile = chosen.model.profile();
        let note = format!("{} with {}/{} ({})", agent.name, profile.vendor, profile.model, chosen.reason);
        let reopened = self.reopen(recorded, &agent, chosen, (has_person, listener), None).await?;
        let Reopened { mut prepared, interrupted, .. } = reopened;
        prepared.notes.insert(0, note);
        Ok(Resumed { prepared, fact: Fact::Resumed { interrupted }, hold })
    }

    /// Takes hold of a session, if nothing speaks against it.
    pub(crate) fn held(
        &self,
        session: &str,
        from: HeldBy,
        check: &dyn Fn(&Recorded) -> Result<(), ToolError>,
    ) -> Result<(Recorded, Hold), ToolError> {
        self.check_kept()?;
        let recorded = Recorded::read(&*self.store, session)?;
        check(&recorded)?;
        let hold = match from {
            HeldBy::Nobody => self.store.hold(&recorded.root, &holder(), HeldBy::Nobody)?,
            HeldBy::Anybody => self.take_over(&recorded.root)?,
        };
        // What was read before may have been the past of somebody who held it.
        let name = format!("{}/{}", recorded.session, recorded.root);
        let recorded = Recorded::read(&*self.store, &name)?;
        check(&recorded)?;
        Ok((recorded, hold))
    }

    /// Takes a run from the process that holds it. One on this machine is ended first: it may have been stopped in the middle
    /// of a transaction, and then nobody can write to the store before it is gone. From the end of this on, the store refuses
    /// what the other one writes.
    fn take_over(&self, run: &str) -> Result<Hold, ToolError> {
        let take = |from| self.store.hold(run, &holder(), from);
        let Some(loser) = self.store.holder(run)? else { return take(HeldBy::Nobody) };
        match evict(&loser) {
            Ok(Ending::Elsewhere) => take(HeldBy::Anybody),
            // A server may need long to notice that the process is gone. Another one that holds the run by now has taken it
            // since, and is not the one that hung.
            Ok(Ending::Ended | Ending::Gone) => take(HeldBy::Nobody).or_else(|error| {
                match self.store.holder(run)?.is_some_and(|holder| holder == loser) {
                    true => take(HeldBy::Anybody),
                    false => Err(error),
                }
            }),
            // At least it cannot write any more.
            Err(error) => take(HeldBy::Anybody).and(Err(error)),
        }
    }

    /// Makes the first agent of a session ready to go on, and lets those below it be found.
    pub(crate) async fn reopen(
        self: &Arc<Self>,
        mut recorded: Recorded,
        agent: &AgentFile,
        chosen: Chosen,
        (has_person, listener): (bool, Arc<dyn Listener>),
        caller: Option<Caller>,
    ) -> Result<Reopened, ToolError> {
        let start = recorded.start()?.clone();
        let root = recorded.root.clone();
        for below in recorded.waited_for() {
            // Before anything goes on: the run could only fail by it later.
            self.agent_of(below)?;
        }
        let spent: Vec<(Option<String>, String, Amount)> = recorded
            .tree()
            .into_iter()
            .map(|(id, state)| (parent_of(state), id.to_owned(), amount(state)))
            .collect();
        let mut interrupted = self.interrupted(&recorded).await?;
        let state = recorded.states.remove(&root);
        let seat = Seat {
            id: root.clone(),
            session: recorded.session.clone(),
            task: start.task.clone(),
            has_person,
            listener,
            redactor: chosen.redactor,
            above: None,
            caller,
            state,
        };
        let prepared = self.activate(agent, chosen.model, seat).await?;
        for (parent, id, spent) in spent {
            prepared.activation.branch.restore(parent.as_deref(), &id, spent);
        }
        let own = interrupted.remove(&root).unwrap_or_default();
        let states = recorded.states.into_iter();
        let begun: HashMap<String, Begun> = states
            .map(|(id, state)| {
                let calls = interrupted.remove(&id).unwrap_or_default();
                (id, (state, calls))
            })
            .collect();
        let below = begun.keys().cloned().collect();
        self.host.expect(begun);
        Ok(Reopened { events: recorded.events, prepared, interrupted: own, below })
    }

    /// Copies the run of a session up to a step into a session of its own. Returns that session, and the name of the new run.
    pub(crate) async fn fork(
        self: &Arc<Self>,
        session: &str,
        at: Option<u64>,
        task: Option<&str>,
    ) -> Result<(String, String), ToolError> {
        self.check_kept()?;
        let recorded = Recorded::read(&*self.store, session)?;
        let steps = recorded.states.get(&recorded.root).map_or(0, State::next_seq);
        if let Some(at) = at.filter(|at| *at > 0 && *at >= steps) {
            let there = match steps {
                0 => "it has not come to its first step".to_owned(),
                steps => format!("its last one is {}", steps - 1),
            };
            let message = format!(
                "the run of the session `{session}` has no step {at}: {there}; `toolpost log --session {}` shows its steps",
                recorded.session
            );
            return Err(ToolError::new(Code::ValidationError, message));
        }
        let agent = self.agent_of(recorded.start()?)?;
        let today = moment(self.context.clock().now_ms());
        let model = self.model_for(&agent, today.get(..10).unwrap_or_default()).await?.model;
        let (id, forked) = self.new_run(&agent);
        let start = |start: Start| Start {
            model: model.profile().clone(),
            workspace: self.context.workspace().root().to_owned(),
            task: task.filter(|_| at == Some(0)).map_or(start.task, str::to_owned),
            rights: Some(self.rights_after(&start.rights.unwrap_or_default())),
            ..start
        };
        let fork = Fork { from: &recorded.root, at, activation: &id, session: &forked, start: &start };
        let mut events = fork.events(&recorded.events);
        if let (Some(text), Some(last)) = (task.filter(|_| at != Some(0)), events.last()) {
            let text = text.to_owned();
            let fact = match at {
                Some(_) => Fact::Signalled { from: String::new(), text, id: None, ended: None },
                // It had done all that it was told before.
                None => Fact::Continued { id: id.clone(), text, attachments: Vec::new(), model: None },
            };
            let told = Event { call: None, kind: EventKind::Activation { fact }, ..(**last).clone() };
            events.push(Arc::new(told));
        }
        let store = Arc::clone(&self.store);
        self.context.blocking_in_pool(move |_| store.append(&events)).await?;
        let name = format!("{forked}/{id}");
        Ok((forked, name))
    }

    /// Refuses to go on where nothing is kept.
    fn check_kept(&self) -> Result<(), ToolError> {
        match self.config.store {
            Some(toolpost_store::StoreUrl::Memory) | None => Err(ToolError::new(
                Code::StoreNotAvailable,
                "nothing is kept in this store, so that no run can go on from it; name another with --store",
            )),
            Some(_) => Ok(()),
        }
    }

    /// Whether a session belongs to this workspace.
    pub(crate) fn check_here(&self, recorded: &Recorded) -> Result<(), ToolError> {
        let start = recorded.start()?;
        let (needed, here) = (&start.workspace, self.context.workspace().root());
        if needed != here {
            let message = format!(
                "the session `{}` needs the workspace `{needed}`, and this is `{here}`; go there, or name it with --workspace",
                recorded.session
            );
            return Err(ToolError::new(Code::ValidationError, message).with("workspace", needed.as_str()));
        }
        Ok(())
    }

    /// Whether a run has something left to do, here.
    fn check_goes_on(&self, recorded: &Recorded) -> Result<(), ToolError> {
        self.check_here(recorded)?;
        let ended = recorded.states.get(&recorded.root).and_then(|state| state.ended());
        match ended {
            None => Ok(()),
            Some(ended) => {
                let name = recorded.name_of(&recorded.root);
                let message = format!(
                    "the run of the session `{}` has ended ({}), so that nothing is left to do; `toolpost chat --resume {name}` tells it more, and `toolpost sessions fork` begins another one from it",
                    recorded.session,
                    ended.reason.as_str(),
                );
                Err(ToolError::new(Code::ValidationError, message))
            }
        }
    }

    /// The agent of a run: its file, with the very content that it had.
    pub(crate) fn agent_of(&self, start: &Start) -> Result<AgentFile, ToolError> {
        if let Some(agent) = start.file.as_deref().and_then(own_agent) {
            return Ok(agent);
        }
        let known = self.host.known().all(self);
        let is_same = |agent: &AgentFile| Some(&agent.hash) == start.file_hash.as_ref();
        if let Some(agent) = known.get(&start.agent).filter(|agent| is_same(agent)) {
            return Ok((**agent).clone());
        }
        let file = start.file.clone().unwrap_or_default();
        let path = if file.contains('/') { file.clone() } else { format!("./{file}") };
        let agent = self.config.agent(&path).ok().and_then(|loaded| loaded.agent);
        agent.filter(is_same).ok_or_else(|| {
            let message = format!(
                "the file `{file}` of the agent `{}` is not there any more, or has changed since the run began; put it back to go on",
                start.agent
            );
            ToolError::new(Code::FileNotFound, message).with("file", file.as_str())
        })
    }

    /// Of each run, the calls that had started and must not be made again, with what is known of them.
    async fn interrupted(
        &self,
        recorded: &Recorded,
    ) -> Result<HashMap<String, Vec<InterruptedCall>>, ToolError> {
        let mut open: Vec<(String, String, String)> = Vec::new();
        for (run, state) in recorded.states.iter().filter(|(_, state)| state.ended().is_none()) {
            let calls = state.open_calls().into_iter().filter(|(_, _, is_idempotent)| !is_idempotent);
            open.extend(calls.map(|(call, tool, _)| (run.clone(), call, tool)));
        }
        let stored: Vec<String> = recorded
            .events
            .iter()
            .filter(|event| {
                matches!(
                    event.kind,
                    EventKind::FileStored { .. }
                        | EventKind::TaskChanged { .. }
                        | EventKind::TodosChanged { .. }
                )
            })
            .filter_map(|event| event.call.clone())
            .collect();
        let (store, snapshot) = (Arc::clone(&self.store), self.context.tools().snapshot());
        self.context
            .blocking_in_pool(move |ctx| {
                let mut known: HashMap<String, Vec<InterruptedCall>> = HashMap::new();
                for (run, call, tool) in open {
                    let reach = snapshot.get(&tool).map(|entry| entry.capabilities());
                    // What a tool does elsewhere than in files and in the store leaves no trace here.
                    let is_traced = reach
                        .is_some_and(|reach| !reach.has(Capability::Exec) && !reach.has(Capability::Network));
                    let is_stored = stored.contains(&call);
                    let found = found(ctx, &*store, call, is_traced, is_stored)?;
                    known.entry(run).or_default().push(found);
                }
                Ok(known)
            })
            .await
    }
}

fn parent_of(state: &State) -> Option<String> {
    state.start().and_then(|start| start.parent.clone())
}

/// What a run has spent by itself.
fn amount(state: &State) -> Amount {
    state.spent()
}

/// What is known of a call that was running when its process ended: by the journal, and by what lies in the workspace.
fn found(
    ctx: &Context,
    store: &dyn Store,
    call: String,
    is_traced: bool,
    is_stored: bool,
) -> Result<InterruptedCall, ToolError> {
    let query = ChangeQuery {
        workspace: ctx.workspace().root().to_owned(),
        call: Some(call.clone()),
        ..ChangeQuery::default()
    };
    let changes = store.changes(&query)?;
    let (mut made, mut not_made, mut unclear) = (Vec::new(), Vec::new(), Vec::new());
    for change in changes {
        let now = now(ctx, &change.name);
        let list = match () {
            () if same(&now, &change.after) => &mut made,
            () if same(&now, &change.before) => &mut not_made,
            () => &mut unclear,
        };
        list.push(format!("`{}`", change.name));
    }
    let names = |names: &[String]| names.join(", ");
    let (landed, known) = match (made.is_empty(), not_made.is_empty(), unclear.is_empty()) {
        (true, true, true) if is_stored => {
            (Some(true), "its change was made; do not make it again".to_owned())
        }
        (true, true, true) if is_traced => {
            (Some(false), "it had changed nothing; make it again if it is needed".to_owned())
        }
        (true, true, true) => {
            (None, "what it had done by then is unknown; check before you repeat it".to_owned())
        }
        (false, true, true) if is_traced => {
            (Some(true), format!("its change of {} was made; do not make it again", names(&made)))
        }
        (true, false, true) if is_traced => (
            Some(false),
            format!("its change of {} was not made; make it again if it is needed", names(&not_made)),
        ),
        _ => {
            let part = |what: &str, list: &[String]| match list.is_empty() {
                true => None,
                false => Some(format!("{} {what}", names(list))),
            };
            let parts: Vec<String> = [
                part("changed", &made),
                part("as before", &not_made),
                part("changed by somebody else since", &unclear),
            ]
            .into_iter()
            .flatten()
            .collect();
            let files = parts.join("; ");
            (None, format!("what it had done by then is unknown ({files}); check before you repeat it"))
        }
    };
    Ok(InterruptedCall { call, landed, known })
}

/// What a name holds now.
fn now(ctx: &Context, name: &str) -> Held {
    let path = WorkspacePath::new(name);
    match ctx.workspace().open(&path) {
        Ok(file) => {
            let (mut hasher, mut reader) = (Sha256::new(), file.reader);
            let mut piece = vec![0; 64 * 1024];
            let mut size = 0;
            loop {
                match reader.read(&mut piece) {
                    Ok(0) => break,
                    Ok(read) => {
                        hasher.update(&piece[..read]);
                        size += read as u64;
                    }
                    Err(_) => return Held::Unknown,
                }
            }
            Held::File { hash: hex(&hasher.finalize()), size, mode: None }
        }
        Err(error) if error.code() == Code::FileNotFound => Held::Absent,
        Err(error) if error.code() == Code::NotAFile => Held::Folder { mode: None },
        Err(_) => Held::Unknown,
    }
}

fn same(now: &Held, then: &Held) -> bool {
    match (now, then) {
        (Held::File { hash: now, .. }, Held::File { hash: then, .. }) => now == then,
        (Held::Absent, Held::Absent) | (Held::Folder { .. }, Held::Folder { .. }) => true,
        _ => false,
    }
}
