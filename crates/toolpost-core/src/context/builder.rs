//! How a host makes a context: a workspace, and whatever differs from the defaults, which do nothing.

use super::{Cancel, Context, Deadline, Extra, Held, Host, Ids, Running, Selection, Services, Spawn};
use crate::capability::Capabilities;
use crate::clock::{Clock, SystemClock};
use crate::confirm::{Answer, Asks, Confirm, NobodyThere, Question};
use crate::dialect::Dialect;
use crate::event::{Event, EventSink, NoEvents, Sinks, Tells};
use crate::known::KnownFiles;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::spill::Spill;
use crate::tool::OutputBudget;
use crate::workspace::{Journal, Workspace};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_text::Redactor;

impl Context {
    /// Starts a context over a workspace; everything else has a default that does nothing.
    pub fn builder(workspace: Arc<dyn Workspace>) -> ContextBuilder {
        ContextBuilder {
            cancel: Cancelled::By(CancellationToken::new()),
            confirm: Arc::new(NobodyThere),
            host: Arc::new(Host {
                ids: Ids { session: "default".to_owned(), ..Ids::default() },
                spawn: Spawn::default(),
                cwd: workspace.root().to_owned(),
                workspace,
                tools: Arc::new(Registry::new()),
                policy: Policy::default(),
                services: Services::default(),
                extra: Extra::default(),
                clock: Arc::new(SystemClock::new()),
                events: Arc::new(NoEvents),
                is_silent: false,
                sequence: Arc::default(),
                redactor: Arc::new(Redactor::default()),
                spill: None,
                journal: None,
                known_files: None,
                dialect: Dialect::canonical(),
                provider: None,
                selection: None,
            }),
        }
    }

    /// Starts a context like this one, for a host that gives some of its calls something else: another person to ask,
    /// a listener of their own, a way to be ended one by one. What was begun in this context is not taken along.
    pub fn rebuild(&self) -> ContextBuilder {
        ContextBuilder {
            cancel: Cancelled::With(self.cancel().clone()),
            confirm: self.call.confirm.clone(),
            host: self.host.clone(),
        }
    }
}

impl Context {
    /// A context like this one, with these tools.
    #[must_use]
    pub fn with_tools(&self, tools: Arc<Registry>) -> Context {
        self.rebuild().tools(tools).build()
    }

    /// A context like this one, under this policy.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Context {
        self.rebuild().policy(policy).build()
    }
}

/// Makes a [`Context`].
pub struct ContextBuilder {
    /// Shared with the context that it is rebuilt from, until something in it is replaced.
    host: Arc<Host>,
    confirm: Arc<dyn Confirm>,
    cancel: Cancelled,
}

/// What ends the calls of a context.
enum Cancelled {
    /// This token.
    By(CancellationToken),
    /// One of its own, which fires with this one.
    With(CancellationToken),
}

impl ContextBuilder {
    fn host(&mut self) -> &mut Host {
        Arc::make_mut(&mut self.host)
    }

    /// The tools that the session may call, if its policy lets it; none unless set.
    #[must_use]
    pub fn tools(mut self, tools: Arc<Registry>) -> ContextBuilder {
        self.host().tools = tools;
        self
    }

    /// What the session may do; [`Policy::default`] unless set.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> ContextBuilder {
        self.host().policy = policy;
        self
    }

    /// Who is calling.
    #[must_use]
    pub fn ids(mut self, ids: Ids) -> ContextBuilder {
        self = self.session(ids.session.clone());
        self.host().ids = ids;
        self
    }

    /// The session's id; the other ids stay.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> ContextBuilder {
        let session = session.into();
        let host = self.host();
        if host.ids.session != session {
            host.sequence = Arc::default();
        }
        host.ids.session = session;
        self
    }

    /// Where the activation stands in its tree.
    #[must_use]
    pub fn spawn(mut self, spawn: Spawn) -> ContextBuilder {
        self.host().spawn = spawn;
        self
    }

    /// The folder that the session stands in; otherwise the first root.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<String>) -> ContextBuilder {
        self.host().cwd = cwd.into();
        self
    }

    /// The services there are; none unless set.
    #[must_use]
    pub fn services(mut self, services: Services) -> ContextBuilder {
        self.host().services = services;
        self
    }

    /// A value that tools can ask for by its type.
    #[must_use]
    pub fn extra<T: Send + Sync + 'static>(mut self, value: T) -> ContextBuilder {
        let extra = self.host.extra.with(value);
        self.host().extra = extra;
        self
    }

    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> ContextBuilder {
        self.host().clock = clock;
        self
    }

    /// Who is told what happens, beside those who are told already.
    #[must_use]
    pub fn events(mut self, events: Arc<dyn EventSink>) -> ContextBuilder {
        let host = self.host();
        host.events = match host.events.is_listening() {
            true => Arc::new(Sinks(vec![host.events.clone(), events])),
            false => events,
        };
        self
    }

    /// Lets every event pass through a sink, made from those that are told already, which hands it on to them.
    #[must_use]
    pub fn events_through(
        mut self,
        through: impl FnOnce(Arc<dyn EventSink>) -> Arc<dyn EventSink>,
    ) -> ContextBuilder {
        let host = self.host();
        host.events = through(host.events.clone());
        self
    }

    /// A closure that is told what happens, beside those who are told already. It must not block for long.
    #[must_use]
    pub fn on_event(self, sink: impl Fn(&Event) + Send + Sync + 'static) -> ContextBuilder {
        self.events(Arc::new(Tells(sink)))
    }

    /// Who is asked.
    #[must_use]
    pub fn confirm(mut self, confirm: Arc<dyn Confirm>) -> ContextBuilder {
        self.confirm = confirm;
        self
    }

    /// A closure that answers questions: `|question| async move { Answer::Yes(Scope::Once) }`.
    #[must_use]
    pub fn confirm_with<F, R>(self, ask: F) -> ContextBuilder
    where
        F: Fn(Question) -> R + Send + Sync + 'static,
        R: Future<Output = Answer> + Send + 'static,
    {
        self.confirm(Arc::new(Asks(ask)))
    }

    /// The secrets to take out of everything that leaves.
    #[must_use]
    pub fn redactor(mut self, redactor: Redactor) -> ContextBuilder {
        self.host().redactor = Arc::new(redactor);
        self
    }

    /// Where outputs too long to show are kept.
    #[must_use]
    pub fn spill(mut self, spill: Arc<dyn Spill>) -> ContextBuilder {
        self.host().spill = Some(spill);
        self
    }

    /// Who is handed what a file was before a tool changes it.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> ContextBuilder {
        self.host().journal = Some(journal);
        self
    }

    /// Where it is kept which versions of files a session has seen.
    #[must_use]
    pub fn known_files(mut self, files: Arc<dyn KnownFiles>) -> ContextBuilder {
        self.host().known_files = Some(files);
        self
    }

    /// The dialect in which tools are offered to the session; canonical names unless set.
    #[must_use]
    pub fn dialect(mut self, dialect: Arc<Dialect>) -> ContextBuilder {
        self.host().dialect = dialect;
        self
    }

    /// The provider of the model that the tools are for. Tools that are made for some providers are offered to no others,
    /// and to none where nothing is said here.
    #[must_use]
    pub fn provider(mut self, provider: Option<&str>) -> ContextBuilder {
        self.host().provider = provider.map(Arc::from);
        self
    }

    /// The only tools that the session has, of all there are.
    #[must_use]
    pub fn selection(mut self, selection: Option<Selection>) -> ContextBuilder {
        self.host().selection = selection.map(Arc::new);
        self
    }

    /// The token whose firing cancels every call of this context.
    #[must_use]
    pub fn cancel(mut self, cancel: CancellationToken) -> ContextBuilder {
        self.cancel = Cancelled::By(cancel);
        self
    }

    /// The context.
    pub fn build(self) -> Context {
        let cancel = match self.cancel {
            Cancelled::By(token) => token,
            Cancelled::With(above) => above.child_token(),
        };
        let call = Running {
            id: Arc::default(),
            tool: Arc::default(),
            alias: None,
            parent: None,
            depth: 0,
            workspace: self.host.workspace.clone(),
            confirm: self.confirm,
            guard: None,
            journal: None,
            cancel: Cancel::of(cancel),
            deadline: Deadline::none(),
            budget: OutputBudget::default(),
            granted: Capabilities::NONE,
            is_dry_run: false,
            executor: None,
            span: tracing::Span::none(),
            ended: None,
            held: Held::default(),
            overlay: None,
            planned: None,
        };
        Context { host: self.host, call: Arc::new(call) }
    }
}
