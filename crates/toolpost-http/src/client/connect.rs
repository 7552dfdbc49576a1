//! Who opens connections. The seam for proxies, and for whoever must refuse an address.

use crate::BoxFuture;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Where a connection must lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// A name or an IP address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether the client encrypts the connection, after it was opened.
    pub is_encrypted: bool,
}

/// A stream of bytes in both directions.
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// Opens connections. Implemented by [`Direct`], by proxies (which return the tunnel to the target) and by callers that
/// refuse some addresses; called by the [`Client`](crate::Client), which then encrypts the connection if the target
/// says so. The certificate is checked against the target's host, whoever opened the connection.
pub trait Connect: Send + Sync {
    /// Opens a connection. The client limits how long this may take.
    fn connect<'a>(&'a self, target: &'a Target) -> BoxFuture<'a, io::Result<Box<dyn Transport>>>;
}

/// Connects directly, over TCP.
#[derive(Debug, Clone, Copy, Default)]
pub struct Direct;

impl Connect for Direct {
    fn connect<'a>(&'a self, target: &'a Target) -> BoxFuture<'a, io::Result<Box<dyn Transport>>> {
        Box::pin(async {
            let stream = TcpStream::connect((target.host.as_str(), target.port)).await?;
            let _ = stream.set_nodelay(true);
            Ok(Box::new(stream) as Box<dyn Transport>)
        })
    }
}
