//! What a running call can ask of its client. Before 2026-07-28 that is a request of ours. Since then the request that made
//! the call is answered with what the call needs; the call itself waits, and goes on when the answers are delivered.

mod question;

use crate::client::Client;
use crate::session::{Outlet, Session};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;
use toolpost_core::host::{BoxFuture, Confirm, Scope};
use toolpost_core::{Answer, Context, Question};
use toolpost_mcp::{RpcError, message};

/// A running call, as its client can be reached from it.
///
/// Tools of an [`Extension`](crate::Extension) find theirs by [`ClientCall::of`].
pub struct ClientCall {
    client: Client,
    session: Arc<Session>,
    /// The way to the client of the request that is open now; none between two requests.
    outlet: Mutex<Option<Arc<dyn Outlet>>>,
    says_yes: bool,
    /// How long an answer may take.
    patience: Duration,
    asked: Mutex<Asked>,
    /// Wakes at every change of what is asked or answered, and at the end of the call.
    news: Notify,
    /// Content of another kind than text, data and attachments; only an extension has any.
    content: Mutex<Option<Vec<Value>>>,
    refusal: Mutex<Option<RpcError>>,
}

/// What a call has asked.
#[derive(Default)]
struct Asked {
    /// The answers, by key.
    answers: Map<String, Value>,
    /// What waits for an answer, by key.
    wanted: Map<String, Value>,
    /// Since when it does, or since the last answer.
    since: Option<Instant>,
    /// How often each key was asked for. Calls of a batch may ask the same, and each is answered for itself.
    keys: HashMap<String, usize>,
    /// How many questions of the policy were asked.
    questions: usize,
}

impl ClientCall {
    pub(crate) fn new(
        client: Client,
        session: Arc<Session>,
        outlet: Arc<dyn Outlet>,
        says_yes: bool,
        patience: Duration,
        answers: Map<String, Value>,
    ) -> ClientCall {
        ClientCall {
            client,
            session,
            outlet: Mutex::new(Some(outlet)),
            says_yes,
            patience,
            asked: Mutex::new(Asked { answers, ..Asked::default() }),
            news: Notify::new(),
            content: Mutex::default(),
            refusal: Mutex::default(),
        }
    }

    /// The call that a tool runs for. None if it does not run for a client of a server with an extension.
    pub fn of(ctx: &Context) -> Option<Arc<ClientCall>> {
        ctx.extra().get::<Arc<ClientCall>>().map(|call| Arc::clone(&*call))
    }

    /// Asks the client for all of these at once, each by key, method and parameters, and waits for the answers, in order.
    /// What was asked under the same key before is asked again.
    pub async fn ask_all(&self, requests: &[(&str, &str, Value)]) -> Vec<Option<Value>> {
        if !self.client.is_modern() {
            let asking = requests.iter().map(|(_, method, params)| async {
                let params = params.as_object().cloned().unwrap_or_default();
                let outlet = lock(&self.outlet).clone()?;
                let answer = self.session.ask(&*outlet, method, &params);
                match tokio::time::timeout(self.patience, answer).await {
                    Ok(answer) => answer.and_then(Result::ok),
                    // A form that nobody fills counts as one that was put away.
                    Err(_) => (*method == "elicitation/create").then(|| json!({"action": "cancel"})),
                }
            });
            return futures_util::future::join_all(asking).await;
        }
        let asking = self.put(requests);
        loop {
            let news = self.news();
            tokio::pin!(news);
            news.as_mut().enable();
            if let Some(answers) = asking.answers() {
                return answers;
            }
            news.await;
        }
    }

    /// Notes what is asked, each under a key that nothing else has.
    fn put(&self, requests: &[(&str, &str, Value)]) -> Asking<'_> {
        let mut asked = lock(&self.asked);
        let mut keys = Vec::with_capacity(requests.len());
        for (key, method, params) in requests {
            let key = asked.unused(key);
            if !asked.answers.contains_key(&key) {
                asked.wanted.insert(key.clone(), json!({"method": method, "params": params}));
                asked.since.get_or_insert_with(Instant::now);
            }
            keys.push(key);
        }
        drop(asked);
        self.wake();
        Asking { call: self, keys }
    }

    /// Asks the client for one thing.
    pub async fn ask(&self, key: &str, method: &str, params: Value) -> Option<Value> {
        self.ask_all(&[(key, method, params)]).await.into_iter().next().flatten()
    }

    /// What the call waits for.
    pub(crate) fn wanted(&self) -> Map<String, Value> {
        lock(&self.asked).wanted.clone()
    }

    /// Whether it waits for an answer.
    pub(crate) fn is_waiting(&self) -> bool {
        !lock(&self.asked).wanted.is_empty()
    }

    /// When what it waits for is not waited for any longer.
    pub(crate) fn gives_up_at(&self) -> Option<Instant> {
        let asked = lock(&self.asked);
        let since = asked.since.filter(|_| !asked.wanted.is_empty())?;
        // Beyond all time there is no limit.
        since.checked_add(self.patience)
    }

    /// Since when it waits.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        let asked = lock(&self.asked);
        asked.since.filter(|_| !asked.wanted.is_empty())
    }

    /// Hands answers to a call that waits. What was not asked, or was answered before, is not looked at.
    pub(crate) fn deliver(&self, more: Map<String, Value>) {
        let mut asked = lock(&self.asked);
        for (key, answer) in more {
            if asked.wanted.shift_remove(&key).is_some() {
                asked.answers.insert(key, answer);
                asked.since = Some(Instant::now());
            }
        }
        if asked.wanted.is_empty() {
            asked.since = None;
        }
        drop(asked);
        self.wake();
    }

    /// Whether this is the key of a question that the policy asks.
    pub(crate) fn is_question(key: &str) -> bool {
        key.starts_with(question::PREFIX)
    }

    /// Returns when the call cannot go on without the client.
    pub(crate) async fn wants_input(&self) -> Map<String, Value> {
        loop {
            let news = self.news();
            tokio::pin!(news);
            news.as_mut().enable();
            let wanted = self.wanted();
            if !wanted.is_empty() {
                return wanted;
            }
            news.await;
        }
    }

    /// The next change.
    pub(crate) fn news(&self) -> Notified<'_> {
        self.news.notified()
    }

    /// Something has changed.
    pub(crate) fn wake(&self) {
        self.news.notify_waiters();
    }

    /// The client is reached by another request from now on.
    pub(crate) fn attach(&self, outlet: Arc<dyn Outlet>) {
        *lock(&self.outlet) = Some(outlet);
    }

    /// This request has been answered: nothing can be sent by it any more.
    pub(crate) fn detach(&self, outlet: &Arc<dyn Outlet>) {
        lock(&self.outlet).take_if(|own| Arc::ptr_eq(own, outlet));
    }

    /// What was answered so far.
    pub fn answers(&self) -> Map<String, Value> {
        lock(&self.asked).answers.clone()
    }

    /// Who made the call.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A log message, if the client wants any.
    pub fn log(&self, text: &str) {
        if self.client.wants_log
            && let Some(outlet) = lock(&self.outlet).as_ref()
        {
            let params = json!({"level": "info", "logger": "toolpost", "data": text});
            outlet.send(message::notification("notifications/message", &params));
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

    /// What is asked about a question: its key and its form. The number in the key keeps the questions in order where a
    /// client sorts them.
    fn request(&self, question: &Question) -> (String, Value) {
        let number = {
            let mut asked = lock(&self.asked);
            asked.questions += 1;
            asked.questions
        };
        (question::key(number, question), question::form(question, &self.client))
    }

    /// The answer that needs nobody, if there is one.
    fn known_answer(&self, question: &Question) -> Option<Answer> {
        if self.says_yes && !question.protected {
            return Some(Answer::Yes(Scope::Once));
        }
        (!self.client.can_fill_forms()).then_some(Answer::Nobody)
    }
}

impl Asked {
    /// A key that was not asked for yet.
    fn unused(&mut self, key: &str) -> String {
        loop {
            let count = self.keys.entry(key.to_owned()).or_insert(0);
            *count += 1;
            if *count == 1 {
                return key.to_owned();
            }
            let numbered = format!("{key}-{count}");
            if !self.keys.contains_key(&numbered) {
                self.keys.insert(numbered.clone(), 1);
                return numbered;
            }
        }
    }
}

/// What a part of the call waits for. Dropped, nothing of it is asked any more.
struct Asking<'a> {
    call: &'a ClientCall,
    keys: Vec<String>,
}

impl Asking<'_> {
    /// All answers, once they are there.
    fn answers(&self) -> Option<Vec<Option<Value>>> {
        let asked = lock(&self.call.asked);
        let has_all = self.keys.iter().all(|key| asked.answers.contains_key(key));
        has_all.then(|| self.keys.iter().map(|key| asked.answers.get(key).cloned()).collect())
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut asked = lock(&self.call.asked);
        let mut is_withdrawn = false;
        for key in &self.keys {
            is_withdrawn |= asked.wanted.shift_remove(key).is_some();
        }
        if asked.wanted.is_empty() {
            asked.since = None;
        }
        drop(asked);
        if is_withdrawn {
            self.call.wake();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Confirm for ClientCall {
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            self.confirm_all(std::slice::from_ref(question)).await.pop().unwrap_or(Answer::Nobody)
        })
    }

    fn confirm_all<'a>(&'a self, questions: &'a [Question]) -> BoxFuture<'a, Vec<Answer>> {
        Box::pin(async move {
            let known: Vec<Option<Answer>> = questions.iter().map(|one| self.known_answer(one)).collect();
            let open = questions.iter().zip(&known).filter(|(_, known)| known.is_none());
            let forms: Vec<(String, Value)> = open.map(|(question, _)| self.request(question)).collect();
            let requests: Vec<(&str, &str, Value)> =
                forms.iter().map(|(key, form)| (key.as_str(), "elicitation/create", form.clone())).collect();
            let mut answers = match requests.is_empty() {
                true => Vec::new(),
                false => self.ask_all(&requests).await,
            }
            .into_iter();
            let read = |(question, known): (&Question, Option<Answer>)| {
                known.unwrap_or_else(|| {
                    let answer = answers.next().flatten();
                    answer.map_or(Answer::Nobody, |answer| question::answer(question, &answer))
                })
            };
            questions.iter().zip(known).map(read).collect()
        })
    }

    fn wants_preview(&self) -> bool {
        self.client.can_fill_forms()
    }
}
