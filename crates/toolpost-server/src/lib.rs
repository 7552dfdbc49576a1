//! The ways into toolpost over a wire. Today that is the Model Context Protocol: on standard input and output, and over
//! HTTP, to clients that shake hands and to those of 2026-07-28 whose every request stands for itself.
//!
//! Nothing here runs a tool by itself, or decides what may run: every call goes through the one executor.

mod client;
mod client_call;
mod dispatch;
mod extension;
mod http;
mod list;
mod listen;
mod output;
mod pending;
mod progress;
mod prompt;
mod report;
mod resource;
mod seal;
mod session;
mod stdio;
mod structured;
mod task;
mod tool;
mod virtual_file;

pub use client::Client;
pub use client_call::ClientCall;
pub use extension::{Extension, TaskStart};
pub use seal::StateKey;

use pending::PendingCalls;
use seal::Seal;
use session::Session;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::OnceCell;
use toolpost_core::registry::ToolSource;
use toolpost_core::{Context, Executor, ToolError};
use toolpost_http::{Admission, Listener, Routes};

/// A text that may change while servers of other tools start.
pub type Text = Arc<dyn Fn() -> String + Send + Sync>;

/// What a host says about its server.
#[derive(Clone)]
pub struct Options {
    /// The version that clients are told.
    pub version: String,
    /// What a model should know before its first call. Asked for when a client says hello.
    pub instructions: Text,
    /// How many tools make a page of the list.
    pub page_size: usize,
    /// Whether questions are answered with yes, except those about protected files.
    pub says_yes: bool,
    /// How long a call may run; otherwise each tool's own time.
    pub timeout: Option<Duration>,
    /// Whether results carry data for programs beside the text, and tools output schemas.
    pub structured: bool,
    /// The session of every client; otherwise each has its own.
    pub session: Option<String>,
    /// How long the first list of tools waits for servers that are starting. No greeting waits for them.
    pub list_wait: Duration,
    /// How long a call waits for an answer of its client. After that it is cancelled.
    pub answer_wait: Duration,
    /// What the state of calls that wait is sealed with. With a secret that outlives the process, a server that is started
    /// later can say what such a call has done.
    pub state_key: StateKey,
}

/// A server of the tools of one executor.
pub struct Server {
    executor: Executor,
    context: Context,
    options: Options,
    seal: Seal,
    pending: PendingCalls,
    extension: Option<Arc<dyn Extension>>,
    /// Filled when the first list of tools has waited for the servers of other tools.
    servers_awaited: OnceCell<()>,
    has_started_servers: AtomicBool,
}

/// Servers of other tools are started so long after the first answer: they compete for processors with what writes it.
const AFTER_ANSWER: Duration = Duration::from_millis(2);

impl Server {
    /// A server; it listens to nobody yet. All its calls end when the context is cancelled.
    pub fn new(executor: Executor, context: Context, options: Options) -> Arc<Server> {
        Server::of(executor, context, options, None)
    }

    /// A server that offers what an extension adds, beginning with its tools.
    pub fn extended(
        executor: Executor,
        context: Context,
        options: Options,
        extension: Arc<dyn Extension>,
    ) -> Result<Arc<Server>, ToolError> {
        extension.register(context.tools())?;
        Ok(Server::of(executor, context, options, Some(extension)))
    }

    fn of(
        executor: Executor,
        context: Context,
        options: Options,
        extension: Option<Arc<dyn Extension>>,
    ) -> Arc<Server> {
        let (seal, pending) = (Seal::new(Arc::clone(&options.state_key)), PendingCalls::default());
        let servers_awaited = OnceCell::new();
        let has_started_servers = AtomicBool::new(false);
        Arc::new(Server {
            executor,
            context,
            options,
            seal,
            pending,
            extension,
            servers_awaited,
            has_started_servers,
        })
    }

    /// Whether something is not known yet of servers that are starting.
    fn lacks_servers(&self) -> bool {
        let is_known = |source: &Arc<dyn ToolSource>| source.has_lists();
        !self.options.list_wait.is_zero() && !self.context.tools().sources().iter().all(is_known)
    }

    /// Starts the servers of other tools, once and in the background. Called when the first client has its first answer.
    fn start_servers(&self) {
        if self.has_started_servers.swap(true, Ordering::Relaxed) || self.context.tools().sources().is_empty()
        {
            return;
        }
        let (executor, context) = (self.executor.clone(), self.context.clone());
        tokio::spawn(async move {
            tokio::time::sleep(AFTER_ANSWER).await;
            executor.all_ready(&context).await;
        });
    }

    /// Waits for the servers that are starting, so that the first list has their tools: many clients ask once. One that
    /// takes longer than that comes with a change of the list.
    async fn await_servers(&self, context: &Context) {
        if !self.lacks_servers() {
            return;
        }
        let wait = || async {
            let all = self.executor.all_ready(context);
            let _ = tokio::time::timeout(self.options.list_wait, all).await;
        };
        self.servers_awaited.get_or_init(wait).await;
    }

    /// Serves the client at standard input and output, until it leaves or the context is cancelled.
    pub async fn serve_stdio(self: &Arc<Server>) {
        stdio::serve(self).await;
    }

    /// Serves clients over HTTP at `/mcp`, and what else there is by its routes, until the context is cancelled.
    pub async fn serve_http(self: &Arc<Server>, listener: Listener, admission: Admission, others: Routes) {
        http::serve(self, listener, admission, others).await;
    }

    /// A new session, or the one that the host has named.
    fn session(&self) -> Arc<Session> {
        let id = self
            .options
            .session
            .clone()
            .unwrap_or_else(|| format!("mcp-{}", toolpost_core::text::hex(&seal::random::<16>())));
        Arc::new(Session::new(&self.context, &id))
    }
}
