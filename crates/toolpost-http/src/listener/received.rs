//! A request of somebody else that was admitted.

use crate::error::{Error, ErrorKind};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Method, Request};
use std::time::Duration;

/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A request that a route answers.
pub struct Received(Request<Incoming>);

impl Received {
    pub(super) fn new(request: Request<Incoming>) -> Received {
        Received(request)
    }

    /// Its method.
    pub fn method(&self) -> &Method {
        self.0.method()
    }

    /// Its path, without the query.
    pub fn path(&self) -> &str {
        self.0.uri().path()
    }

    /// Its query, without the question mark.
    pub fn query(&self) -> Option<&str> {
        self.0.uri().query()
    }

    /// Its headers.
    pub fn headers(&self) -> &HeaderMap {
        self.0.headers()
    }

    /// Its headers, and its body if that has at most `max` bytes and comes in time.
    pub async fn into_body(self, max: usize) -> (HeaderMap, Result<Bytes, Error>) {
        let (head, body) = self.0.into_parts();
        let reading = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, max).collect());
        let bytes = match reading.await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                Err(Error::new(ErrorKind::TooLarge, format!("the body has more than {max} bytes")))
            }
            Ok(Err(_)) => Err(Error::new(ErrorKind::Interrupted, "the body could not be read")),
            Err(_) => Err(Error::new(ErrorKind::TimedOut, "the body took too long")),
        };
        (head.headers, bytes)
    }
}
