//! A server at an address: each request is a POST, each answer a JSON text or a stream of events.

mod mirror;
mod request;
mod stream;

pub(crate) use mirror::problem as header_problem;

use crate::fault::{BLOATED, Fault};
use crate::running::Running;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use toolpost_http::header::ACCEPT;
use toolpost_http::{
    Client, ClientOptions, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Url,
};
use toolpost_mcp::header::{LAST_EVENT, SESSION};
use toolpost_mcp::{MAX_MESSAGE, Message, Revision, message, meta};

/// Maximum number of characters of an invalid reply to quote.
const MAX_QUOTED: usize = 300;

/// Maximum size of a body that is not a message, in bytes.
const MAX_ASIDE: usize = 64 << 10;

/// How long something may take that nobody waits for.
const ASIDE: Duration = Duration::from_secs(5);

/// The way to a server at an address.
pub(crate) struct Http {
    client: Client,
    url: Url,
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
    revision: Option<Revision>,
    session: Option<HeaderValue>,
    gone: Option<String>,
}

impl Http {
    pub(crate) fn new(
        url: &str,
        headers: &BTreeMap<String, String>,
        changed: Arc<Notify>,
    ) -> Result<Arc<Http>, String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let parsed = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
            let (Ok(name), Ok(mut value)) = parsed else {
                return Err(format!("its header `{name}` cannot be sent; headers are plain text"));
            };
            value.set_sensitive(true);
            all.insert(name, value);
        }
        let client = Client::new(ClientOptions::default());
        let (next, state, running) = (AtomicU64::new(1), Mutex::default(), Mutex::default());
        Ok(Arc::new(Http { client, url, headers: all, next, state, running, changed }))
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
            meta::add_progress_token(&mut params, id);
        }
        if let Some(why) = self.why_gone() {
            return Err(Fault::Gone(why));
        }
        let text = message::request(id, method, &params);
        let request = self.post(method, &params, running.as_deref(), text);
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
        request: Request,
        running: Option<&Arc<Running>>,
    ) -> Result<Value, Fault> {
        let has_session = request.headers.contains_key(SESSION);
        let response = self.client.send(request).await?;
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
            true => stream::Reading::new(self, id, running).finish(response).await,
            false => self.whole(response, id).await,
        }
    }

    /// The answer in a body that is all JSON.
    async fn whole(&self, response: Response, id: u64) -> Result<Value, Fault> {
        let read = response.bytes(MAX_MESSAGE).await;
        let bytes = read.map_err(|error| Fault::Gone(format!("its answer could not be read: {error}")))?;
        if message::is_bloated(&bytes) {
            return Err(Fault::Gone(BLOATED.to_owned()));
        }
        let messages = Message::parse_lenient(&bytes).ok_or_else(|| {
            Fault::Gone(format!(
                "its reply is not a valid message: `{}`",
                quoted(&String::from_utf8_lossy(&bytes))
            ))
        })?;
        let ours = messages.into_iter().find_map(|message| match message {
            Message::Answer { id: Some(found), result } if found == id => Some(result),
            _ => None,
        });
        ours.ok_or_else(|| Fault::Gone("its answer is to another request".to_owned()))?
            .map_err(Fault::Refused)
    }

    /// What a status that is no success means: the error in the body where there is one.
    async fn refused(&self, response: Response) -> Fault {
        let status = response.status().as_u16();
        let location = response.header("location").map(quoted);
        let bytes = match tokio::time::timeout(ASIDE, response.bytes(MAX_ASIDE)).await {
            Ok(Ok(bytes)) => bytes,
            _ => Default::default(),
        };
        if let Some([Message::Answer { result: Err(error), .. }]) = Message::parse_lenient(&bytes).as_deref()
        {
            return Fault::Refused(error.clone());
        }
        let text = match (status, location) {
            (300..=399, Some(place)) => {
                format!("it has moved to `{place}`; write that address, redirects are not followed")
            }
            (401 | 403, _) => {
                "it requires authentication; give the entry a header such as `Authorization`".to_owned()
            }
            _ => quoted(&String::from_utf8_lossy(&bytes)),
        };
        Fault::Status { status, text }
    }

    /// Tells the server something; nobody waits for it.
    pub(crate) fn notify(self: &Arc<Http>, method: &str, params: &Value) {
        self.aside(message::notification(method, params));
    }

    /// Sends a message that has no answer, in the background.
    fn aside(self: &Arc<Http>, message: String) {
        self.in_background(self.post("", &Map::new(), None, message));
    }

    /// Sends a request whose response nobody reads.
    fn in_background(self: &Arc<Http>, request: Request) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let client = self.client.clone();
        runtime.spawn(async move {
            if let Ok(response) = client.send(request.timeout(ASIDE)).await {
                let _ = response.bytes(MAX_ASIDE).await;
            }
        });
    }

    /// Hears what concerns no request, as servers of old tell it, until they stop.
    pub(crate) async fn listen(self: &Arc<Http>) -> Result<(), Fault> {
        let response = self.open_stream(None).await?;
        stream::Reading::new(self, 0, None).run(response).await;
        Ok(())
    }

    /// The stream of a server of old; where an event is named, what has come since.
    async fn open_stream(&self, since: Option<&str>) -> Result<Response, Fault> {
        let mut request = self.basic(Method::GET);
        request.headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(since) = since.and_then(|since| HeaderValue::from_str(since).ok()) {
            request.headers.insert(LAST_EVENT, since);
        }
        let response = self.client.send(request).await?;
        match response.status().is_success() && is_stream(&response) {
            true => Ok(response),
            false => Err(Fault::Status { status: response.status().as_u16(), text: String::new() }),
        }
    }

    /// The calls that run.
    fn all_running(&self) -> Vec<Arc<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(crate) fn greeted(&self, revision: Revision) {
        self.lock().revision = Some(revision);
    }

    pub(crate) fn why_gone(&self) -> Option<String> {
        self.lock().gone.clone()
    }

    /// Leaves the server; one of old is told that its session is over.
    pub(crate) fn close(self: &Arc<Http>, why: &str) {
        self.lose(why);
        if self.lock().session.is_some() {
            let request = self.basic(Method::DELETE);
            self.lock().session = None;
            self.in_background(request);
        }
    }

    fn lose(&self, why: &str) {
        self.lock().gone.get_or_insert_with(|| why.to_owned());
    }

    fn is_legacy(&self) -> bool {
        self.lock().revision.is_some_and(|revision| !revision.is_modern())
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
        if !self.is_answered && self.http.is_legacy() {
            self.http.notify("notifications/cancelled", &json!({"requestId": self.id, "reason": "given up"}));
        }
    }
}

fn is_stream(response: &Response) -> bool {
    response.is_of_type("text/event-stream")
}

fn quoted(text: &str) -> String {
    crate::complaint::harmless(text.trim()).chars().take(MAX_QUOTED).collect()
}
