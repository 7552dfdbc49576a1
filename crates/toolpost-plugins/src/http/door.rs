//! Connections to one address: made when needed, kept a while for the next request, encrypted for `https`.
//!
//! Redirects are not followed: a header with a credential goes to the address that it was given for, and nowhere else.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// So many connections wait for the next request.
const MOST_IDLE: usize = 4;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// What a request is sent over.
pub(super) type Sender = SendRequest<Full<Bytes>>;

/// One address, and connections to it.
pub(super) struct Door {
    uri: Uri,
    host: String,
    port: u16,
    is_encrypted: bool,
    idle: Mutex<Vec<Sender>>,
}

impl Door {
    /// The address that a text writes.
    pub(super) fn new(url: &str) -> Result<Door, String> {
        let wrong = |why: &str| format!("`{url}` is no address of a server: {why}");
        let uri: Uri = url.parse().map_err(|_| wrong("write it as `https://host/path`"))?;
        let is_encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("it begins with `https://` or `http://`")),
        };
        let host = uri.host().ok_or_else(|| wrong("it has no host"))?.trim_matches(['[', ']']).to_owned();
        let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        Ok(Door { uri, host, port, is_encrypted, idle: Mutex::default() })
    }

    /// The path and query of the address.
    pub(super) fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }

    /// The host and port, as the server knows itself.
    pub(super) fn authority(&self) -> &str {
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        authority.rsplit('@').next().unwrap_or(authority)
    }

    /// Sends a request. With the answer comes what to give back when all of it is read.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Sender), String> {
        let mut request = request;
        loop {
            let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let is_kept = kept.is_some();
            let mut sender = match kept {
                Some(sender) => sender,
                None => self.connect().await?,
            };
            if sender.ready().await.is_err() && is_kept {
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                Err(mut failed) => match failed.take_message() {
                    // It was never sent: the server had hung up in the meantime.
                    Some(unsent) if is_kept => request = unsent,
                    _ => return Err(format!("{} hung up: {}", self.authority(), failed.error())),
                },
            }
        }
    }

    /// Keeps a connection for the next request.
    pub(super) fn keep(&self, sender: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|one| !one.is_closed());
        if idle.len() < MOST_IDLE && !sender.is_closed() {
            idle.push(sender);
        }
    }

    async fn connect(&self) -> Result<Sender, String> {
        let unreachable = |why: String| format!("{} cannot be reached: {why}", self.authority());
        let connecting = async {
            let stream = TcpStream::connect((self.host.as_str(), self.port))
                .await
                .map_err(|error| unreachable(error.to_string()))?;
            let _ = stream.set_nodelay(true);
            if !self.is_encrypted {
                return opened(stream).await.map_err(unreachable);
            }
            let name =
                ServerName::try_from(self.host.clone()).map_err(|error| unreachable(error.to_string()))?;
            let stream = TlsConnector::from(encryption().await.map_err(unreachable)?)
                .connect(name, stream)
                .await
                .map_err(|error| unreachable(format!("no trusted connection: {error}")))?;
            opened(stream).await.map_err(unreachable)
        };
        tokio::time::timeout(CONNECT, connecting)
            .await
            .unwrap_or_else(|_| Err(unreachable(format!("no connection after {} s", CONNECT.as_secs()))))
    }
}

async fn opened(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Result<Sender, String> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tokio::spawn(connection);
    Ok(sender)
}

/// How connections are encrypted: by the certificates that this machine trusts, read once.
async fn encryption() -> Result<Arc<ClientConfig>, String> {
    static READ: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    let read = || READ.get_or_init(trusting_this_machine).clone();
    tokio::task::spawn_blocking(read).await.map_err(|error| error.to_string())?
}

fn trusting_this_machine() -> Result<Arc<ClientConfig>, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map_or_else(String::new, |error| format!(" ({error})"));
        return Err(format!("this machine has no certificates to trust{why}; install ca-certificates"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::Door;

    #[test]
    fn addresses_are_read() {
        let door = Door::new("https://user@x.test:8443/mcp?a=b").unwrap();
        assert_eq!((door.path(), door.authority(), door.port), ("/mcp?a=b", "x.test:8443", 8443));
        let door = Door::new("http://[::1]/").unwrap();
        assert_eq!((door.host.as_str(), door.port, door.is_encrypted), ("::1", 80, false));
        for wrong in ["", "x.test/mcp", "ftp://x.test", "https://", "http://a b"] {
            assert!(Door::new(wrong).is_err(), "{wrong}");
        }
    }
}
