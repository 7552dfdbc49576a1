//! Serving over HTTP: one endpoint, `/mcp`, for clients of both eras.
//!
//! A request is answered with plain JSON, unless something must be told before its answer or it takes longer than a
//! moment: then with a stream of events. What a modern client hangs up on is cancelled; one with a handshake says so.

mod lasting;
mod sessions;
mod stream;

use crate::client::Client;
use crate::dispatch::Exchange;
use crate::session::Session;
use crate::stdio::stranger;
use crate::{Server, listen};
use lasting::Lasting;
use serde_json::{Map, Value};
use sessions::Sessions;
use std::sync::Arc;
use std::time::Duration;
use stream::Opened;
use tokio_util::task::TaskTracker;
use toolpost_http::header::ALLOW;
use toolpost_http::{
    Admission, BoxFuture, ErrorKind, HeaderMap, HeaderName, HeaderValue, Listener, Method, Received, Reply,
    Route, Routes, StatusCode,
};
use toolpost_mcp::header::{self, SESSION};
use toolpost_mcp::meta::VERSION;
use toolpost_mcp::{Invalid, MAX_MESSAGE, Message, Request, Revision, RpcError, message};

/// Where clients find the server.
const PATH: &str = "/mcp";

/// At the end, requests get so long to be answered.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) async fn serve(server: &Arc<Server>, listener: Listener, admission: Admission, others: Routes) {
    let endpoint = Arc::new(Endpoint {
        server: Arc::clone(server),
        sessions: Sessions::default(),
        modern: server.session(),
        tasks: TaskTracker::new(),
    });
    server.start_servers();
    let routes = others.add(PATH, Arc::new(McpRoute(Arc::clone(&endpoint))));
    let ended = server.context.cancel();
    let answered = async {
        ended.cancelled().await;
        endpoint.tasks.close();
        let _ = tokio::time::timeout(GRACE, endpoint.tasks.wait()).await;
        let _ = tokio::time::timeout(GRACE, server.pending.all_ended()).await;
    };
    tokio::join!(listener.serve(admission, routes, ended.clone()), answered);
}

/// The route of MCP, behind the listener's admission.
struct McpRoute(Arc<Endpoint>);

impl Route for McpRoute {
    fn answer<'a>(&'a self, request: Received) -> BoxFuture<'a, Reply> {
        Box::pin(async {
            match *request.method() {
                Method::POST => self.0.post(request).await,
                Method::GET => self.0.get(request.headers()),
                Method::DELETE => self.0.delete(request.headers()),
                _ => not_allowed(),
            }
        })
    }
}

/// All that a request needs.
struct Endpoint {
    server: Arc<Server>,
    sessions: Sessions,
    /// The session of all modern requests: they have one credential.
    modern: Arc<Session>,
    tasks: TaskTracker,
}

impl Endpoint {
    async fn post(self: &Arc<Endpoint>, request: Received) -> Reply {
        let kind = text(request.headers(), "content-type").unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            return Reply::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json");
        }
        let (headers, body) = request.into_body(MAX_MESSAGE).await;
        let headers = &headers;
        let bytes = match body {
            Ok(bytes) => bytes,
            Err(error) => {
                let (status, why) = match error.kind() {
                    ErrorKind::TooLarge => {
                        (StatusCode::PAYLOAD_TOO_LARGE, "a message has at most 16 MiB".to_owned())
                    }
                    ErrorKind::TimedOut => (StatusCode::REQUEST_TIMEOUT, error.to_string()),
                    _ => (StatusCode::BAD_REQUEST, error.to_string()),
                };
                return Reply::text(status, &why);
            }
        };
        match Message::parse(&bytes) {
            Ok(Message::Request(request)) => self.request(headers, request).await,
            Ok(Message::Notification { method, params }) => self.notification(headers, &method, &params),
            Ok(Message::Answer { id, result }) => match self.sessions.find(headers) {
                Some(found) => {
                    found.session.answered(id, result);
                    accepted()
                }
                None => self.no_session(headers, &Value::Null),
            },
            Err(Invalid { id, error }) => refused(&id, error),
        }
    }

    async fn request(self: &Arc<Endpoint>, headers: &HeaderMap, request: Request) -> Reply {
        let version = text(headers, header::VERSION);
        let is_modern = request.params.get("_meta").is_some_and(|meta| meta.get(VERSION).is_some())
            || version.and_then(Revision::named).is_some_and(Revision::is_modern);
        if !is_modern {
            if let Some(unknown) = version.filter(|version| Revision::named(version).is_none()) {
                return refused(&request.id, RpcError::unsupported_version(unknown, &Revision::NAMES));
            }
            if request.method == "initialize" {
                return self.shake_hands(&request);
            }
            let Some(found) = self.sessions.find(headers) else {
                return self.no_session(headers, &request.id);
            };
            let Some(client) = found.session.client.get().cloned() else {
                return refused(&request.id, stranger());
            };
            return self.run(Arc::clone(&found.session), client, request).await;
        }
        let agreed =
            agree(headers, version, &request).and_then(|()| self.agree_on_arguments(headers, &request));
        if let Err(error) = agreed {
            return refused(&request.id, error);
        }
        match Client::of_request(&request.params) {
            Ok(Some(client)) => self.run(Arc::clone(&self.modern), client, request).await,
            Ok(None) => refused(&request.id, stranger()),
            Err(error) => refused(&request.id, error),
        }
    }

    fn shake_hands(&self, request: &Request) -> Reply {
        let client = Client::shaking_hands(&request.params);
        let welcome = self.server.welcome(&client);
        let session = self.server.session();
        let _ = session.client.set(client);
        let id = self.sessions.add(session);
        let reply = Reply::json(StatusCode::OK, message::answer(&request.id, &Ok(welcome)));
        match HeaderValue::from_str(&id) {
            Ok(id) => reply.header(HeaderName::from_static(SESSION), id),
            Err(_) => reply,
        }
    }

    /// Runs a request and answers as soon as it is known how. It is polled by the task of its connection, which has nothing
    /// else to do, and goes on in a task of its own when that one leaves: for a stream, or because the client hung up.
    async fn run(self: &Arc<Endpoint>, session: Arc<Session>, client: Client, request: Request) -> Reply {
        let Request { id, method, params } = request;
        let is_modern = client.is_modern();
        // Modern requests come from anybody with the credential, so that their ids may be alike.
        let key = if is_modern { Value::from(self.sessions.next_key()) } else { id.clone() };
        let running = match session.start(&key) {
            Ok(running) => running,
            Err(error) => return refused(&id, error),
        };
        let (outlet, opened) = Opened::new(is_modern.then(|| running.cancel.clone()));
        let cancel = running.cancel.clone();
        let exchange =
            Exchange { session, client, outlet: outlet.clone(), id, cancel, may_return: is_modern };
        let server = Arc::clone(&self.server);
        let work = self.tasks.track_future(async move {
            let result = server.answer(&exchange, &method, params).await;
            if !running.is_withdrawn() {
                let status = match (&result, is_modern) {
                    (Err(error), true) => error.status,
                    _ => 200,
                };
                outlet.finish(message::answer(&exchange.id, &result), status);
            }
            drop(running);
        });
        opened.reply(Lasting::new(work)).await
    }

    fn notification(
        self: &Arc<Endpoint>,
        headers: &HeaderMap,
        method: &str,
        params: &Map<String, Value>,
    ) -> Reply {
        let Some(found) = self.sessions.find(headers) else {
            // A modern client withdraws by hanging up; whatever else it tells needs no session.
            return match headers.contains_key(SESSION) {
                true => self.no_session(headers, &Value::Null),
                false => accepted(),
            };
        };
        match method {
            "notifications/cancelled" => {
                if let Some(id) = params.get("requestId") {
                    found.session.withdraw(id);
                }
            }
            "notifications/initialized" if found.session.is_ready.set(()).is_ok() => {
                let (server, session) = (Arc::clone(&self.server), Arc::clone(&found.session));
                tokio::spawn(listen::tell_all(&server, session, Arc::new(found.bell.clone())));
            }
            _ => {}
        }
        accepted()
    }

    /// The stream of what concerns no request.
    fn get(&self, headers: &HeaderMap) -> Reply {
        match self.sessions.find(headers) {
            Some(found) => found.bell.listen(),
            None if headers.contains_key(SESSION) => self.no_session(headers, &Value::Null),
            None => not_allowed(),
        }
    }

    fn delete(&self, headers: &HeaderMap) -> Reply {
        match self.sessions.remove(headers) {
            Some(found) => {
                found.session.close();
                found.session.cancel.cancel();
                Reply::text(StatusCode::OK, "the session has ended")
            }
            None if headers.contains_key(SESSION) => self.no_session(headers, &Value::Null),
            None => not_allowed(),
        }
    }

    fn no_session(&self, headers: &HeaderMap, id: &Value) -> Reply {
        match headers.contains_key(SESSION) {
            true => {
                let error = RpcError::invalid_request("this session has ended; initialize a new one");
                refused(id, error.with_status(404))
            }
            false => refused(id, stranger()),
        }
    }
}

impl Endpoint {
    /// The arguments that a tool wants as headers are there, and say the same as the body: whoever passes requests on by
    /// their headers must be able to believe them.
    fn agree_on_arguments(&self, headers: &HeaderMap, request: &Request) -> Result<(), RpcError> {
        if request.method != "tools/call" {
            return Ok(());
        }
        let name = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let context = &self.server.context;
        let Ok(found) = context.tools().snapshot().find(name, context.dialect()) else { return Ok(()) };
        let Ok(prepared) = found.entry.prepared() else { return Ok(()) };
        let arguments = request.params.get("arguments").unwrap_or(&Value::Null);
        for (name, wanted) in header::mirrored(&prepared.definition.input, arguments) {
            agrees(&name, text(headers, &name), &header::decoded(&wanted))?;
        }
        Ok(())
    }
}

/// One header says what the body says.
fn agrees(name: &str, found: Option<&str>, wanted: &str) -> Result<(), RpcError> {
    if found.map(|found| header::decoded(found)).as_deref() == Some(wanted) {
        return Ok(());
    }
    let found = found.unwrap_or("nothing");
    Err(RpcError::header_mismatch(format!(
        "the header {name} says `{found}` and the body `{wanted}`; they must agree"
    )))
}

/// The headers of a modern request say the same as its body.
fn agree(headers: &HeaderMap, version: Option<&str>, request: &Request) -> Result<(), RpcError> {
    let said = request.params.get("_meta").and_then(|meta| meta.get(VERSION)).and_then(Value::as_str);
    let name = match request.method.as_str() {
        "tools/call" | "prompts/get" => request.params.get("name").and_then(Value::as_str),
        "resources/read" => request.params.get("uri").and_then(Value::as_str),
        "tasks/get" | "tasks/update" | "tasks/cancel" => request.params.get("taskId").and_then(Value::as_str),
        _ => None,
    };
    let pairs = [
        ("MCP-Protocol-Version", version, said),
        ("Mcp-Method", text(headers, header::METHOD), Some(request.method.as_str())),
        ("Mcp-Name", text(headers, header::NAME), name),
    ];
    for (name, found, wanted) in pairs {
        if let Some(wanted) = wanted {
            agrees(name, found, wanted)?;
        }
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

fn refused(id: &Value, error: RpcError) -> Reply {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_REQUEST);
    let status = if status.is_success() { StatusCode::BAD_REQUEST } else { status };
    Reply::json(status, message::answer(id, &Err(error)))
}

fn accepted() -> Reply {
    Reply::empty(StatusCode::ACCEPTED)
}

fn not_allowed() -> Reply {
    Reply::text(StatusCode::METHOD_NOT_ALLOWED, "requests are sent by POST")
        .header(ALLOW, HeaderValue::from_static("POST"))
}
