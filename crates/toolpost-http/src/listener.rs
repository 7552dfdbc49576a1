//! Requests of others: connections are accepted within limits, requests admitted and passed to routes.

mod admission;
mod limits;
mod received;
mod reply;
mod route;

pub use admission::{Admission, is_same_secret};
pub use received::Received;
pub use reply::{EventSource, Reply};
pub use route::{Route, Routes};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use limits::{ConnectionLimits, Slot, TooManyConnections};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::coop::unconstrained;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a connection may take to send the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a connection may take until it has sent an admitted request, if nothing else is said.
const ADMISSION_TIMEOUT: Duration = Duration::from_secs(10);

/// How long connections may take to send their last replies, once the listener ends.
const GRACE: Duration = Duration::from_secs(2);

/// An address that is listened at.
pub struct Listener {
    listener: TcpListener,
    timeout: Duration,
}

impl Listener {
    /// Begins to listen. Nobody is served before [`Listener::serve`].
    pub async fn bind(address: SocketAddr) -> std::io::Result<Listener> {
        TcpListener::bind(address).await.map(|listener| Listener { listener, timeout: ADMISSION_TIMEOUT })
    }

    /// How long a connection may take until it has sent an admitted request; ten seconds, if nothing is said.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Listener {
        self.timeout = timeout;
        self
    }

    /// Where it listens, with the port that the system has chosen if none was given.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `ended` is cancelled; replies that have begun then get two more seconds.
    pub async fn serve(self, admission: Admission, routes: Routes, ended: CancellationToken) {
        let shared = Arc::new(Served { admission, routes });
        let limits = ConnectionLimits::new();
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = ended.cancelled() => break,
                accepted = self.listener.accept() => accepted,
            };
            let Ok((connection, _)) = accepted else {
                // Out of file descriptors, most likely: others will close.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let _ = connection.set_nodelay(true);
            let (served, slot) = (Arc::clone(&shared), limits.enter());
            // What has used up its share of a turn would wait for its thread alone, which may go on with work that blocks.
            connections.spawn(unconstrained(served.connection(
                connection,
                slot,
                self.timeout,
                ended.clone(),
            )));
        }
        connections.close();
        let _ = tokio::time::timeout(GRACE, connections.wait()).await;
    }
}

/// How a connection is ended by this side.
enum Ends {
    AtOnce,
    WithGrace,
}

/// What every connection needs.
struct Served {
    admission: Admission,
    routes: Routes,
}

impl Served {
    async fn connection(
        self: Arc<Served>,
        connection: TcpStream,
        slot: Slot,
        timeout: Duration,
        ended: CancellationToken,
    ) {
        let service = service_fn(|request| {
            let (served, slot) = (&self, &slot);
            async move { Ok::<_, Infallible>(served.answer(request, slot).await.into_response()) }
        });
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(connection), service);
        let mut serving = std::pin::pin!(serving);
        // Polled when it is woken, and not with each request.
        let mut ends: FuturesUnordered<_> = std::iter::once(async {
            tokio::select! {
                () = slot.closed(timeout) => Ends::AtOnce,
                () = ended.cancelled() => Ends::WithGrace,
            }
        })
        .collect();
        tokio::select! {
            biased;
            _ = serving.as_mut() => {}
            end = ends.next() => if let Some(Ends::WithGrace) = end {
                serving.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(GRACE, serving).await;
            },
        }
    }

    async fn answer(&self, request: hyper::Request<Incoming>, slot: &Slot) -> Reply {
        let admitted = self.admission.check(request.headers(), request.uri()).and_then(|()| {
            let full = "too many connections are open; close some, or use one for several requests";
            slot.admit().map_err(|TooManyConnections| (StatusCode::SERVICE_UNAVAILABLE, full.to_owned()))
        });
        if let Err((status, why)) = admitted {
            // An unauthenticated connection is closed.
            let reply = Reply::text(status, &why).header(CONNECTION, HeaderValue::from_static("close"));
            return match status == StatusCode::UNAUTHORIZED {
                true => reply.header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
                false => reply,
            };
        }
        match self.routes.find(request.uri().path()) {
            Some(route) => route.answer(Received::new(request)).await,
            None => Reply::text(StatusCode::NOT_FOUND, &format!("there is only {} here", self.routes)),
        }
    }
}
