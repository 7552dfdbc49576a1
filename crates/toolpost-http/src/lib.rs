//! HTTP as toolpost needs it, in both directions, on HTTP/1.1.
//!
//! **Requests to others** (feature `client`): a [`Client`] sends a [`Request`] and returns a [`Response`], whose body is
//! read whole ([`Response::bytes`]), in pieces ([`Response::chunk`]) or as server-sent events ([`Response::events`]).
//! Each request has its own time-outs and can be cancelled; everything that is read has a limit that the caller states.
//! Certificates are those of the machine or the caller's own ([`Roots`]). Who opens connections can be replaced
//! ([`Connect`]): by a [`Proxy`], or by a caller that refuses addresses.
//!
//! **Requests of others** (feature `listener`): a [`Listener`] accepts connections within limits, lets in whoever its
//! [`Admission`] admits, and passes each request to one of its [`Routes`]. A [`Route`] knows nothing of tokens,
//! connections or their limits.
//!
//! This crate deliberately does not follow redirects (a header with a credential goes to the address that it was given
//! for, and nowhere else), does not retry a request that may have been received, keeps no cookies and decompresses
//! nothing. `hyper` and `rustls` are used here and nowhere else; what callers need of them is exported here.
//!
//! ```no_run
//! use std::time::Duration;
//! use toolpost_http::{Client, ClientOptions, Request, Url};
//!
//! # async fn example() -> Result<(), toolpost_http::Error> {
//! let client = Client::new(ClientOptions::default());
//! let url = Url::parse("https://example.com/")?;
//! let response = client.send(Request::get(url).timeout(Duration::from_secs(30))).await?;
//! let page = response.bytes(1 << 20).await?;
//! # drop(page);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "client")]
mod client;
mod error;
#[cfg(feature = "listener")]
mod listener;
pub mod sse;

#[cfg(feature = "client")]
pub use client::{
    Client, ClientOptions, Connect, Direct, EventStream, Proxy, Request, Response, Roots, Target, Transport,
    Url, percent_decoded,
};
pub use error::{Error, ErrorKind};
#[cfg(feature = "listener")]
pub use listener::{Admission, EventSource, Listener, Received, Reply, Route, Routes, is_same_secret};

pub use bytes::Bytes;
pub use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
pub use hyper::{Method, StatusCode};

use std::pin::Pin;

/// A future on the heap, as the traits of this crate return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
