//! Serving over HTTP: one endpoint, `/mcp`, for clients of both eras.
//!
//! A request is answered with plain JSON, unless something must be told before its answer or it takes longer than a
//! moment: then with a stream of events. What a modern client hangs up on is cancelled; one with a handshake says so.

mod connections;
mod door;
mod sessions;
mod stream;

pub use door::Door;

use crate::client::{Client, Revision, VERSION};
use crate::dispatch::Exchange;
use crate::rpc::{self, LONGEST, Message, Request, RpcError};
use crate::session::{Session, Start};
use crate::stdio::stranger;
use crate::{Server, listen};
use bytes::Bytes;
use connections::{ConnectionLimits, Slot, TooManyConnections};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Map, Value};
use sessions::Sessions;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use stream::{Body, Events, Opened};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

/// How long a client that was let in may take to send headers, and as long again for a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a connection may take until it has sent an authenticated request.
const SHORT_PATIENCE: Duration = Duration::from_secs(10);

/// At the end, answers get so long to leave.
const GRACE: Duration = Duration::from_secs(2);

const SESSION: &str = "mcp-session-id";

/// An address that is listened at.
pub struct Listening {
    listener: TcpListener,
    timeout: Duration,
}

impl Listening {
    /// Begins to listen.
    pub async fn open(address: SocketAddr) -> std::io::Result<Listening> {
        TcpListener::bind(address).await.map(|listener| Listening { listener, timeout: SHORT_PATIENCE })
    }

    /// How long a connection may take until it has sent an authenticated request; ten seconds, if nothing is said.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Listening {
        self.timeout = timeout;
        self
    }

    /// Where, with the port that the system has chosen if none was.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// All that a connection needs.
struct House {
    server: Arc<Server>,
    door: Door,
    sessions: Sessions,
    /// The session of all modern requests: they have one credential.
    modern: Arc<Session>,
    tasks: TaskTracker,
}

pub(crate) async fn serve(server: &Arc<Server>, listening: Listening, door: Door) {
    let house = Arc::new(House {
        server: Arc::clone(server),
        door,
        sessions: Sessions::default(),
        modern: server.session(),
        tasks: TaskTracker::new(),
    });
    let ended = server.context.cancel().clone();
    let limits = ConnectionLimits::new();
    let timeout = listening.timeout;
    loop {
        let accepted = tokio::select! {
            () = ended.cancelled() => break,
            accepted = listening.listener.accept() => accepted,
        };
        let Ok((connection, _)) = accepted else {
            // Out of file descriptors, most likely: others will close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = connection.set_nodelay(true);
        let (house, ended, slot) = (Arc::clone(&house), ended.clone(), limits.enter());
        house.tasks.clone().spawn(async move {
            let service = service_fn(|request| {
                let (house, slot) = (Arc::clone(&house), &slot);
                async move { Ok::<_, Infallible>(house.answer(request, slot).await) }
            });
            let serving = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(connection), service);
            let mut serving = std::pin::pin!(serving);
            tokio::select! {
                _ = serving.as_mut() => {}
                () = slot.closed(timeout) => {}
                () = ended.cancelled() => {
                    serving.as_mut().graceful_shutdown();
                    let _ = tokio::time::timeout(GRACE, serving).await;
                }
            }
        });
    }
    house.tasks.close();
    let _ = tokio::time::timeout(GRACE, house.tasks.wait()).await;
}

impl House {
    async fn answer(self: &Arc<House>, request: hyper::Request<Incoming>, slot: &Slot) -> Response<Body> {
        let admitted = self.door.check(request.headers(), request.uri()).and_then(|()| {
            let full = "too many connections are open; close some, or use one for several requests";
            slot.admit().map_err(|TooManyConnections| (StatusCode::SERVICE_UNAVAILABLE, full))
        });
        if let Err((status, why)) = admitted {
            let mut response = plain(status, why);
            // An unauthenticated connection is closed.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            if status == StatusCode::UNAUTHORIZED {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            return response;
        }
        if request.uri().path() != "/mcp" {
            return plain(StatusCode::NOT_FOUND, "there is only /mcp here");
        }
        let (head, body) = request.into_parts();
        match head.method {
            Method::POST => self.post(&head.headers, body).await,
            Method::GET => self.get(&head.headers),
            Method::DELETE => self.delete(&head.headers),
            _ => not_allowed(),
        }
    }

    async fn post(self: &Arc<House>, headers: &HeaderMap, body: Incoming) -> Response<Body> {
        let kind = text(headers, "content-type").unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json");
        }
        let reading = tokio::time::timeout(PATIENCE, Limited::new(body, LONGEST).collect());
        let bytes = match reading.await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return plain(StatusCode::PAYLOAD_TOO_LARGE, "a message has at most 16 MiB");
            }
            Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "the body could not be read"),
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        };
        match rpc::parse(&bytes) {
            Message::Request(request) => self.request(headers, request).await,
            Message::Notification { method, params } => self.notification(headers, &method, &params),
            Message::Answer { id, result } => match self.sessions.find(headers) {
                Some(found) => {
                    found.session.answered(id, result);
                    accepted()
                }
                None => self.no_session(headers, &Value::Null),
            },
            Message::Invalid { id, error } => refused(&id, error),
        }
    }

    async fn request(self: &Arc<House>, headers: &HeaderMap, request: Request) -> Response<Body> {
        let version = text(headers, "mcp-protocol-version");
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
        if let Err(error) = agree(headers, version, &request) {
            return refused(&request.id, error);
        }
        match Client::of_request(&request.params) {
            Ok(Some(client)) => self.run(Arc::clone(&self.modern), client, request).await,
            Ok(None) => refused(&request.id, stranger()),
            Err(error) => refused(&request.id, error),
        }
    }

    fn shake_hands(&self, request: &Request) -> Response<Body> {
        let client = Client::shaking_hands(&request.params);
        let welcome = self.server.welcome(&client);
        let session = self.server.session();
        let _ = session.client.set(client);
        let id = self.sessions.add(session);
        let mut response = json(StatusCode::OK, rpc::answer(&request.id, &Ok(welcome)));
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }

    /// Runs a request in a task of its own and answers as soon as it is known how.
    async fn run(
        self: &Arc<House>,
        session: Arc<Session>,
        client: Client,
        request: Request,
    ) -> Response<Body> {
        let Request { id, method, params } = request;
        let is_modern = client.is_modern();
        // Modern requests come from anybody with the credential, so that their ids may be alike.
        let key = if is_modern { Value::from(self.sessions.next_key()) } else { id.clone() };
        let running = match session.start(&key) {
            Start::Running(running) => running,
            Start::Taken => {
                let error =
                    RpcError::invalid_request("a request of this id is still running; give each its own");
                return refused(&id, error);
            }
            Start::Full => {
                let error = RpcError::internal("too many requests are running; wait for an answer");
                return refused(&id, error.with_status(503));
            }
        };
        let (outlet, opened) = Opened::new(is_modern.then(|| running.cancel.clone()));
        let cancel = running.cancel.clone();
        let exchange = Exchange { session, client, outlet: outlet.clone(), id, cancel };
        let server = Arc::clone(&self.server);
        self.tasks.spawn(async move {
            let result = server.answer(&exchange, &method, params).await;
            if !running.is_withdrawn() {
                let status = match (&result, is_modern) {
                    (Err(error), true) => error.status,
                    _ => 200,
                };
                outlet.finish(rpc::answer(&exchange.id, &result), status);
            }
            drop(running);
        });
        opened.response().await
    }

    fn notification(
        self: &Arc<House>,
        headers: &HeaderMap,
        method: &str,
        params: &Map<String, Value>,
    ) -> Response<Body> {
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
    fn get(&self, headers: &HeaderMap) -> Response<Body> {
        match self.sessions.find(headers) {
            Some(found) => found.bell.listen(),
            None if headers.contains_key(SESSION) => self.no_session(headers, &Value::Null),
            None => not_allowed(),
        }
    }

    fn delete(&self, headers: &HeaderMap) -> Response<Body> {
        match self.sessions.remove(headers) {
            Some(found) => {
                found.session.close();
                found.session.cancel.cancel();
                plain(StatusCode::OK, "the session has ended")
            }
            None if headers.contains_key(SESSION) => self.no_session(headers, &Value::Null),
            None => not_allowed(),
        }
    }

    fn no_session(&self, headers: &HeaderMap, id: &Value) -> Response<Body> {
        match headers.contains_key(SESSION) {
            true => {
                let error = RpcError::invalid_request("this session has ended; initialize a new one");
                refused(id, error.with_status(404))
            }
            false => refused(id, stranger()),
        }
    }
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
        ("Mcp-Method", text(headers, "mcp-method"), Some(request.method.as_str())),
        ("Mcp-Name", text(headers, "mcp-name"), name),
    ];
    for (header, found, wanted) in pairs {
        let Some(wanted) = wanted else { continue };
        if found.map(|found| door::decoded(found)).as_deref() != Some(wanted) {
            let found = found.unwrap_or("nothing");
            let message =
                format!("the header {header} says `{found}` and the body `{wanted}`; they must agree");
            return Err(RpcError::header_mismatch(message));
        }
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::Whole(Full::new(Bytes::from(body))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn plain(status: StatusCode, why: &str) -> Response<Body> {
    response(status, "text/plain; charset=utf-8", format!("{why}\n"))
}

fn json(status: StatusCode, body: String) -> Response<Body> {
    response(status, "application/json", body)
}

fn refused(id: &Value, error: RpcError) -> Response<Body> {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_REQUEST);
    let status = if status.is_success() { StatusCode::BAD_REQUEST } else { status };
    json(status, rpc::answer(id, &Err(error)))
}

fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::Whole(Full::default()));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

fn not_allowed() -> Response<Body> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "requests are sent by POST");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

/// Event streams are not to be kept or held back by anything on their way.
fn event_stream(events: Events) -> Response<Body> {
    let mut response = Response::new(Body::Events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("cache-control", HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
