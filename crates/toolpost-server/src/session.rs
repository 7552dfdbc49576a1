//! One client's stay: what it is, what runs for it, and what it was asked and has not answered yet.

use crate::client::Client;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;
use toolpost_core::Context;
use toolpost_mcp::{RpcError, message};

/// So many calls of one client run at a time; more are told to wait.
const MOST_RUNNING: usize = 1_000;

/// With so many, no more are taken in for a moment. Not for longer: they may wait for an answer of the client.
const MANY_RUNNING: usize = 500;

/// That moment.
const MOMENT: Duration = Duration::from_secs(1);

/// Where messages to the client go. Implemented by each transport; called from any thread, and never waits.
pub(crate) trait Outlet: Send + Sync {
    /// Sends one message.
    fn send(&self, message: String);
}

/// A connection on standard input, a legacy session over HTTP, or all modern requests with one credential.
pub(crate) struct Session {
    /// What its calls run in.
    pub(crate) context: Context,
    /// Ends all that runs for it.
    pub(crate) cancel: CancellationToken,
    /// Fires when the client has nothing more to say: what only waits for it ends.
    pub(crate) closing: CancellationToken,
    /// Who it is, once it has shaken hands.
    pub(crate) client: OnceLock<Client>,
    /// Whether the client has said that it is ready for notifications.
    pub(crate) is_ready: OnceLock<()>,
    /// Changes when a virtual file of the session comes or goes, once that is followed.
    pub(crate) files_changed: watch::Sender<u64>,
    pub(crate) is_followed: AtomicBool,
    /// The tools that the client has been told of.
    listed: Mutex<BTreeSet<String>>,
    running: Mutex<HashMap<Value, CancellationToken>>,
    has_ended: Notify,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, RpcError>>>>,
    next: AtomicU64,
}

/// A request that runs. Dropped, it does not any more.
pub(crate) struct Running {
    session: Arc<Session>,
    id: Value,
    /// Fires when the client has withdrawn it, or the session ends.
    pub(crate) cancel: CancellationToken,
}

impl Running {
    /// Whether nobody wants the answer any more; at the end of a session answers are still given.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.cancel.is_cancelled() && !self.session.cancel.is_cancelled()
    }
}

impl Session {
    pub(crate) fn new(context: &Context, id: &str) -> Session {
        let cancel = context.cancel().child_token();
        let context = context.rebuild().session(id).cancel(cancel.clone()).build();
        Session {
            context,
            closing: cancel.child_token(),
            cancel,
            client: OnceLock::new(),
            is_ready: OnceLock::new(),
            files_changed: watch::Sender::new(0),
            is_followed: AtomicBool::new(false),
            listed: Mutex::default(),
            running: Mutex::default(),
            has_ended: Notify::new(),
            waiting: Mutex::default(),
            next: AtomicU64::new(1),
        }
    }

    /// Notes that a request runs, until what it returns is dropped. An error if one of this id runs already, or too many.
    pub(crate) fn start(self: &Arc<Session>, id: &Value) -> Result<Running, RpcError> {
        let mut running = lock(&self.running);
        if running.len() >= MOST_RUNNING {
            let error = RpcError::internal("too many requests are running; wait for an answer");
            return Err(error.with_status(503));
        }
        if running.contains_key(id) {
            let why = "a request of this id is still running; give each its own";
            return Err(RpcError::invalid_request(why));
        }
        let cancel = self.cancel.child_token();
        running.insert(id.clone(), cancel.clone());
        Ok(Running { session: Arc::clone(self), id: id.clone(), cancel })
    }

    /// The canonical names of the tools that the client was told of in the last list.
    pub(crate) fn listed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        lock(&self.listed)
    }

    /// The client does not want the answer to this request any more.
    pub(crate) fn withdraw(&self, id: &Value) {
        if let Some(cancel) = lock(&self.running).get(id) {
            cancel.cancel();
        }
    }

    /// The client has nothing more to say: nothing that it was asked will be answered.
    pub(crate) fn close(&self) {
        self.closing.cancel();
        lock(&self.waiting).clear();
    }

    /// Waits a moment while many requests run.
    pub(crate) async fn has_room(&self) {
        let room = async {
            loop {
                let ended = self.has_ended.notified();
                tokio::pin!(ended);
                ended.as_mut().enable();
                if lock(&self.running).len() < MANY_RUNNING {
                    return;
                }
                ended.await;
            }
        };
        let _ = tokio::time::timeout(MOMENT, room).await;
    }

    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.running).is_empty()
    }

    /// Asks the client something, and waits for its answer. Given up, the answer goes nowhere.
    pub(crate) async fn ask(
        &self,
        outlet: &dyn Outlet,
        method: &str,
        params: &Map<String, Value>,
    ) -> Option<Result<Value, RpcError>> {
        let (id, receiver) = self.wait()?;
        let _forgotten = Forget { session: self, id };
        outlet.send(message::request(id, method, params));
        receiver.await.ok()
    }

    /// A number for a question, and where its answer will come; none if no answer can.
    fn wait(&self) -> Option<(u64, oneshot::Receiver<Result<Value, RpcError>>)> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        if self.closing.is_cancelled() {
            return None;
        }
        waiting.insert(id, sender);
        Some((id, receiver))
    }

    /// The client has answered.
    pub(crate) fn answered(&self, id: Option<u64>, result: Result<Value, RpcError>) {
        let waiting = id.and_then(|id| lock(&self.waiting).remove(&id));
        // An answer that nobody waits for is late, or to a question that was never asked: it says nothing.
        if let Some(sender) = waiting {
            let _ = sender.send(result);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.session.running).remove(&self.id);
        self.session.has_ended.notify_waiters();
    }
}

struct Forget<'a> {
    session: &'a Session,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        lock(&self.session.waiting).remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
