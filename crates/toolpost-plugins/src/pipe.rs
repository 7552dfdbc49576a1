//! A server as a child process: one message a line on its standard input and output.
//!
//! The child is not confined (see docs/decisions/upstream-servers.md), but it is kept: it ends with this connection,
//! with all that it started, and when this process dies.

mod child;

use crate::complaint::Complaint;
use crate::fault::{self, BLOATED, Fault};
use crate::running::{self, Running};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolpost_mcp::message::{self, OVERHEAD};
use toolpost_mcp::{Message, Request, RpcError, meta};
use toolpost_process::Command;

/// So many messages wait to be written to a server that does not read.
const MOST_UNWRITTEN: usize = 64;

/// A server that sends so much without answering anything is ended.
const MOST_UNWANTED: usize = 64 << 20;

/// The connection to a child.
pub(crate) struct Pipe {
    out: mpsc::Sender<String>,
    waiting: Mutex<HashMap<u64, Waiting>>,
    next: AtomicU64,
    gone: Mutex<Option<String>>,
    /// Bytes that came and answered nothing, since the last answer.
    unwanted: Mutex<usize>,
    complaint: Complaint,
    closing: CancellationToken,
    changed: Arc<Notify>,
}

struct Waiting {
    answer: oneshot::Sender<Result<Value, RpcError>>,
    running: Option<Arc<Running>>,
}

impl Pipe {
    /// Starts the program. Whether it runs at all is known from what becomes of the first request.
    pub(crate) fn start(command: Command, changed: Arc<Notify>) -> Result<Arc<Pipe>, String> {
        let (out, messages) = mpsc::channel(MOST_UNWRITTEN);
        let pipe = Arc::new(Pipe {
            out,
            waiting: Mutex::default(),
            next: AtomicU64::new(1),
            gone: Mutex::default(),
            unwanted: Mutex::default(),
            complaint: Complaint::default(),
            closing: CancellationToken::new(),
            changed,
        });
        child::keep(command, messages, Arc::clone(&pipe))?;
        Ok(pipe)
    }

    /// Sends a request and waits for its answer. Given up, the server is told so.
    pub(crate) async fn request(
        self: &Arc<Pipe>,
        method: &str,
        mut params: Map<String, Value>,
        running: Option<Arc<Running>>,
    ) -> Result<Value, Fault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if running.is_some() {
            meta::add_progress_token(&mut params, id);
        }
        let (answer, receiver) = oneshot::channel();
        lock(&self.waiting).insert(id, Waiting { answer, running });
        let mut given_up = GivenUp { pipe: self, id, is_answered: false, method };
        if let Some(why) = self.why_gone() {
            given_up.is_answered = true;
            return Err(Fault::Gone(why));
        }
        let sent = self.out.send(message::request(id, method, &params)).await;
        let answer = match sent {
            Ok(()) => receiver.await.ok(),
            Err(_) => None,
        };
        given_up.is_answered = true;
        match answer {
            Some(answer) => answer.map_err(Fault::Refused),
            None => {
                Err(Fault::Gone(self.why_gone().unwrap_or_else(|| "it does not listen any more".to_owned())))
            }
        }
    }

    /// Tells the server something, if it has room for it.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        let _ = self.out.try_send(message::notification(method, params));
    }

    /// Why the server cannot be spoken to any more.
    pub(crate) fn why_gone(&self) -> Option<String> {
        lock(&self.gone).clone()
    }

    pub(crate) fn complaint(&self) -> &Complaint {
        &self.complaint
    }

    /// Ends the server, for this reason.
    pub(crate) fn close(&self, why: &str) {
        self.lose(why);
        self.closing.cancel();
    }

    /// The server is gone: nothing that waits will be answered.
    fn lose(&self, why: &str) {
        lock(&self.gone).get_or_insert_with(|| why.to_owned());
        lock(&self.waiting).clear();
    }

    /// Takes one line of the server's output, or says why it is the last.
    fn take(self: &Arc<Pipe>, line: &[u8]) -> Result<(), &'static str> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        if message::is_bloated(line) {
            return Err(BLOATED);
        }
        let mut is_wanted = false;
        match Message::parse_lenient(line) {
            Some(messages) => {
                for message in messages {
                    is_wanted |= self.hear(message);
                }
            }
            None => self.complaint.odd(line),
        }
        let mut unwanted = lock(&self.unwanted);
        *unwanted = if is_wanted { 0 } else { *unwanted + line.len() + OVERHEAD };
        match *unwanted <= MOST_UNWANTED {
            true => Ok(()),
            false => Err("it floods its output with what answers nothing"),
        }
    }

    /// Whether the message is an answer that somebody waits for. One that comes twice, or to a request that was never
    /// made, is nobody's.
    fn hear(self: &Arc<Pipe>, message: Message) -> bool {
        match message {
            Message::Answer { id, result } => {
                let waiting = id.and_then(|id| lock(&self.waiting).remove(&id));
                return waiting.is_some_and(|waiting| waiting.answer.send(result).is_ok());
            }
            Message::Notification { method, params } => match method.as_str() {
                "notifications/progress" => {
                    let running = meta::progress_token(&params)
                        .and_then(|id| lock(&self.waiting).get(&id)?.running.clone());
                    if let Some(running) = running {
                        running.progress(&params);
                    }
                }
                "notifications/tools/list_changed" => self.changed.notify_one(),
                _ => {}
            },
            Message::Request(Request { id, method, params }) => self.answer(id, &method, params),
        }
        false
    }

    fn answer(self: &Arc<Pipe>, id: Value, method: &str, params: Map<String, Value>) {
        let result = match method {
            "ping" => Ok(json!({})),
            "elicitation/create" => {
                // Nothing in the request says which call it is for.
                let all =
                    lock(&self.waiting).values().filter_map(|waiting| waiting.running.clone()).collect();
                let pipe = Arc::clone(self);
                tokio::spawn(async move {
                    let result = running::asked_by_any(all, &params).await;
                    // A server that waits for this must get it, also where it reads slowly.
                    let _ = pipe.out.send(message::answer(&id, &Ok(result))).await;
                });
                return;
            }
            _ => Err(fault::unsupported(method)),
        };
        let _ = self.out.try_send(message::answer(&id, &result));
    }
}

/// Tells the server that nobody waits for an answer any more.
struct GivenUp<'a> {
    pipe: &'a Arc<Pipe>,
    id: u64,
    is_answered: bool,
    method: &'a str,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        lock(&self.pipe.waiting).remove(&self.id);
        // The protocol forbids to withdraw the handshake.
        if !self.is_answered && self.method != "initialize" {
            self.pipe.notify("notifications/cancelled", &json!({"requestId": self.id, "reason": "given up"}));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
