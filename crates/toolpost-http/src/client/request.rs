//! A request, with its own time-outs.

use super::Url;
use bytes::Bytes;
use hyper::Method;
use hyper::header::HeaderMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A request to be sent.
#[derive(Debug)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Its address.
    pub url: Url,
    /// Its headers; `Host` and `Content-Length` are added.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// How long everything may take, from the connection to the end of the response's body; none: any time.
    pub timeout: Option<Duration>,
    /// How long the other side may be silent within the response's body; none: any time.
    pub idle_timeout: Option<Duration>,
    /// Cancels the request and the reading of its response.
    pub cancel: Option<CancellationToken>,
}

impl Request {
    /// A request without headers, limits and body.
    pub fn new(method: Method, url: Url) -> Request {
        Request {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            timeout: None,
            idle_timeout: None,
            cancel: None,
        }
    }

    /// A GET request.
    pub fn get(url: Url) -> Request {
        Request::new(Method::GET, url)
    }

    /// A POST request.
    pub fn post(url: Url, body: impl Into<Bytes>) -> Request {
        Request { body: body.into(), ..Request::new(Method::POST, url) }
    }

    /// The same request with these headers.
    #[must_use]
    pub fn headers(mut self, headers: HeaderMap) -> Request {
        self.headers = headers;
        self
    }

    /// The same request, which may take so long in all.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Request {
        self.timeout = Some(timeout);
        self
    }

    /// The same request, within whose response the other side may be silent for so long.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Request {
        self.idle_timeout = Some(timeout);
        self
    }

    /// The same request, which ends when this token is cancelled.
    #[must_use]
    pub fn cancel(mut self, cancel: CancellationToken) -> Request {
        self.cancel = Some(cancel);
        self
    }
}
