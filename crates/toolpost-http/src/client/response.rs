//! A response whose body is read by its owner. Read to the end, its connection is kept for the next request.

use super::bounds::Bounds;
use super::events::EventStream;
use super::pool::Lease;
use super::url::Url;
use crate::error::{Error, ErrorKind};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap};
use std::fmt;
use std::time::Duration;

/// The response to a request. Dropped before its end, its connection is closed.
pub struct Response {
    status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
    lease: Option<Lease>,
    bounds: Bounds,
    authority: String,
}

impl Response {
    pub(super) fn new(
        status: StatusCode,
        headers: HeaderMap,
        body: Incoming,
        lease: Lease,
        bounds: Bounds,
        url: &Url,
    ) -> Response {
        let mut response = Response {
            status,
            headers,
            body,
            lease: Some(lease),
            bounds,
            authority: url.authority().to_owned(),
        };
        if response.body.is_end_stream() {
            response.end();
        }
        response
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Its headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// A header as text, if there is one that is.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether its body is of this media type, whatever the parameters of the type are.
    pub fn is_of_type(&self, media_type: &str) -> bool {
        let given = self.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        given.split(';').next().is_some_and(|given| given.trim().eq_ignore_ascii_case(media_type))
    }

    /// The next piece of its body; none at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let (body, authority) = (&mut self.body, &self.authority);
            let reading = async {
                match body.frame().await {
                    Some(Ok(frame)) => Ok(Some(frame)),
                    Some(Err(error)) => {
                        let message = format!("{authority} hung up: {error}");
                        Err(Error::new(ErrorKind::Interrupted, message))
                    }
                    None => Ok(None),
                }
            };
            match self.bounds.waited(self.bounds.idle, &self.authority, reading).await? {
                // Trailers are not looked at.
                Some(frame) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                None => {
                    self.end();
                    return Ok(None);
                }
            }
        }
    }

    /// Its whole body, if that has at most `max` bytes.
    pub async fn bytes(mut self, max: usize) -> Result<Bytes, Error> {
        // What is announced to be too large is not read at all.
        let mut is_too_large = self.body.size_hint().lower() > max as u64;
        let mut all = BytesMut::new();
        while !is_too_large && let Some(bytes) = self.chunk().await? {
            is_too_large = all.len() + bytes.len() > max;
            all.extend_from_slice(&bytes);
        }
        if is_too_large {
            let message = format!("{} sent a body of more than {max} bytes", self.authority);
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(all.freeze())
    }

    /// Its body as server-sent events of at most `max_event` bytes each.
    pub fn events(self, max_event: usize) -> EventStream {
        EventStream::new(self, max_event)
    }

    /// Reads the rest of its body in the background, for at most so long, so that its connection can be kept. For a
    /// response that has said all that its caller wanted to know.
    pub fn drain(mut self, patience: Duration) {
        if let (true, Ok(runtime)) = (self.lease.is_some(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                let rest = async { while let Ok(Some(_)) = self.chunk().await {} };
                let _ = tokio::time::timeout(patience, rest).await;
            });
        }
    }

    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    fn end(&mut self) {
        if let Some(lease) = self.lease.take() {
            lease.end();
        }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("from", &self.authority)
            .finish_non_exhaustive()
    }
}
