//! Calls of clients without a handshake that outlast the request they came with: those that wait for an answer, and those
//! that have become tasks. A call runs once; later requests find it here by the state that its client sends back.
//!
//! How many there are, how long one waits and how much is kept of those that have ended is bounded. A call that had to be
//! given up is never run again: the answer to it says what was done.

use crate::Server;
use crate::client::Client;
use crate::client_call::ClientCall;
use crate::dispatch::Exchange;
use crate::progress::Progress;
use crate::report::{self, Loss};
use crate::seal::random;
use crate::session::{Outlet, Session};
use crate::task;
use futures_util::FutureExt;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolpost_core::text::hex;
use toolpost_mcp::RpcError;

/// How long a call that has ended is remembered, so that an answer that is sent again gets the same result.
pub(crate) const LIFE: Duration = Duration::from_secs(3600);

/// Maximum number of calls that have not ended.
const MOST: usize = 1_000;

/// Maximum number of bytes of their arguments.
const MOST_BYTES: usize = 256 << 20;

/// Maximum number of calls that have ended and are remembered.
const MOST_ENDED: usize = 10_000;

/// Maximum number of bytes of their results.
const MOST_RESULTS: usize = 32 << 20;

/// How long a call goes on whose client hung up, so that it is found by a client that lost its connection.
const RETURN: Duration = Duration::from_secs(5);

/// The rest of a call.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Value, RpcError>> + Send>>;

/// What a call is of: answers to it must come with the same.
pub(crate) struct Subject {
    pub(crate) method: &'static str,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

impl Subject {
    /// What tells it from others, and the bytes that it has. The order of fields says nothing.
    fn fingerprint(&self) -> (String, usize) {
        let mut text = json!([self.method, self.name]).to_string();
        sorted(&self.arguments, &mut text);
        (hex(&Sha256::digest(&text)[..16]), text.len())
    }
}

/// A JSON text with its fields in the order of their names.
fn sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in fields {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                sorted(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                sorted(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// A call that has begun and may have to be kept.
pub(crate) struct Begun {
    /// The call's id, which is also in the log.
    pub(crate) id: Arc<str>,
    pub(crate) subject: Subject,
    pub(crate) client_call: Arc<ClientCall>,
    pub(crate) progress: Option<Arc<Progress>>,
    /// Ends it.
    pub(crate) cancel: CancellationToken,
    pub(crate) work: Work,
}

impl Begun {
    /// Runs until the call has ended or its request must be answered before. `limit` is the time after which it becomes a
    /// task.
    pub(crate) async fn run(
        mut self,
        server: &Server,
        exchange: &Exchange,
        limit: Option<Duration>,
    ) -> Result<Value, RpcError> {
        let becomes_task_now = limit.is_some_and(|limit| limit.is_zero());
        let late = tokio::time::sleep(limit.unwrap_or_default());
        let next = tokio::select! {
            biased;
            result = &mut self.work => return result,
            () = exchange.cancel.cancelled() => {
                self.cancel.cancel();
                // No client hears of it, but what it has started must have ended.
                let _ = self.work.await;
                return Ok(json!({}));
            }
            wanted = self.client_call.wants_input(), if !becomes_task_now => Next::Wants(wanted),
            () = late, if limit.is_some() => Next::Late,
        };
        if let Some(progress) = &self.progress {
            progress.end();
        }
        self.client_call.detach(&exchange.outlet);
        let pending = server.pending.keep(&exchange.session, self);
        let next = if pending.is_given_up() { pending.next(false).await } else { next };
        pending.told(server, next).await
    }
}

/// What the request of a call is answered with.
enum Next {
    Ended(End),
    Wants(Map<String, Value>),
    /// It takes longer than its request may.
    Late,
}

/// How a call has ended.
#[derive(Clone)]
pub(crate) enum End {
    Result(Result<Value, RpcError>),
    /// It was given up, or its result is not kept any more, for this reason.
    Lost(&'static str),
}

/// A call that is kept.
pub(crate) struct PendingCall {
    pub(crate) id: Arc<str>,
    pub(crate) name: String,
    session: String,
    subject: String,
    size: usize,
    pub(crate) client_call: Arc<ClientCall>,
    progress: Option<Arc<Progress>>,
    cancel: CancellationToken,
    pub(crate) began: SystemTime,
    state: Mutex<State>,
}

struct State {
    /// Requests that wait for what it says next.
    followers: usize,
    is_task: bool,
    is_cancelled: bool,
    lost: Option<&'static str>,
    end: Option<End>,
    ended: Option<Instant>,
    result_size: usize,
    changed: SystemTime,
}

/// All calls that are kept, by their ids.
#[derive(Default)]
pub(crate) struct PendingCalls {
    all: Mutex<HashMap<Arc<str>, Arc<PendingCall>>>,
    running: TaskTracker,
}

impl PendingCalls {
    /// Keeps a call, which goes on in a task of its own.
    fn keep(&self, session: &Arc<Session>, begun: Begun) -> Arc<PendingCall> {
        let Begun { id, subject, client_call, progress, cancel, work } = begun;
        let (fingerprint, size) = subject.fingerprint();
        let now = SystemTime::now();
        let state = State {
            followers: 0,
            is_task: false,
            is_cancelled: false,
            lost: None,
            end: None,
            ended: None,
            result_size: 0,
            changed: now,
        };
        let pending = Arc::new(PendingCall {
            id: Arc::clone(&id),
            name: subject.name,
            session: session.context.session().to_owned(),
            subject: fingerprint,
            size,
            client_call,
            progress,
            cancel,
            began: now,
            state: Mutex::new(state),
        });
        {
            let mut all = lock(&self.all);
            make_room(&mut all, &pending);
            all.insert(id, Arc::clone(&pending));
        }
        let kept = Arc::clone(&pending);
        let closing = session.closing.clone();
        self.running.spawn(async move {
            let mut work = AssertUnwindSafe(work).catch_unwind();
            let result = loop {
                tokio::select! {
                    biased;
                    result = &mut work => break result,
                    why = kept.overdue(&closing) => kept.give_up(why),
                }
            };
            let crashed = |_| Err(RpcError::internal("the call crashed"));
            kept.finish(result.unwrap_or_else(crashed));
        });
        pending
    }

    /// A call of this session.
    pub(crate) fn find(&self, id: &str, session: &Session) -> Option<Arc<PendingCall>> {
        let found = lock(&self.all).get(id).cloned();
        found.filter(|found| found.session == session.context.session())
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Waits until none runs any more.
    pub(crate) async fn all_ended(&self) {
        self.running.close();
        self.running.wait().await;
    }
}

/// Forgets what was remembered long enough. Where too many calls have not ended, gives up the one that has waited longest
/// for its answer; where none waits, the new one.
fn make_room(all: &mut HashMap<Arc<str>, Arc<PendingCall>>, new: &Arc<PendingCall>) {
    all.retain(|_, call| call.ended_at().is_none_or(|ended| ended.elapsed() <= LIFE));
    let mut ended: Vec<(Instant, usize, Arc<PendingCall>)> = Vec::new();
    let mut open: Vec<&Arc<PendingCall>> = Vec::new();
    for call in all.values() {
        let state = lock(&call.state);
        match state.ended {
            Some(at) => ended.push((at, state.result_size, Arc::clone(call))),
            None if state.lost.is_none() => open.push(call),
            None => {}
        }
    }
    let mut bytes: usize = new.size + open.iter().map(|call| call.size).sum::<usize>();
    let mut count = open.len() + 1;
    open.sort_by_key(|call| call.client_call.waits_since());
    let mut waiting = open.into_iter().filter(|call| call.client_call.is_waiting());
    while count > MOST || bytes > MOST_BYTES {
        let Some(oldest) = waiting.next() else {
            new.give_up("too many calls were running or waiting for answers");
            break;
        };
        oldest.give_up("too many calls were waiting for answers, and it had waited longest");
        count -= 1;
        bytes -= oldest.size;
    }
    ended.sort_by_key(|(at, _, _)| *at);
    let mut results: usize = ended.iter().map(|(_, size, _)| size).sum();
    let surplus = ended.len().saturating_sub(MOST_ENDED);
    for (index, (_, size, call)) in ended.into_iter().enumerate() {
        if index < surplus {
            all.remove(&call.id);
        } else if results <= MOST_RESULTS {
            break;
        } else {
            call.forget_result();
        }
        results -= size;
    }
}

impl PendingCall {
    /// Whether it is the call that was made with this.
    fn is_of(&self, subject: &Subject) -> bool {
        self.subject == subject.fingerprint().0
    }

    pub(crate) fn end(&self) -> Option<End> {
        lock(&self.state).end.clone()
    }

    fn ended_at(&self) -> Option<Instant> {
        lock(&self.state).ended
    }

    pub(crate) fn changed(&self) -> SystemTime {
        lock(&self.state).changed
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        lock(&self.state).is_cancelled
    }

    fn is_given_up(&self) -> bool {
        lock(&self.state).lost.is_some()
    }

    pub(crate) fn is_task(&self) -> bool {
        lock(&self.state).is_task
    }

    /// Hands over what the client has answered.
    pub(crate) fn deliver(&self, answers: Map<String, Value>) {
        self.client_call.deliver(answers);
        lock(&self.state).changed = SystemTime::now();
    }

    /// Its client, which follows it as a task, wants it to end.
    pub(crate) fn cancel(&self) {
        let mut state = lock(&self.state);
        if state.end.is_none() && !state.is_cancelled {
            state.is_cancelled = true;
            state.changed = SystemTime::now();
            drop(state);
            self.cancel.cancel();
        }
    }

    /// Ends it for this reason, with all that it has started.
    fn give_up(&self, why: &'static str) {
        let mut state = lock(&self.state);
        if state.end.is_none() {
            state.lost.get_or_insert(why);
            drop(state);
            self.cancel.cancel();
        }
    }

    fn finish(&self, result: Result<Value, RpcError>) {
        let mut state = lock(&self.state);
        state.result_size = result.as_ref().map_or(0, |result| result.to_string().len());
        state.end = Some(match state.lost {
            Some(why) => End::Lost(why),
            None => End::Result(result),
        });
        state.ended = Some(Instant::now());
        state.changed = SystemTime::now();
        drop(state);
        self.client_call.wake();
    }

    fn forget_result(&self) {
        let mut state = lock(&self.state);
        state.end = Some(End::Lost("its result is not kept any more"));
        state.result_size = 0;
    }

    /// Returns when its answer is not waited for any longer, and why.
    async fn overdue(&self, closing: &CancellationToken) -> &'static str {
        loop {
            let news = self.client_call.news();
            tokio::pin!(news);
            news.as_mut().enable();
            let is_open = lock(&self.state).lost.is_none();
            match self.client_call.waits_since().filter(|_| is_open) {
                None => news.await,
                Some(_) => {
                    let at = self.client_call.gives_up_at();
                    let late = async {
                        match at {
                            Some(at) => tokio::time::sleep_until(at).await,
                            None => std::future::pending().await,
                        }
                    };
                    tokio::select! {
                        biased;
                        () = news => {}
                        () = closing.cancelled() => return "its client had nothing more to say",
                        () = late => return "its answer did not come in time",
                    }
                }
            }
        }
    }

    /// What it says next. Questions are not waited for where a task tells of them.
    async fn next(&self, tells_questions: bool) -> Next {
        loop {
            let news = self.client_call.news();
            tokio::pin!(news);
            news.as_mut().enable();
            if let Some(end) = self.end() {
                return Next::Ended(end);
            }
            let wanted = self.client_call.wanted();
            if tells_questions && !wanted.is_empty() {
                return Next::Wants(wanted);
            }
            news.await;
        }
    }

    /// The answer to a request that has brought answers, or brings them again.
    pub(crate) async fn follow(
        self: &Arc<PendingCall>,
        server: &Server,
        exchange: &Exchange,
        limit: Option<Duration>,
        token: Option<Value>,
    ) -> Result<Value, RpcError> {
        let limit = if self.is_task() { Some(Duration::ZERO) } else { limit };
        let tells_questions = !limit.is_some_and(|limit| limit.is_zero());
        let follower = self.attach(exchange, token);
        let next = tokio::select! {
            biased;
            next = self.next(tells_questions) => Some(next),
            () = exchange.cancel.cancelled() => None,
            () = tokio::time::sleep(limit.unwrap_or_default()), if limit.is_some() => Some(Next::Late),
        };
        drop(follower);
        match next {
            Some(next) => self.told(server, next).await,
            None => {
                self.left(exchange).await;
                Ok(json!({}))
            }
        }
    }

    /// The request that waited for it was withdrawn, or its connection was lost.
    async fn left(&self, exchange: &Exchange) {
        if exchange.may_return {
            tokio::select! {
                () = tokio::time::sleep(RETURN) => {}
                () = exchange.session.cancel.cancelled() => {}
            }
        }
        let is_followed = {
            let state = lock(&self.state);
            state.followers > 0 || state.is_task
        };
        // A question that its client has not seen waits for it to come back.
        if is_followed || exchange.may_return && self.client_call.is_waiting() {
            return;
        }
        self.give_up("its client withdrew it");
        let _ = self.next(false).await;
    }

    async fn told(self: &Arc<PendingCall>, server: &Server, next: Next) -> Result<Value, RpcError> {
        match next {
            Next::Ended(End::Result(result)) => result,
            Next::Ended(End::Lost(why)) => {
                report::lost(server, &self.name, &self.id, Loss::Ended(why), self.client_call.client()).await
            }
            Next::Wants(wanted) => {
                // A server that is started after this one says from the log how far the call was. Where it cannot be
                // written, that is what it says.
                let _ = server.context.committed().await;
                // Each round has a state of its own, which clients may expect; all lead to the same call.
                let round = hex(&random::<6>());
                let state = json!({"of": self.subject, "call": &*self.id, "round": round});
                Ok(json!({
                    "resultType": "input_required",
                    "inputRequests": wanted,
                    "requestState": server.seal.key().await.seal(&state),
                }))
            }
            Next::Late => {
                lock(&self.state).is_task = true;
                let mut told = task::envelope(server, self).await;
                told["resultType"] = "task".into();
                Ok(told)
            }
        }
    }

    fn attach(self: &Arc<PendingCall>, exchange: &Exchange, token: Option<Value>) -> Follower {
        lock(&self.state).followers += 1;
        let outlet = Arc::clone(&exchange.outlet);
        self.client_call.attach(Arc::clone(&outlet));
        if let (Some(progress), Some(token)) = (&self.progress, token) {
            progress.attach(token, Arc::clone(&outlet));
        }
        Follower { pending: Arc::clone(self), outlet }
    }
}

/// A request that waits for a call.
struct Follower {
    pending: Arc<PendingCall>,
    outlet: Arc<dyn Outlet>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.pending.client_call.detach(&self.outlet);
        if let Some(progress) = &self.pending.progress {
            progress.detach(&self.outlet);
        }
        lock(&self.pending.state).followers -= 1;
    }
}

/// What a state leads to.
pub(crate) enum Recalled {
    Pending(Arc<PendingCall>),
    /// A call of ours, by its id, that is not here any more.
    Gone(String),
}

/// The state that a request sends back; `None` for a client without such states, and for a member that is null.
pub(crate) fn state(params: &mut Map<String, Value>, client: &Client) -> Option<Value> {
    params.remove("requestState").filter(|state| client.is_modern() && !state.is_null())
}

/// The call that an answer is to. An error where the state is none of ours, or of another call.
pub(crate) async fn recall(
    server: &Server,
    session: &Session,
    state: &Value,
    subject: &Subject,
) -> Result<Recalled, RpcError> {
    let key = server.seal.key().await;
    let state = state.as_str().and_then(|state| key.open(state)).ok_or_else(|| {
        RpcError::params(
            "requestState was changed, or is of a server that this one knows nothing of; nothing was run. What the call did \
             before is not known here: look first, then make the call again without requestState",
        )
    })?;
    let id = state["call"].as_str().unwrap_or_default();
    if state["of"].as_str() != Some(&subject.fingerprint().0) {
        let message =
            "requestState is of another call; make this one without it, or answer with that call's arguments";
        return Err(RpcError::params(message));
    }
    match server.pending.find(id, session).filter(|found| found.is_of(subject)) {
        Some(found) => Ok(Recalled::Pending(found)),
        None => Ok(Recalled::Gone(id.to_owned())),
    }
}

/// What a request brings in answer to questions. What is no answer is asked for again.
pub(crate) fn answers(params: &mut Map<String, Value>) -> Map<String, Value> {
    match params.remove("inputResponses") {
        Some(Value::Object(all)) => all.into_iter().filter(|(_, answer)| is_answer(answer)).collect(),
        _ => Map::new(),
    }
}

/// Refuses the answer to a question of ours that comes without the state of its call: to make the call again would run it twice.
pub(crate) fn refuse_stray(answers: &Map<String, Value>) -> Result<(), RpcError> {
    match answers.keys().any(|key| ClientCall::is_question(key)) {
        true => Err(RpcError::params(
            "inputResponses answers a question of this server, and the requestState that came with the question is missing; \
             nothing was run. Send both, or make the call anew without inputResponses",
        )),
        false => Ok(()),
    }
}

/// Whether this answers a form, a request for a message or one for roots.
fn is_answer(answer: &Value) -> bool {
    let content = answer.get("content");
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => content.is_none_or(Value::is_object),
        Some("decline" | "cancel") => true,
        Some(_) => false,
        None => {
            answer.get("roots").is_some_and(Value::is_array)
                || content.is_some() && answer.get("role").is_some()
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
