//! One server: started when it is needed, once however many need it, and again, with growing pauses, when it has ended.

mod call;
mod resources;
mod start;

use crate::connection::Connection;
use crate::listed::Listing;
use crate::names;
use crate::plugins::Home;
use crate::recalled::About;
use crate::server::Server;
use crate::tool;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolpost_core::registry::{Expected, IsWanted};
use toolpost_core::{Code, ToolError};
use toolpost_mcp::Revision;

/// The first pause; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A server that ran so long has not failed when it ends.
const LASTING: Duration = Duration::from_secs(10);

/// One server.
pub(crate) struct Upstream {
    server: Server,
    /// The first part of its tools' names.
    part: String,
    /// Its place among the others.
    index: usize,
    environment: Vec<(String, String)>,
    root: PathBuf,
    state: Mutex<State>,
    home: Weak<Home>,
    closing: CancellationToken,
    resources: resources::Known,
}

struct State {
    phase: Phase,
    /// How it was spoken to last.
    revision: Option<Revision>,
    /// Starts that failed, or did not last, one after another.
    failures: u32,
}

enum Phase {
    /// Nobody has needed it yet, or it was left.
    Idle,
    /// It is being started; the channel closes when that is over.
    Starting(watch::Receiver<()>),
    Up(Arc<Connection>),
    /// It could not be started; not tried again before then.
    Down {
        error: ToolError,
        until: Instant,
    },
}

impl Upstream {
    pub(crate) fn new(
        server: Server,
        (part, index): (String, usize),
        environment: Vec<(String, String)>,
        root: PathBuf,
        home: Weak<Home>,
    ) -> Upstream {
        let state = Mutex::new(State { phase: Phase::Idle, revision: None, failures: 0 });
        let closing = CancellationToken::new();
        Upstream {
            server,
            part,
            index,
            environment,
            root,
            state,
            home,
            closing,
            resources: Default::default(),
        }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn part(&self) -> &str {
        &self.part
    }

    pub(crate) fn may_have(&self, name: &str) -> bool {
        names::may_be_of(name, &self.server.name, &self.part)
    }

    /// What a tool of this name could turn out to be.
    pub(crate) fn expected(&self, name: &str) -> Vec<Expected> {
        let tool = names::tool_of(name, &self.server.name, &self.part);
        tool.map_or_else(Vec::new, |tool| tool::expected(self, tool))
    }

    /// Whether it is worth starting: it has been, or some tool of it could be wanted.
    pub(crate) fn is_wanted(&self, is_wanted: &IsWanted<'_>) -> bool {
        !matches!(self.lock().phase, Phase::Idle) || tool::expected(self, "*").iter().any(is_wanted)
    }

    /// Why it is not started where no tool of it could be wanted.
    pub(crate) fn unwanted(&self) -> ToolError {
        let Server { name, origin, .. } = &self.server;
        let message = format!(
            "the MCP server `{name}` ({origin}) is not started: the policy would allow none of its tools; \
             `toolpost policy explain 'mcp__{}__*'` says why",
            self.part
        );
        ToolError::new(Code::PermissionDenied, message).with("server", name.as_str())
    }

    /// The connection, made if there is none. A failure is shared by all who waited for the attempt.
    pub(crate) async fn connected(self: &Arc<Upstream>) -> Result<Arc<Connection>, ToolError> {
        let mut has_waited = false;
        loop {
            let mut over = match self.look(has_waited)? {
                Seen::Up(connection) => return Ok(connection),
                Seen::Starting(over) => over,
            };
            has_waited = true;
            // Closed, the attempt is over.
            while over.changed().await.is_ok() {}
        }
    }

    /// What there is now; an attempt is begun where one is due.
    fn look(self: &Arc<Upstream>, has_waited: bool) -> Result<Seen, ToolError> {
        if self.closing.is_cancelled() {
            return Err(self.failed("was shut down"));
        }
        let mut state = self.lock();
        match &state.phase {
            Phase::Starting(over) => match over.has_changed() {
                Ok(_) => return Ok(Seen::Starting(over.clone())),
                // Whoever was starting it has crashed, and would again.
                Err(_) => {
                    state.failures += 1;
                    let until = Instant::now() + pause(state.failures);
                    state.phase =
                        Phase::Down { error: self.failed("could not be started: that crashed"), until };
                }
            },
            Phase::Up(connection) if connection.is_alive() => return Ok(Seen::Up(Arc::clone(connection))),
            Phase::Up(connection) => {
                // A session that a server at an address has let go of is no failure of the server.
                let lasted = connection.since.elapsed() >= LASTING || !self.is_program();
                let why = connection.link.why_gone().unwrap_or_default();
                state.failures = if lasted { 0 } else { state.failures + 1 };
                // The first time it is simply started again.
                if state.failures > 1 {
                    let error = self.failed(&format!("ends again and again; last, {why}"));
                    let until = Instant::now() + pause(state.failures - 1);
                    state.phase = Phase::Down { error, until };
                }
            }
            Phase::Idle | Phase::Down { .. } => {}
        }
        if let Phase::Down { error, until } = &state.phase {
            if has_waited {
                return Err(error.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                let message = format!("{}; it is tried again in {} s", error.message(), left.as_secs() + 1);
                return Err(ToolError::new(error.code(), message));
            }
        }
        let (begun, over) = watch::channel(());
        state.phase = Phase::Starting(over.clone());
        drop(state);
        let upstream = Arc::clone(self);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = upstream.closing.cancelled() => {}
                started = upstream.start() => upstream.settle(started),
            }
            drop(begun);
        });
        Ok(Seen::Starting(over))
    }

    fn settle(self: &Arc<Upstream>, started: Result<(Arc<Connection>, Listing), ToolError>) {
        let result = started.and_then(|(connection, listing)| {
            self.publish(&connection, listing)?;
            Ok(connection)
        });
        let mut state = self.lock();
        // Whoever leaves takes the lock after this, or has been heard here.
        if self.closing.is_cancelled() {
            state.phase = Phase::Idle;
            return;
        }
        state.phase = match result {
            Ok(connection) => {
                state.revision = Some(connection.revision);
                self.follow(&connection);
                Phase::Up(connection)
            }
            Err(error) => {
                state.failures += 1;
                Phase::Down { error, until: Instant::now() + pause(state.failures) }
            }
        };
    }

    /// Makes the server's tools those of the registry.
    pub(crate) fn publish(
        self: &Arc<Upstream>,
        connection: &Connection,
        listing: Listing,
    ) -> Result<(), ToolError> {
        match self.home.upgrade() {
            Some(home) => {
                let Connection { version, instructions, .. } = connection;
                let about = About { version: version.clone(), instructions: instructions.clone() };
                home.keep(&self.server, self.index, &listing.tools, &about);
                home.publish(self, self.index, listing, &connection.version)
            }
            None => Err(self.failed("is not needed any more")),
        }
    }

    /// Why a server that had started is not there any more.
    pub(crate) fn why_lost(&self) -> Option<String> {
        match &self.lock().phase {
            Phase::Up(connection) => {
                let why = connection.link.why_gone()?;
                Some(connection.link.explained(&why))
            }
            Phase::Idle | Phase::Starting(_) | Phase::Down { .. } => None,
        }
    }

    /// Leaves the server for good. Whether it had started.
    pub(crate) fn leave(&self) -> bool {
        self.closing.cancel();
        let mut state = self.lock();
        match std::mem::replace(&mut state.phase, Phase::Idle) {
            Phase::Up(connection) => {
                connection.link.close("it was shut down");
                true
            }
            Phase::Idle | Phase::Starting(_) | Phase::Down { .. } => false,
        }
    }

    fn failed(&self, why: &str) -> ToolError {
        let Server { name, origin, .. } = &self.server;
        let origin = if origin.is_empty() { String::new() } else { format!(" ({origin})") };
        ToolError::new(Code::InitFailed, format!("the MCP server `{name}`{origin} {why}"))
            .with("server", name.as_str())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Seen {
    Up(Arc<Connection>),
    Starting(watch::Receiver<()>),
}

fn pause(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(6)).min(LONGEST_PAUSE)
}
