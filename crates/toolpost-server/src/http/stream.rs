//! What goes back over HTTP: a whole body, or events one by one.

use super::{event_stream, json};
use crate::session::Outlet;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

/// What is not answered by then is answered as a stream, so that nobody on the way takes it for dead.
const MOMENT: Duration = Duration::from_secs(1);

/// How often a silent stream shows that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// One message of a stream.
enum Sent {
    /// Before the answer.
    Notice(String),
    /// The answer, and its status where nothing was sent before.
    Answer(String, u16),
}

/// The way to the client of one request.
pub(super) struct RequestOutlet(UnboundedSender<Sent>);

impl RequestOutlet {
    pub(super) fn finish(&self, answer: String, status: u16) {
        // Fails where the client has hung up.
        let _ = self.0.send(Sent::Answer(answer, status));
    }
}

impl Outlet for RequestOutlet {
    fn send(&self, message: String) {
        let _ = self.0.send(Sent::Notice(message));
    }
}

/// A request whose answer has not begun.
pub(super) struct Opened {
    receiver: UnboundedReceiver<Sent>,
    hang_up: Option<HangUp>,
}

/// Cancels what is answered, if the client goes away before it has been.
struct HangUp(CancellationToken);

impl Drop for HangUp {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Opened {
    /// `cancel` fires when the client hangs up.
    pub(super) fn new(cancel: Option<CancellationToken>) -> (Arc<RequestOutlet>, Opened) {
        let (sender, receiver) = unbounded_channel();
        (Arc::new(RequestOutlet(sender)), Opened { receiver, hang_up: cancel.map(HangUp) })
    }

    pub(super) async fn response(mut self) -> Response<Body> {
        let first = tokio::time::timeout(MOMENT, self.receiver.recv()).await;
        let first = match first {
            Ok(Some(Sent::Answer(answer, status))) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
                return json(status, answer);
            }
            Ok(Some(Sent::Notice(notice))) => Some(notice),
            // It was withdrawn, and there is nothing to say.
            Ok(None) | Err(_) => None,
        };
        event_stream(Events::new(first, Source::Request(self.receiver, self.hang_up)))
    }
}

/// The stream of what concerns no request; what is told while nobody listens is lost, as lists can be asked for again.
#[derive(Clone)]
pub(super) struct Bell {
    listener: Arc<Mutex<Option<UnboundedSender<String>>>>,
    lifetime: Lifetime,
}

/// Ends with the session.
#[derive(Clone)]
pub(super) struct Lifetime(pub(super) CancellationToken);

impl Bell {
    pub(super) fn new(lifetime: Lifetime) -> Bell {
        Bell { listener: Arc::default(), lifetime }
    }

    /// Listens from now on; who listened before does not any more.
    pub(super) fn listen(&self) -> Response<Body> {
        let (sender, receiver) = unbounded_channel();
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        let ended = Box::pin(self.lifetime.0.clone().cancelled_owned());
        event_stream(Events::new(None, Source::Session(receiver, ended)))
    }
}

impl Outlet for Bell {
    fn send(&self, message: String) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        listener.take_if(|listener| listener.send(message).is_err());
    }
}

/// The body of a response.
pub(super) enum Body {
    Whole(Full<Bytes>),
    Events(Events),
}

/// Messages as server-sent events.
pub(super) struct Events {
    first: Option<String>,
    source: Source,
    heartbeat: Interval,
    is_over: bool,
}

enum Source {
    Request(UnboundedReceiver<Sent>, #[expect(dead_code, reason = "held for its drop")] Option<HangUp>),
    Session(UnboundedReceiver<String>, Pin<Box<tokio_util::sync::WaitForCancellationFutureOwned>>),
}

impl Events {
    fn new(first: Option<String>, source: Source) -> Events {
        let mut heartbeat = interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Events { first, source, heartbeat, is_over: false }
    }

    fn next(&mut self, waker: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(event(&first)));
        }
        let polled = match &mut self.source {
            Source::Request(receiver, _) => receiver.poll_recv(waker).map(|sent| match sent {
                Some(Sent::Notice(notice)) => Some(notice),
                Some(Sent::Answer(answer, _)) => {
                    self.is_over = true;
                    Some(answer)
                }
                None => None,
            }),
            Source::Session(receiver, ended) => match receiver.poll_recv(waker) {
                Poll::Pending if ended.as_mut().poll(waker).is_ready() => Poll::Ready(None),
                polled => polled,
            },
        };
        match polled {
            Poll::Ready(Some(message)) => Poll::Ready(Some(event(&message))),
            Poll::Ready(None) => {
                self.is_over = true;
                Poll::Ready(None)
            }
            Poll::Pending => match self.heartbeat.poll_tick(waker) {
                Poll::Ready(_) => Poll::Ready(Some(Bytes::from_static(b": still here\n\n"))),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

/// A message has no line ends in it, so that one line of data is enough.
fn event(message: &str) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
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
            Body::Events(events) => events.is_over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(body) => body.size_hint(),
            Body::Events(_) => SizeHint::default(),
        }
    }
}
