//! A server at an address: each request is a POST, each answer a JSON text or a stream of events.

mod door;
mod dress;
mod mirror;
mod sse;
mod stream;

pub(crate) use mirror::{mirrored, problem as header_problem};

use crate::era::Era;
use crate::line::LONGEST;
use crate::rpc::{self, Fault, Incoming as Message};
use crate::running::Running;
use bytes::Bytes;
use door::{Door, Sender};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// So much of an answer that is none is shown.
const LONGEST_SHOWN: usize = 300;

/// How long something may take that nobody waits for.
const ASIDE: Duration = Duration::from_secs(5);

/// The way to a server at an address.
pub(crate) struct Http {
    door: Door,
    /// What is sent with every request.
    headers: HeaderMap,
    next: AtomicU64,
    state: Mutex<State>,
    /// The calls that run, by the numbers of their requests.
    running: Mutex<HashMap<u64, Arc<Running>>>,
    changed: Arc<Notify>,
}

#[derive(Default)]
struct State {
    era: Option<Era>,
    session: Option<HeaderValue>,
    gone: Option<String>,
}

impl Http {
    pub(crate) fn new(
        url: &str,
        headers: &BTreeMap<String, String>,
        changed: Arc<Notify>,
    ) -> Result<Arc<Http>, String> {
        let door = Door::new(url)?;
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let parsed = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
            let (Ok(name), Ok(mut value)) = parsed else {
                return Err(format!("its header `{name}` cannot be sent; headers are plain text"));
            };
            value.set_sensitive(true);
            all.insert(name, value);
        }
        let (next, state, running) = (AtomicU64::new(1), Mutex::default(), Mutex::default());
        Ok(Arc::new(Http { door, headers: all, next, state, running, changed }))
    }

    /// Sends a request and waits for its answer. Given up, the server is told so.
    pub(crate) async fn request(
        self: &Arc<Http>,
        method: &str,
        mut params: Map<String, Value>,
        running: Option<Arc<Running>>,
    ) -> Result<Value, Fault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if running.is_some() {
            rpc::add_progress_token(&mut params, id);
        }
        if let Some(why) = self.why_gone() {
            return Err(Fault::Gone(why));
        }
        let request = self.post(method, &params, running.as_deref(), rpc::request(id, method, &params))?;
        if let Some(running) = &running {
            self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(running));
        }
        let mut given_up = GivenUp { http: self, id, is_answered: method == "initialize" };
        let answer = self.exchange(method, id, request, running.as_ref()).await;
        given_up.is_answered = true;
        answer
    }

    async fn exchange(
        self: &Arc<Http>,
        method: &str,
        id: u64,
        request: Request<Full<Bytes>>,
        running: Option<&Arc<Running>>,
    ) -> Result<Value, Fault> {
        let has_session = request.headers().contains_key(SESSION);
        let (response, sender) = self.door.send(request).await.map_err(Fault::Gone)?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && has_session {
            self.lose("its session has ended");
            return Err(Fault::Expired);
        }
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        if method == "initialize" {
            self.lock().session = response.headers().get(SESSION).cloned();
        }
        match is_stream(&response) {
            true => stream::Reading::new(self, id, running).finish(response.into_body(), sender).await,
            false => self.whole(response.into_body(), id, sender).await,
        }
    }

    /// The answer in a body that is all JSON.
    async fn whole(&self, body: Incoming, id: u64, sender: Sender) -> Result<Value, Fault> {
        let read = Limited::new(body, LONGEST).collect().await;
        let bytes =
            read.map_err(|error| Fault::Gone(format!("its answer could not be read: {error}")))?.to_bytes();
        self.door.keep(sender);
        if rpc::is_bloated(&bytes) {
            return Err(Fault::Gone(rpc::BLOATED.to_owned()));
        }
        let messages = rpc::parse(&bytes).ok_or_else(|| {
            Fault::Gone(format!("its answer is no message: `{}`", shown(&String::from_utf8_lossy(&bytes))))
        })?;
        let ours = messages.into_iter().find_map(|message| match message {
            Message::Answer { id: Some(found), result } if found == id => Some(result),
            _ => None,
        });
        ours.ok_or_else(|| Fault::Gone("its answer is to another request".to_owned()))?
            .map_err(Fault::Refused)
    }

    /// What a status that is no success means: the error in the body where there is one.
    async fn refused(&self, response: Response<Incoming>) -> Fault {
        let status = response.status().as_u16();
        let location = response.headers().get("location").and_then(|value| value.to_str().ok()).map(shown);
        let body = Limited::new(response.into_body(), 64 << 10).collect();
        let bytes = match tokio::time::timeout(ASIDE, body).await {
            Ok(Ok(body)) => body.to_bytes(),
            _ => Bytes::new(),
        };
        if let Some([Message::Answer { result: Err(refusal), .. }]) = rpc::parse(&bytes).as_deref() {
            return Fault::Refused(refusal.clone());
        }
        let text = match (status, location) {
            (300..=399, Some(place)) => {
                format!("it has moved to `{place}`; write that address, redirects are not followed")
            }
            (401 | 403, _) => {
                "it wants to know who asks; give the entry a header such as `Authorization`".to_owned()
            }
            _ => shown(&String::from_utf8_lossy(&bytes)),
        };
        Fault::Status { status, text }
    }

    /// Tells the server something; nobody waits for it.
    pub(crate) fn notify(self: &Arc<Http>, method: &str, params: &Value) {
        self.aside(rpc::notification(method, params));
    }

    /// Sends a message that has no answer, in the background.
    fn aside(self: &Arc<Http>, message: String) {
        let (http, Ok(runtime)) = (Arc::clone(self), tokio::runtime::Handle::try_current()) else { return };
        let Ok(request) = http.post("", &Map::new(), None, message) else { return };
        runtime.spawn(async move {
            let sending = http.door.send(request);
            if let Ok(Ok((response, sender))) = tokio::time::timeout(ASIDE, sending).await
                && Limited::new(response.into_body(), 64 << 10).collect().await.is_ok()
            {
                http.door.keep(sender);
            }
        });
    }

    /// Hears what concerns no request, as servers of old tell it, until they stop.
    pub(crate) async fn listen(self: &Arc<Http>) -> Result<(), Fault> {
        let (body, sender) = self.open_stream(None).await?;
        stream::Reading::new(self, 0, None).run(body, sender).await.map(drop)
    }

    /// The stream of a server of old; where an event is named, what has come since.
    async fn open_stream(&self, since: Option<&str>) -> Result<(Incoming, Sender), Fault> {
        let mut request = self.dressed(Method::GET, Bytes::new())?;
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(since) = since.and_then(|since| HeaderValue::from_str(since).ok()) {
            headers.insert("last-event-id", since);
        }
        let (response, sender) = self.door.send(request).await.map_err(Fault::Gone)?;
        match response.status().is_success() && is_stream(&response) {
            true => Ok((response.into_body(), sender)),
            false => Err(Fault::Status { status: response.status().as_u16(), text: String::new() }),
        }
    }

    /// The calls that run.
    fn all_running(&self) -> Vec<Arc<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(crate) fn greeted(&self, era: Era) {
        self.lock().era = Some(era);
    }

    pub(crate) fn why_gone(&self) -> Option<String> {
        self.lock().gone.clone()
    }

    /// Leaves the server; one of old is told that its session is over.
    pub(crate) fn close(self: &Arc<Http>, why: &str) {
        self.lose(why);
        let has_session = self.lock().session.is_some();
        let (true, Ok(runtime)) = (has_session, tokio::runtime::Handle::try_current()) else { return };
        let Ok(request) = self.dressed(Method::DELETE, Bytes::new()) else { return };
        self.lock().session = None;
        let http = Arc::clone(self);
        runtime.spawn(async move { tokio::time::timeout(ASIDE, http.door.send(request)).await.is_ok() });
    }

    fn lose(&self, why: &str) {
        self.lock().gone.get_or_insert_with(|| why.to_owned());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a server of old that nobody waits for an answer any more; a modern one sees that the line is cut.
struct GivenUp<'a> {
    http: &'a Arc<Http>,
    id: u64,
    is_answered: bool,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.http.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        let is_legacy = matches!(self.http.lock().era, Some(Era::Legacy(_)));
        if !self.is_answered && is_legacy {
            self.http.notify("notifications/cancelled", &json!({"requestId": self.id, "reason": "given up"}));
        }
    }
}

fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

fn shown(text: &str) -> String {
    crate::complaint::harmless(text.trim()).chars().take(LONGEST_SHOWN).collect()
}
