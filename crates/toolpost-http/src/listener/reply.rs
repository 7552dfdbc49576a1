//! What goes back: a whole body, or events one by one.

use crate::sse;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

/// How often a silent stream sends a comment, so that nobody on the way takes it for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The reply to a request.
pub struct Reply(Response<Body>);

impl Reply {
    /// A reply with this body.
    pub fn new(status: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Reply {
        let mut reply = Response::new(Body::Whole(Full::new(body.into())));
        *reply.status_mut() = status;
        reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        Reply(reply)
    }

    /// A reply without a body.
    pub fn empty(status: StatusCode) -> Reply {
        let mut reply = Response::new(Body::Whole(Full::default()));
        *reply.status_mut() = status;
        Reply(reply)
    }

    /// One line of text for people.
    pub fn text(status: StatusCode, line: &str) -> Reply {
        Reply::new(status, "text/plain; charset=utf-8", format!("{line}\n"))
    }

    /// A JSON text.
    pub fn json(status: StatusCode, text: String) -> Reply {
        Reply::new(status, "application/json", text)
    }

    /// Server-sent events, until their source ends or the client hangs up. Nothing on the way may keep or delay them.
    pub fn events(source: Box<dyn EventSource>) -> Reply {
        let mut heartbeat = interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let reply = Response::new(Body::Events(Events { source: Some(source), heartbeat }));
        Reply(reply)
            .header(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))
            .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
            .header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
    }

    /// The same reply with this header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Reply {
        self.0.headers_mut().insert(name, value);
        self
    }

    pub(super) fn into_response(self) -> Response<Body> {
        self.0
    }
}

/// Where the events of a reply come from. Dropped when it has ended or the client hangs up.
pub trait EventSource: Send {
    /// The data of the next event, each of type `message`; none at the end.
    fn poll_next(&mut self, waker: &mut Context<'_>) -> Poll<Option<String>>;
}

pub(super) enum Body {
    Whole(Full<Bytes>),
    Events(Events),
}

pub(super) struct Events {
    source: Option<Box<dyn EventSource>>,
    heartbeat: Interval,
}

impl Events {
    fn next(&mut self, waker: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(source) = &mut self.source else { return Poll::Ready(None) };
        match source.poll_next(waker) {
            Poll::Ready(Some(data)) => Poll::Ready(Some(Bytes::from(sse::event("message", &data)))),
            Poll::Ready(None) => {
                self.source = None;
                Poll::Ready(None)
            }
            Poll::Pending => match self.heartbeat.poll_tick(waker) {
                Poll::Ready(_) => Poll::Ready(Some(Bytes::from_static(b": still here\n\n"))),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        waker: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Body::Whole(body) => Pin::new(body).poll_frame(waker),
            Body::Events(events) => events.next(waker).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Whole(body) => body.is_end_stream(),
            Body::Events(events) => events.source.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(body) => body.size_hint(),
            Body::Events(_) => SizeHint::default(),
        }
    }
}
