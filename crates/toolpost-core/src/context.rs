//! What a running tool can reach. Every part can be replaced, so that a test needs no machine around it.

mod builder;
mod cancel;
mod changes;
mod deadline;
mod ground;
mod held_back;
mod log;
mod selection;
mod services;

pub use builder::ContextBuilder;
pub(crate) use cancel::Cancel;
pub(crate) use deadline::Deadline;
pub use ground::{Ground, Reach};
pub use held_back::HeldBack;
pub use log::Log;
pub use selection::Selection;
pub use services::{Extra, Services};

use crate::activation::Fact;
use crate::agents::AgentHost;
use crate::capability::{Capabilities, Capability, Need};
use crate::clock::Clock;
use crate::code::CodeEngine;
use crate::confirm::{Answer, Confirm, NobodyThere, Question};
use crate::dialect::{Dialect, is_hidden};
use crate::error::{Code, ToolError};
use crate::event::{Event, EventKind, EventSink, NoEvents};
use crate::executor::{Call, Executor};
use crate::known::KnownFiles;
use crate::outcome::{Outcome, PlannedChange};
use crate::policy::{ForeseenCall, Outlook, Policy};
use crate::registry::{Registry, Snapshot};
use crate::spill::{HANDLE_PREFIX, Spill, SpillFile};
use crate::store::{By, Store};
use crate::tool::{Definition, OutputBudget, Setting};
use crate::workspace::{File, Guard, Journal, Journaled, Memory, Overlay, Workspace, WorkspacePath};
use futures_util::FutureExt;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_schema::Alias;
use toolpost_text::{RedactingWriter, Redactor};

/// What a running tool can reach: ids, workspace, services, limits, and the ways to speak.
///
/// A host makes one per session with [`Context::builder`]; the executor derives one per call from it. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    host: Arc<Host>,
    call: Arc<Running>,
}

/// What the host gives; the same for all calls of a session.
#[derive(Clone)]
struct Host {
    ids: Ids,
    spawn: Spawn,
    cwd: String,
    workspace: Arc<dyn Workspace>,
    tools: Arc<Registry>,
    policy: Policy,
    services: Services,
    extra: Extra,
    clock: Arc<dyn Clock>,
    events: Arc<dyn EventSink>,
    /// Whether nobody is told what happens, as in a preview.
    is_silent: bool,
    /// Events of the session so far, counted for all contexts that were made from one.
    sequence: Arc<AtomicU64>,
    redactor: Arc<Redactor>,
    spill: Option<Arc<dyn Spill>>,
    journal: Option<Arc<dyn Journal>>,
    known_files: Option<Arc<dyn KnownFiles>>,
    dialect: Arc<Dialect>,
    provider: Option<Arc<str>>,
    selection: Option<Arc<Selection>>,
}

/// What the executor sets anew for each call.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) id: Arc<str>,
    pub(crate) tool: Arc<str>,
    /// The spelling that the call was made in.
    pub(crate) alias: Option<Arc<Alias>>,
    pub(crate) parent: Option<Arc<str>>,
    pub(crate) depth: usize,
    pub(crate) workspace: Arc<dyn Workspace>,
    /// Who is asked.
    pub(crate) confirm: Arc<dyn Confirm>,
    pub(crate) guard: Option<Arc<dyn Guard>>,
    /// Who is told of changes; in a dry run, and outside of a call, nobody.
    pub(crate) journal: Option<Arc<Journaled>>,
    pub(crate) cancel: Cancel,
    pub(crate) deadline: Deadline,
    pub(crate) budget: OutputBudget,
    pub(crate) granted: Capabilities,
    pub(crate) is_dry_run: bool,
    pub(crate) executor: Option<(Executor, Arc<Snapshot>)>,
    pub(crate) span: tracing::Span,
    /// Set when the caller has its answer: what a tool left behind may do nothing any more. None before a tool runs.
    pub(crate) ended: Option<Arc<AtomicBool>>,
    /// The files whose turn the call has, each with the turns of the calls it makes itself.
    pub(crate) held: Held,
    /// Where a dry run writes.
    pub(crate) overlay: Option<Arc<Overlay>>,
    /// What a dry run would change elsewhere than through the overlay.
    pub(crate) planned: Option<Arc<Mutex<Vec<PlannedChange>>>>,
}

/// See [`Running::held`].
pub(crate) type Held = Arc<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>;

/// Who is calling.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ids {
    /// The session.
    pub session: String,
    /// The model's message that asked for the call.
    pub message: Option<String>,
    /// The agent that calls.
    pub agent: Option<String>,
    /// The run of that agent.
    pub activation: Option<String>,
    /// The activation that started it.
    pub parent_activation: Option<String>,
    /// The role of the caller, for tools that only some roles have.
    pub role: Option<String>,
}

/// Where an activation stands in its tree, and how much further the tree may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spawn {
    /// Levels above this one.
    pub depth: usize,
    /// Levels allowed.
    pub max_depth: usize,
    /// Children allowed at once.
    pub max_children: usize,
    /// Children started so far.
    pub children: usize,
}

impl Default for Spawn {
    fn default() -> Spawn {
        Spawn { depth: 0, max_depth: 3, max_children: 8, children: 0 }
    }
}

impl Context {
    /// A context over an empty memory workspace.
    pub fn in_memory() -> Context {
        Context::builder(Arc::new(Memory::new())).build()
    }

    /// The tools of the session: those of the runtime, and an agent's own.
    pub fn tools(&self) -> &Arc<Registry> {
        &self.host.tools
    }

    /// What the session may do, as its host has decided; answers given since are the executor's to know.
    pub fn policy(&self) -> &Policy {
        &self.host.policy
    }

    /// Who is calling.
    pub fn ids(&self) -> &Ids {
        &self.host.ids
    }

    /// The session's id.
    pub fn session(&self) -> &str {
        &self.host.ids.session
    }

    /// The id of this call; empty outside of one.
    pub fn call_id(&self) -> &str {
        &self.call.id
    }

    /// The id of the call that made this one.
    pub fn parent_call(&self) -> Option<&str> {
        self.call.parent.as_deref()
    }

    /// How many calls stand above this one.
    pub fn call_depth(&self) -> usize {
        self.call.depth
    }

    /// Where this activation stands in its tree.
    pub fn spawn(&self) -> Spawn {
        self.host.spawn
    }

    /// Where file tools act. Inside a call it is bound to what was decided for the call, and counts. Its methods block: call
    /// them inside of [`Context::blocking`].
    pub fn workspace(&self) -> &Arc<dyn Workspace> {
        &self.call.workspace
    }

    /// The folder that the session stands in.
    pub fn cwd(&self) -> &str {
        &self.host.cwd
    }

    /// Opens a file of the workspace or, by its handle, an output that was too long to show. Blocks like the workspace.
    pub fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        if !path.as_str().starts_with(HANDLE_PREFIX) {
            return self.workspace().open(path);
        }
        match &self.host.spill {
            Some(spill) => spill.open(self.session(), path.as_str()),
            None => {
                let message = format!("no outputs are kept here, so there is no `{path}`");
                Err(ToolError::new(Code::FileNotFound, message))
            }
        }
    }

    /// The text of a file of the workspace, or of an output that was too long to show. A file that is not UTF-8, or larger
    /// than [`Context::LARGEST_TEXT`], is an error: read it piece by piece with [`Context::open`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use toolpost_core::{Context, Memory, WorkspacePath};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toolpost_core::ToolError> {
    /// let ctx = Context::builder(Arc::new(Memory::from_fixture("//- notes.txt\nbuy milk\n"))).build();
    /// assert_eq!(ctx.read_text(&WorkspacePath::new("notes.txt")).await?, "buy milk\n");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_text(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        let wanted = path.clone();
        self.blocking(move |ctx| ctx.text_of(&wanted)).await
    }

    fn text_of(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        let file = self.open(path)?;
        let most = Context::LARGEST_TEXT;
        let mut bytes = Vec::with_capacity(usize::try_from(file.stat.size.min(most)).unwrap_or_default());
        (file.reader.take(most + 1).read_to_end(&mut bytes))
            .map_err(|error| ToolError::new(Code::ReadError, format!("cannot read `{path}`: {error}")))?;
        if bytes.len() as u64 > most {
            let message = format!("`{path}` is larger than {most} bytes; read it in pieces");
            return Err(ToolError::new(Code::TooLarge, message).with("path", path.as_str()));
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let message = format!("`{path}` is not UTF-8 text (byte {at}); choose another file");
            ToolError::new(Code::IsBinary, message).with("path", path.as_str())
        })
    }

    /// Maximum number of bytes that [`Context::read_text`] returns.
    pub const LARGEST_TEXT: u64 = 16 << 20;

    /// The dialect in which tools are offered to this session.
    pub fn dialect(&self) -> &Arc<Dialect> {
        &self.host.dialect
    }

    /// An argument of the running tool with a value, as the caller would write it: `offset=20`. For texts that say how
    /// to go on, since the caller may know the argument by another name, or count from 0. None where the caller has no
    /// such argument, so that no text speaks of it.
    pub fn spelled(&self, argument: &str, value: impl Into<Value>) -> Option<String> {
        let (name, value) = (self.argument(argument)?, value.into());
        let spelled = |alias: Option<&Alias>| match alias.and_then(|alias| alias.offered(None, argument)) {
            Some(spelling) => spelling.theirs(value.clone()),
            None => value.clone(),
        };
        let (own, called) = (spelled(self.own_spelling()), self.alias());
        // By the name that was called, the same word may count in another way.
        let is_other = called
            .is_some_and(|alias| alias.spelling(None, argument) == Some(name) && spelled(called) != own);
        let of =
            if is_other { format!(" of `{}`", self.known_as(self.canonical_tool())) } else { String::new() };
        Some(format!("{name}={own}{of}"))
    }

    /// The name by which the session knows an argument of the running tool; none where it has no such argument. A call by
    /// a name of another dialect is answered in the words of the session's own.
    pub fn argument<'a>(&'a self, argument: &'a str) -> Option<&'a str> {
        self.spelling(self.own_spelling(), self.canonical_tool(), argument)
    }

    /// The default of an argument of the running tool, where the session's dialect has one of its own.
    pub fn default_of(&self, argument: &str) -> Option<&Value> {
        self.own_spelling()?.default_of(argument)
    }

    /// How the session spells the arguments of the running tool.
    fn own_spelling(&self) -> Option<&Alias> {
        self.spelling_of(self.canonical_tool(), self.alias())
    }

    /// How the session spells the arguments of a tool that was called by this alias.
    pub(crate) fn spelling_of<'a>(&'a self, tool: &'a str, called: Option<&'a Alias>) -> Option<&'a Alias> {
        self.snapshot().spelling(tool, &self.host.dialect, called)
    }

    /// The running tool by its own name.
    fn canonical_tool(&self) -> &str {
        self.alias().map_or(&self.call.tool, |alias| alias.tool.as_str())
    }

    /// The name of a tool's argument under an alias, or under the tool's own name.
    fn spelling<'a>(&self, alias: Option<&'a Alias>, tool: &str, argument: &'a str) -> Option<&'a str> {
        if alias.is_none_or(|alias| alias.offered(None, argument).is_none()) {
            let snapshot = self.snapshot();
            let prepared = snapshot.get(tool).and_then(|entry| entry.prepared().ok());
            if prepared.is_some_and(|prepared| is_hidden(&prepared.definition.input, argument)) {
                return None;
            }
        }
        match alias {
            Some(alias) => alias.spelling(None, argument),
            None => Some(argument),
        }
    }

    /// The provider of the model that the session's tools are for, where it is known.
    pub fn provider(&self) -> Option<&str> {
        self.host.provider.as_deref()
    }

    /// The tools that the session restricts itself to; none where it does not.
    pub fn selection(&self) -> Option<&Arc<Selection>> {
        self.host.selection.as_ref()
    }

    /// The name under which this session knows a tool; none where the session has no such tool.
    pub fn tool_name(&self, tool: &str) -> Option<String> {
        let snapshot = self.snapshot();
        snapshot.get(tool)?;
        if self.selection().is_some_and(|selection| !selection.has(&snapshot, tool)) {
            return None;
        }
        snapshot.shown_name(tool, &self.host.dialect).map(str::to_owned)
    }

    /// The name of a tool for messages about a call of it: the session's, or else its own.
    pub(crate) fn known_as<'a>(&'a self, tool: &'a str) -> &'a str {
        self.host.dialect.shown_name(tool).unwrap_or(tool)
    }

    /// The name by which this session knows an argument of another tool; none where it has no such tool or argument.
    pub fn argument_of(&self, tool: &str, argument: &str) -> Option<String> {
        let alias = self.host.dialect.resolve(&self.tool_name(tool)?);
        self.spelling(alias.map(Arc::as_ref), tool, argument).map(str::to_owned)
    }

    /// The name by which this session knows a field of the items of a list that a tool takes; none where it gives no such
    /// field. A field of a tool that the session does not have keeps its name.
    pub fn field_of(&self, tool: &str, list: &str, field: &str) -> Option<String> {
        let Some(offered) = self.tool_name(tool) else { return Some(field.to_owned()) };
        match self.host.dialect.resolve(&offered) {
            Some(alias) if alias.fills(Some(list), field) => None,
            Some(alias) => alias.spelling(Some(list), field).map(str::to_owned),
            None => Some(field.to_owned()),
        }
    }

    /// How this session reads what is kept under a handle: `` `read` with filePath=spill:… ``. None where it has no tool
    /// that does.
    pub fn reading(&self, handle: &str) -> Option<String> {
        let snapshot = self.snapshot();
        let (entry, argument) =
            snapshot.all().find_map(|entry| Some((entry, entry.spec().handle_argument.clone()?)))?;
        let tool = self.tool_name(entry.name())?;
        // A tool offers the argument that it reads handles by, so that its schema need not be made to answer this.
        let argument = match self.host.dialect.resolve(&tool) {
            Some(alias) => alias.spelling(None, &argument)?,
            None => &argument,
        };
        Some(format!("`{tool}` with {argument}={handle}"))
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        match &self.call.executor {
            Some((_, snapshot)) => snapshot.clone(),
            None => self.host.tools.snapshot(),
        }
    }

    /// The spelling that the running call was made in.
    pub(crate) fn alias(&self) -> Option<&Alias> {
        self.call.alias.as_deref()
    }

    /// The services there are.
    pub fn services(&self) -> &Services {
        &self.host.services
    }

    /// Whether a service is there.
    pub fn has(&self, need: Need) -> bool {
        match need {
            Need::Parent => self.host.ids.parent_activation.is_some(),
            service => self.host.services.has(service),
        }
    }

    /// The store of the session, for a tool that needs one.
    pub fn store(&self) -> Result<&Arc<dyn Store>, ToolError> {
        self.host.services.store.as_ref().ok_or_else(|| {
            let message = "there is no store here; start with one, or do without what it keeps";
            ToolError::new(Code::StoreNotAvailable, message)
        })
    }

    /// The code engine of the session, for a tool that needs one.
    pub fn code(&self) -> Result<&Arc<dyn CodeEngine>, ToolError> {
        self.host.services.code.as_ref().ok_or_else(|| {
            let message = "there is no code engine here; search the text of files instead";
            ToolError::new(Code::EngineNotAvailable, message)
        })
    }

    /// The host that runs agents, for a tool that starts one.
    pub fn agents(&self) -> Result<&Arc<dyn AgentHost>, ToolError> {
        self.host.services.agents.as_ref().ok_or_else(|| {
            let message = "no agents can be started here; do the work without one";
            ToolError::new(Code::LlmAssistRequired, message)
        })
    }

    /// Who is calling, for what a store keeps.
    pub fn by(&self) -> By {
        By {
            at_ms: self.host.clock.now_ms(),
            session: self.host.ids.session.clone(),
            agent: self.host.ids.agent.clone(),
            activation: self.host.ids.activation.clone(),
            call: (!self.call.id.is_empty()).then(|| self.call.id.to_string()),
        }
    }

    /// Values that hosts and tools share by type.
    pub fn extra(&self) -> &Extra {
        &self.host.extra
    }

    /// The clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.host.clock
    }

    /// Fires when the caller has given up or the time is over.
    pub fn cancel(&self) -> &CancellationToken {
        match &self.call.ended {
            Some(ended) => self.call.cancel.token_unless(ended),
            None => self.call.cancel.token(),
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.call.cancel.is_cancelled() || self.has_ended()
    }

    /// How long the call may still run; `None` outside of one.
    pub fn time_left(&self) -> Option<Duration> {
        self.call.deadline.left()
    }

    /// Fails once the call is cancelled or out of time. For loops in blocking code.
    pub fn checkpoint(&self) -> Result<(), ToolError> {
        // Time first: a call that is out of time is cancelled as well.
        if self.time_left().is_some_and(|left| left.is_zero()) {
            return Err(ToolError::new(Code::Timeout, "the call is out of time"));
        }
        if self.is_cancelled() {
            return Err(ToolError::new(Code::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    /// How much text the call may return.
    pub fn output_budget(&self) -> OutputBudget {
        self.call.budget
    }

    /// Whether an optional capability was granted.
    pub fn granted(&self, capability: Capability) -> bool {
        self.call.granted.has(capability)
    }

    /// Why a file must not be shown to the model, if so: the policy would ask about it or deny it. For tools that
    /// walk; the details name the `rule`.
    pub fn withheld(&self, name: &str) -> Option<ToolError> {
        self.call.guard.as_ref()?.judge(Capability::Read, name).err()
    }

    /// Why this call may not change or remove the file or folder of this display name; none if it may.
    pub fn change_refusal(&self, name: &str) -> Option<ToolError> {
        self.call.guard.as_ref()?.judge(Capability::Write, name).err()
    }

    /// The first of these display names that this call may not change or remove, by the policy or because git runs it or
    /// knows a repository by it, and why. Blocks like the workspace.
    pub fn first_change_refused(&self, names: &[String]) -> Option<(String, ToolError)> {
        let guard = self.call.guard.as_ref()?;
        let refused = |judge: &dyn Fn(&str) -> Result<(), ToolError>| {
            names.iter().find_map(|name| judge(name).err().map(|error| (name.clone(), error)))
        };
        let by_policy = refused(&|name| guard.judge(Capability::Write, name));
        if by_policy.is_some() || !self.host_workspace().has_repositories() {
            return by_policy;
        }
        let run = self.host_workspace().run_by_git(names);
        refused(&|name| guard.judge_run_by_git(name, &run))
    }

    /// Why this call may not reach a host, `host:port`; none if it may. For a tool that is led from one host to another.
    pub fn host_refusal(&self, place: &str) -> Option<ToolError> {
        self.call.guard.as_ref()?.judge_host(place).err()
    }

    /// Whether a rule names this host, `host:port`, so that its address need not be a public one.
    pub fn opens_host(&self, place: &str) -> bool {
        self.call.guard.as_ref().is_some_and(|guard| guard.opens_host(place))
    }

    /// Whether this call only tells what it would do.
    pub fn is_dry_run(&self) -> bool {
        self.call.is_dry_run
    }

    /// Says of a dry run what it would change. What is written through the workspace need not be said.
    pub fn would_change(&self, change: PlannedChange) {
        if let Some(planned) = &self.call.planned {
            planned.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        }
    }

    /// The tracing span of this call.
    pub fn span(&self) -> &tracing::Span {
        &self.call.span
    }

    /// Says how far the tool is. Secrets are taken out; after the end of the call nobody is told.
    pub fn progress(&self, title: impl Into<String>, metadata: Value) {
        if !self.has_ended() {
            self.record(|| EventKind::Progress { title: title.into(), metadata });
        }
    }

    /// Asks the person something. The time it takes does not count against the time-out.
    pub async fn confirm(&self, question: &str) -> Answer {
        let question = Question {
            tool: self.call.tool.to_string(),
            text: question.to_owned(),
            call: String::new(),
            facts: Vec::new(),
            accesses: Vec::new(),
            preview: None,
            has_dry_run: false,
            protected: false,
            remember: None,
        };
        self.ask(&question).await
    }

    /// Waits for something that does not count against the time-out, such as a person who is asked by another call.
    pub async fn while_paused<T>(&self, wait: impl Future<Output = T> + Send) -> T {
        let _pause = self.call.deadline.pause();
        wait.await
    }

    pub(crate) async fn ask(&self, question: &Question) -> Answer {
        if self.has_ended() {
            return Answer::No("the call has ended".to_owned());
        }
        self.record(|| EventKind::Asked { question: question.clone() });
        let pause = self.call.deadline.pause();
        let asked = AssertUnwindSafe(async { self.call.confirm.confirm(question).await }).catch_unwind();
        let answer = tokio::select! {
            biased;
            () = self.cancel().cancelled() => Answer::No("the call was cancelled".to_owned()),
            // Who crashed while asking has asked nobody.
            answer = asked => answer.unwrap_or(Answer::Nobody),
        };
        let answer = match answer {
            Answer::DryRun if !question.has_dry_run => {
                Answer::No("a dry run was asked for where there is none".to_owned())
            }
            answer => answer,
        };
        drop(pause);
        self.record(|| EventKind::Answered { answer: answer.clone() });
        answer
    }

    pub(crate) fn wants_preview(&self) -> bool {
        self.call.confirm.wants_preview()
    }

    /// Runs another tool through the same executor, with the same registry as this call, as a child of it.
    ///
    /// `None` where there is no executor around: in a unit test of the tool alone.
    pub async fn call(&self, call: Call) -> Option<Outcome> {
        let (executor, snapshot) = self.call.executor.clone()?;
        Some(executor.run_in(snapshot, self, call).await)
    }

    /// Runs several tools side by side, results in order. See [`Executor::call_all`].
    pub async fn call_all(&self, calls: Vec<Call>) -> Option<Vec<Outcome>> {
        let (executor, snapshot) = self.call.executor.clone()?;
        Some(executor.run_all_in(snapshot, self, calls).await)
    }

    /// What is foreseen of a call that this one would make; `None` where there is no executor around it.
    pub fn foreseen(&self, tool: &str, arguments: Value) -> Option<ForeseenCall> {
        let (executor, _) = self.call.executor.as_ref()?;
        let (tool, effect, reason) = match executor.explain(self, tool, arguments) {
            Ok(explained) => (explained.tool, explained.effect, explained.reason),
            Err(error) => (tool.to_owned(), Outlook::Deny, error.message().to_owned()),
        };
        Some(ForeseenCall { tool, effect, reason })
    }

    /// The tools that are held back from lists and that this session may call, as its dialect offers them. Servers that
    /// have not started yet are waited for; those that cannot are named, with the reason.
    pub async fn unlisted(&self) -> (Vec<Definition>, Vec<(String, ToolError)>) {
        let Some((executor, _)) = &self.call.executor else { return (Vec::new(), Vec::new()) };
        executor.unlisted(self).await
    }

    /// A writer that takes known secrets out of what passes through it, across the borders of pieces.
    pub fn without_secrets<W: Write>(&self, into: W) -> RedactingWriter<Arc<Redactor>, W> {
        RedactingWriter::new(Arc::clone(&self.host.redactor), into)
    }

    /// A file for an output of this call that is too long to hold; none where nothing is kept. See [`Spill::file`].
    pub fn spill_file(&self, threshold: usize) -> Option<Box<dyn SpillFile>> {
        self.host.spill.as_ref()?.file(self.session(), self.call_id(), threshold).ok()
    }

    /// Keeps a text of the session under a name, without secrets. Returns its handle; none where nothing is kept. Blocks.
    pub fn keep_text(&self, name: &str, text: &str) -> Option<String> {
        let kept = self.host.spill.as_ref()?.keep(self.session(), name, text, &self.host.redactor);
        match kept {
            Ok((handle, _)) => Some(handle),
            // It was kept before.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Some(format!("{HANDLE_PREFIX}{name}"))
            }
            Err(_) => None,
        }
    }

    /// Where a tool that cuts a text at `end` has to cut it: before a secret that lies across, of which a part would show.
    /// The text must go on for [`Context::longest_secret`] bytes behind `end`, or to its own end.
    pub fn cut_at(&self, text: &str, end: usize) -> usize {
        self.host.redactor.border(text, end)
    }

    /// Bytes that the longest known secret has.
    pub fn longest_secret(&self) -> usize {
        self.host.redactor.longest()
    }

    /// What takes secrets out of everything that leaves.
    pub fn redactor(&self) -> &Arc<Redactor> {
        &self.host.redactor
    }

    pub(crate) fn known_files_of_host(&self) -> Option<&dyn KnownFiles> {
        self.host.known_files.as_deref()
    }

    pub(crate) fn spill(&self) -> Option<&Arc<dyn Spill>> {
        self.host.spill.as_ref()
    }

    /// The host's own workspace, not bound to any call.
    pub(crate) fn host_workspace(&self) -> &Arc<dyn Workspace> {
        &self.host.workspace
    }

    pub(crate) fn setting(&self) -> Setting {
        Setting {
            workspace: self.host.workspace.clone(),
            agent: self.host.ids.agent.clone(),
            services: self.host.services.clone(),
        }
    }

    pub(crate) fn events(&self) -> &Arc<dyn EventSink> {
        &self.host.events
    }

    /// Records a fact of the agent's run that this context belongs to, if anybody listens.
    pub fn record_fact(&self, fact: impl FnOnce() -> Fact) {
        self.record(|| EventKind::Activation { fact: fact() });
    }

    /// The event of a fact of the agent's run, without secrets: for a program that hands it to the sinks itself, in an order
    /// that it determines.
    pub fn fact_event(&self, fact: Fact) -> Event {
        let event = self.event(EventKind::Activation { fact });
        if log::is_followed() {
            log::follow(self.span(), &event);
        }
        event
    }

    /// Waits until everything that was recorded is as durable as it will be.
    pub async fn committed(&self) -> Result<(), ToolError> {
        match self.host.events.is_listening() {
            true => self.host.events.commit().await,
            false => Ok(()),
        }
    }

    /// Records an event of this call, if anybody listens.
    pub(crate) fn record(&self, kind: impl FnOnce() -> EventKind) {
        let is_listening = self.host.events.is_listening();
        let is_followed = log::is_followed() && !self.host.is_silent;
        if !is_listening && !is_followed {
            return;
        }
        let event = Arc::new(self.event(kind()));
        if is_followed {
            log::follow(self.span(), &event);
        }
        if is_listening {
            self.host.events.record(&event);
            // Somebody who listens may have been woken by it.
            crate::blocking::let_others_run();
        }
    }

    fn event(&self, kind: EventKind) -> Event {
        Event {
            at_ms: self.host.clock.now_ms(),
            session: self.host.ids.session.clone(),
            sequence: self.host.sequence.fetch_add(1, Ordering::Relaxed) + 1,
            agent: self.host.ids.agent.clone(),
            activation: self.host.ids.activation.clone(),
            call: (!self.call.id.is_empty()).then(|| self.call.id.to_string()),
            kind: self.redacted(kind),
        }
    }

    fn redacted(&self, kind: EventKind) -> EventKind {
        if self.host.redactor.is_empty() {
            return kind;
        }
        kind.map_text(&|text| self.host.redactor.redact(text).into_owned())
    }

    fn has_ended(&self) -> bool {
        self.call.ended.as_ref().is_some_and(|ended| ended.load(Ordering::Acquire))
    }

    /// The same, where nobody is told or asked anything: for a preview.
    pub(crate) fn silenced(&self) -> Context {
        // Made before it is shared: what ends the call ends this too.
        self.call.cancel.token();
        let host = Host { events: Arc::new(NoEvents), is_silent: true, ..(*self.host).clone() };
        let call = Running { confirm: Arc::new(NobodyThere), ..(*self.call).clone() };
        Context { host: Arc::new(host), call: Arc::new(call) }
    }

    /// The same call, where others are asked.
    pub(crate) fn asking(&self, confirm: Arc<dyn Confirm>) -> Context {
        self.derive(Running { confirm, ..(*self.call).clone() })
    }

    pub(crate) fn running(&self) -> &Running {
        &self.call
    }

    /// The context of one call of this session.
    pub(crate) fn derive(&self, call: Running) -> Context {
        Context { host: self.host.clone(), call: Arc::new(call) }
    }
}
