//! What a running call can ask of its client. Before 2026-07-28 that is a request of ours; since then the call ends
//! with what it needs, and is made again with the answers.

mod question;

use crate::client::Client;
use crate::session::{Outlet, Session};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use toolpost_core::host::{BoxFuture, Confirm, Scope};
use toolpost_core::{Answer, Context, Question};
use toolpost_mcp::{RpcError, message};

/// A running call, as its client can be reached from it.
///
/// Tools of an [`Extension`](crate::Extension) find theirs by [`ClientCall::of`].
pub struct ClientCall {
    client: Client,
    session: Arc<Session>,
    outlet: Arc<dyn Outlet>,
    says_yes: bool,
    /// What was answered, in earlier rounds or while the call waits.
    answers: Mutex<Map<String, Value>>,
    is_answered: Notify,
    wanted: Mutex<Map<String, Value>>,
    is_wanting: Notify,
    /// How often each question was asked in this round. Calls of a batch may ask the same, and each is answered for itself.
    asked: Mutex<HashMap<String, usize>>,
    /// Content of another kind than text, data and attachments; only an extension has any.
    content: Mutex<Option<Vec<Value>>>,
    refusal: Mutex<Option<RpcError>>,
}

impl ClientCall {
    pub(crate) fn new(
        client: Client,
        session: Arc<Session>,
        outlet: Arc<dyn Outlet>,
        says_yes: bool,
        answers: Map<String, Value>,
    ) -> ClientCall {
        ClientCall {
            client,
            session,
            outlet,
            says_yes,
            answers: Mutex::new(answers),
            is_answered: Notify::new(),
            wanted: Mutex::default(),
            is_wanting: Notify::new(),
            asked: Mutex::default(),
            content: Mutex::default(),
            refusal: Mutex::default(),
        }
    }

    /// The call that a tool runs for. None if it does not run for a client of a server with an extension.
    pub fn of(ctx: &Context) -> Option<Arc<ClientCall>> {
        ctx.extra().get::<Arc<ClientCall>>().map(|call| Arc::clone(&*call))
    }

    /// Asks the client for all of these at once, each by key, method and parameters, and waits for the answers, in order.
    pub async fn ask_all(&self, requests: &[(&str, &str, Value)]) -> Vec<Option<Value>> {
        if !self.client.is_modern() {
            let mut answers = Vec::new();
            for (_, method, params) in requests {
                let params = params.as_object().cloned().unwrap_or_default();
                let answer = self.session.ask(&*self.outlet, method, &params).await;
                answers.push(answer.and_then(Result::ok));
            }
            return answers;
        }
        loop {
            let answered = self.is_answered.notified();
            tokio::pin!(answered);
            answered.as_mut().enable();
            if self.want(requests) {
                let answers = lock(&self.answers);
                return requests.iter().map(|(key, _, _)| answers.get(*key).cloned()).collect();
            }
            // Only a task goes on here. Any other call is over; whoever made it makes it again, with the answers.
            answered.await;
        }
    }

    /// Notes what is missing. Whether nothing is.
    fn want(&self, requests: &[(&str, &str, Value)]) -> bool {
        let (answers, mut wanted) = (lock(&self.answers), lock(&self.wanted));
        let mut has_all = true;
        for (key, method, params) in requests {
            if !answers.contains_key(*key) {
                has_all = false;
                wanted.insert((*key).to_owned(), json!({"method": method, "params": params}));
            }
        }
        if !has_all {
            self.is_wanting.notify_one();
        }
        has_all
    }

    /// What the call waits for.
    pub(crate) fn wanted(&self) -> Map<String, Value> {
        lock(&self.wanted).clone()
    }

    /// Hands answers to a call that waits.
    pub(crate) fn deliver(&self, more: Map<String, Value>) {
        let (mut answers, mut wanted) = (lock(&self.answers), lock(&self.wanted));
        for (key, answer) in more {
            // What was not asked for is not looked at.
            if wanted.shift_remove(&key).is_some() {
                answers.insert(key, answer);
            }
        }
        drop((answers, wanted));
        self.is_answered.notify_waiters();
    }

    /// Asks the client for one thing.
    pub async fn ask(&self, key: &str, method: &str, params: Value) -> Option<Value> {
        self.ask_all(&[(key, method, params)]).await.into_iter().next().flatten()
    }

    /// Whether this is the key of a question that the policy asks.
    pub(crate) fn is_question(key: &str) -> bool {
        key.starts_with(question::PREFIX)
    }

    /// The key of a question that is asked now.
    fn next_key(&self, question: &Question) -> String {
        let mut asked = lock(&self.asked);
        let count = asked.entry(question::key(question, 0)).or_insert(0);
        *count += 1;
        question::key(question, *count)
    }

    /// Returns when the call cannot go on without the client.
    pub(crate) async fn wants_input(&self) -> Map<String, Value> {
        self.is_wanting.notified().await;
        self.wanted()
    }

    /// What was answered so far.
    pub fn answers(&self) -> Map<String, Value> {
        lock(&self.answers).clone()
    }

    /// Who made the call.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A log message, if the client wants any.
    pub fn log(&self, text: &str) {
        if self.client.wants_log {
            let params = json!({"level": "info", "logger": "toolpost", "data": text});
            self.outlet.send(message::notification("notifications/message", &params));
        }
    }

    /// Puts these blocks in place of the text.
    pub fn put_content(&self, blocks: Vec<Value>) {
        *lock(&self.content) = Some(blocks);
    }

    pub(crate) fn take_content(&self) -> Option<Vec<Value>> {
        lock(&self.content).take()
    }

    /// Answers the call with a protocol error, whatever its tool returns.
    pub fn refuse(&self, error: RpcError) {
        *lock(&self.refusal) = Some(error);
    }

    pub(crate) fn take_refusal(&self) -> Option<RpcError> {
        lock(&self.refusal).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Confirm for ClientCall {
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        if self.says_yes && !question.protected {
            return Box::pin(std::future::ready(Answer::Yes(Scope::Once)));
        }
        if !self.client.can_fill_forms() {
            return Box::pin(std::future::ready(Answer::Nobody));
        }
        Box::pin(async move {
            let key = self.next_key(question);
            let answer = self.ask(&key, "elicitation/create", question::form(question, &self.client)).await;
            answer.map_or(Answer::Nobody, |answer| question::answer(question, &answer))
        })
    }

    fn wants_preview(&self) -> bool {
        self.client.can_fill_forms()
    }
}
