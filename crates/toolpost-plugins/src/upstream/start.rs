//! The start of a server: the program or the address, the greeting, the first list; and the lists after it.

use super::Upstream;
use crate::connection::{Connection, Link};
use crate::fault::Fault;
use crate::handshake;
use crate::http::Http;
use crate::identity::with_meta;
use crate::listed::{self, Listing};
use crate::pipe::Pipe;
use crate::server::Reach;
use serde_json::{Map, json};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use toolpost_core::ToolError;
use toolpost_core::host::blocking;
use toolpost_mcp::Revision;
use toolpost_process::Command;

/// Several changes in so short a time are looked at once.
const CALM: Duration = Duration::from_millis(100);

/// Between two looks at a list that keeps changing.
const PAUSE: Duration = Duration::from_secs(1);

/// Before a server is asked again to tell of changes.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);

impl Upstream {
    /// Starts the server, within its time.
    pub(super) async fn start(self: &Arc<Upstream>) -> Result<(Arc<Connection>, Listing), ToolError> {
        let known = self.lock().revision;
        match self.attempt(known).await {
            // A server of old may end at a word that it does not know.
            Err((Fault::Gone(_), Stage::Greeting)) if known.is_none() && self.is_program() => {
                self.attempt(Some(Revision::LEGACY)).await
            }
            done => done,
        }
        .map_err(|(fault, _)| self.failed(&format!("did not start: {fault}")))
    }

    pub(super) fn is_program(&self) -> bool {
        matches!(self.server.reach, Reach::Stdio { .. })
    }

    async fn attempt(
        self: &Arc<Upstream>,
        known: Option<Revision>,
    ) -> Result<(Arc<Connection>, Listing), (Fault, Stage)> {
        self.checked().await.map_err(|why| (Fault::Gone(why), Stage::Program))?;
        let changed = Arc::new(Notify::new());
        let link = self.link(&changed).map_err(|why| (Fault::Gone(why), Stage::Program))?;
        let mut leaving = Leaving(Some(link.clone()));
        let limit = self.server.start_limit();
        let greeting = async {
            let connection = handshake::greet(link.clone(), known, limit, &changed)
                .await
                .map_err(|fault| (fault, Stage::Greeting))?;
            let listing =
                listed::fetch(&connection, &self.server).await.map_err(|fault| (fault, Stage::List))?;
            Ok((Arc::new(connection), listing))
        };
        let started = tokio::time::timeout(limit, greeting).await.unwrap_or_else(|_| {
            let seconds = limit.as_secs_f64();
            Err((Fault::Gone(format!("it was not ready after {seconds} s")), Stage::Time))
        });
        match started {
            Ok((connection, listing)) => {
                leaving.0 = None;
                self.watch(&connection, changed);
                Ok((connection, listing))
            }
            Err((fault, stage)) => {
                let explained = link.explained(&fault.to_string());
                Err((Fault::Gone(explained), stage))
            }
        }
    }

    /// Whether the program may be started now: its files may have changed since it was configured.
    async fn checked(&self) -> Result<(), String> {
        if self.server.check.is_empty() {
            return Ok(());
        }
        let check = self.server.check.clone();
        blocking(move || check.run())
            .await
            .unwrap_or_else(|_| Err("its files could not be checked".to_owned()))
    }

    fn link(&self, changed: &Arc<Notify>) -> Result<Link, String> {
        match &self.server.reach {
            Reach::Stdio { command, args, env, cwd } => {
                let folder = cwd.as_ref().map_or_else(|| self.root.clone(), |cwd| self.root.join(cwd));
                let mut child = Command::new(command, folder).args(args);
                for (name, value) in self.environment.iter().map(|(name, value)| (name, value)).chain(env) {
                    child = child.variable(name, value);
                }
                Pipe::start(child, Arc::clone(changed)).map(Link::Pipe)
            }
            Reach::Http { url, headers } => Http::new(url, headers, Arc::clone(changed)).map(Link::Http),
        }
    }

    /// Looks at the list again whenever the server says that it has changed.
    fn watch(self: &Arc<Upstream>, connection: &Arc<Connection>, changed: Arc<Notify>) {
        let (upstream, connection) = (Arc::downgrade(self), Arc::downgrade(connection));
        tokio::spawn(async move {
            loop {
                changed.notified().await;
                tokio::time::sleep(CALM).await;
                let (Some(upstream), Some(connection)) =
                    (Weak::upgrade(&upstream), Weak::upgrade(&connection))
                else {
                    return;
                };
                let limit = upstream.server.start_limit();
                let fetched = tokio::time::timeout(limit, listed::fetch(&connection, &upstream.server)).await;
                // A list that does not come leaves the old one: a call says what is wrong.
                if let Ok(Ok(listing)) = fetched {
                    let _ = upstream.publish(&connection, listing);
                }
                drop((upstream, connection));
                tokio::time::sleep(PAUSE).await;
            }
        });
    }

    /// Asks the server to tell of changes. One of old on a pipe does so unasked; one at an address has a stream for that,
    /// and for questions.
    pub(super) fn follow(self: &Arc<Upstream>, connection: &Arc<Connection>) {
        let link = connection.link.clone();
        let is_modern = connection.revision.is_modern();
        if is_modern && !connection.tells_changes || !is_modern && self.is_program() {
            return;
        }
        tokio::spawn(async move {
            while link.why_gone().is_none() {
                let ended = match &link {
                    Link::Http(http) if !is_modern => http.listen().await,
                    link => {
                        let params = [("notifications".to_owned(), json!({"toolsListChanged": true}))];
                        let params = with_meta(Revision::MODERN, Map::from_iter(params));
                        link.request("subscriptions/listen", params, None).await.map(drop)
                    }
                };
                // Who refuses to tell is not asked again; a line that was cut is tried again.
                if matches!(ended, Err(Fault::Refused(_) | Fault::Status { .. })) {
                    return;
                }
                tokio::time::sleep(LISTEN_AGAIN).await;
            }
        });
    }
}

/// How far a start came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Program,
    Greeting,
    List,
    Time,
}

/// Leaves a server that did not start, or that nobody waits for any more.
struct Leaving(Option<Link>);

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(link) = &self.0 {
            link.close("it did not start");
        }
    }
}
