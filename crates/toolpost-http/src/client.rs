//! Requests to others: connections are made when needed and kept for the next request to the same place.

mod bounds;
mod connect;
mod events;
mod pool;
mod proxy;
mod request;
mod response;
mod tls;
mod url;

pub use connect::{Connect, Direct, Target, Transport};
pub use events::EventStream;
pub use proxy::Proxy;
pub use request::Request;
pub use response::Response;
pub use tls::Roots;
pub use url::{Url, percent_decoded};

use crate::error::{Error, ErrorKind};
use bounds::Bounds;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use pool::Pool;
use std::sync::Arc;
use std::time::Duration;
use tls::Encryption;

/// A connection that a request can be sent over.
type Sender = SendRequest<Full<Bytes>>;

/// What all requests of a client share.
#[derive(Clone)]
pub struct ClientOptions {
    /// Which certificates are trusted.
    pub roots: Roots,
    /// Who opens connections.
    pub connect: Arc<dyn Connect>,
    /// How long a connection may take to be made, with its encryption.
    pub connect_timeout: Duration,
    /// Maximum number of idle connections to one host and port.
    pub max_idle: usize,
    /// How long a connection is kept for the next request.
    pub idle_timeout: Duration,
}

impl Default for ClientOptions {
    /// Direct connections, the certificates of this machine, 10 s to connect, 4 idle connections for 90 s each.
    fn default() -> ClientOptions {
        ClientOptions {
            roots: Roots::Machine,
            connect: Arc::new(Direct),
            connect_timeout: Duration::from_secs(10),
            max_idle: 4,
            idle_timeout: Duration::from_secs(90),
        }
    }
}

/// Sends requests. Clones share their connections.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    connect: Arc<dyn Connect>,
    connect_timeout: Duration,
    encryption: Encryption,
    pool: Arc<Pool>,
}

impl Client {
    /// A client with no connections yet.
    pub fn new(options: ClientOptions) -> Client {
        let ClientOptions { roots, connect, connect_timeout, max_idle, idle_timeout } = options;
        Client(Arc::new(Shared {
            connect,
            connect_timeout,
            encryption: Encryption::new(roots),
            pool: Arc::new(Pool::new(max_idle, idle_timeout)),
        }))
    }

    /// Sends a request and waits for the head of its response, whatever its status. Dropped before that, the connection
    /// is closed, so that the other side notices.
    ///
    /// A request is sent again only if it was never sent: over a kept connection that the other side had closed.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        let Request { method, url, mut headers, body, timeout, idle_timeout, cancel } = request;
        let bounds = Bounds::new(timeout, idle_timeout, cancel);
        let invalid = |what: &str| Error::new(ErrorKind::Invalid, format!("`{what}` cannot be sent"));
        let mut request = hyper::Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = url.path().parse().map_err(|_| invalid(url.path()))?;
        let host = HeaderValue::from_str(url.authority()).map_err(|_| invalid(url.authority()))?;
        headers.insert(HOST, host);
        *request.headers_mut() = headers;
        // On the heap: it holds the states of connecting and of the handshake.
        let sending = Box::pin(self.0.exchange(&url, request));
        let (response, sender) = bounds.waited(None, url.authority(), sending).await?;
        let (head, body) = response.into_parts();
        let lease = pool::Lease::new(&self.0.pool, url.target(), sender);
        Ok(Response::new(head.status, head.headers, body, lease, bounds, &url))
    }
}

/// Why an exchange broke off: by what cannot be read, or by the other side.
fn interrupted(authority: &str, error: &hyper::Error) -> Error {
    let what = if error.is_parse() { "sent an invalid answer" } else { "hung up" };
    Error::new(ErrorKind::Interrupted, format!("{authority} {what}: {error}"))
}

impl Shared {
    async fn exchange(
        &self,
        url: &Url,
        mut request: hyper::Request<Full<Bytes>>,
    ) -> Result<(hyper::Response<Incoming>, Sender), Error> {
        loop {
            let kept = self.pool.take(url.target());
            let is_kept = kept.is_some();
            let mut sender = match kept {
                Some(sender) => sender,
                None => self.connected(url).await?,
            };
            if sender.ready().await.is_err() && is_kept {
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) if is_kept => request = unsent,
                    _ => {
                        return Err(interrupted(url.authority(), failed.error()));
                    }
                },
            }
        }
    }

    async fn connected(&self, url: &Url) -> Result<Sender, Error> {
        let unreachable = |why: String| {
            Error::new(ErrorKind::Unreachable, format!("{} cannot be reached: {why}", url.authority()))
        };
        let connecting = async {
            let target = url.target();
            let transport = self.connect.connect(target).await.map_err(|error| error.to_string())?;
            let transport = match target.is_encrypted {
                true => self.encryption.over(transport, &target.host).await?,
                false => transport,
            };
            let made = handshake(TokioIo::new(transport)).await.map_err(|error| error.to_string())?;
            let (sender, connection) = made;
            tokio::spawn(connection);
            Ok(sender)
        };
        match tokio::time::timeout(self.connect_timeout, connecting).await {
            Ok(made) => made.map_err(unreachable),
            Err(_) => {
                Err(unreachable(format!("no connection after {} s", self.connect_timeout.as_secs_f64())))
            }
        }
    }
}
