//! What goes back over HTTP: one JSON text, or messages as events.

use super::lasting::Lasting;
use crate::session::Outlet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use toolpost_http::{EventSource, Reply, StatusCode};

/// What is not answered by then is answered as a stream, so that nobody on the way takes it for dead.
const MOMENT: Duration = Duration::from_secs(1);

/// One message of a stream.
enum Sent {
    /// Before the answer.
    Notice(String),
    /// The answer, and its status if nothing was sent before.
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

    /// The reply to what `work` does, which sends its answer here. Before this returns, the work is not a task.
    pub(super) async fn reply(mut self, mut work: Lasting) -> Reply {
        let first = tokio::select! {
            biased;
            // What was sent before the answer comes first.
            () = &mut work => self.receiver.try_recv().ok(),
            sent = self.receiver.recv() => sent,
            () = tokio::time::sleep(MOMENT) => None,
        };
        let first = match first {
            Some(Sent::Answer(answer, status)) => {
                return Reply::json(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), answer);
            }
            Some(Sent::Notice(notice)) => Some(notice),
            // It takes longer, or it was withdrawn, and there is nothing to say.
            None => None,
        };
        // What is left of it goes on.
        drop(work);
        let Opened { receiver, hang_up } = self;
        Reply::events(Box::new(OfRequest { first, receiver, is_answered: false, _hang_up: hang_up }))
    }
}

/// What is sent about one request; its answer is the last.
struct OfRequest {
    first: Option<String>,
    receiver: UnboundedReceiver<Sent>,
    is_answered: bool,
    /// Held for its drop.
    _hang_up: Option<HangUp>,
}

impl EventSource for OfRequest {
    fn poll_next(&mut self, waker: &mut Context<'_>) -> Poll<Option<String>> {
        if self.is_answered {
            return Poll::Ready(None);
        }
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        self.receiver.poll_recv(waker).map(|sent| match sent {
            Some(Sent::Notice(notice)) => Some(notice),
            Some(Sent::Answer(answer, _)) => {
                self.is_answered = true;
                Some(answer)
            }
            None => None,
        })
    }
}

/// The stream of what concerns no request; what is sent while nobody listens is lost, as lists can be asked for again.
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
    pub(super) fn listen(&self) -> Reply {
        let (sender, receiver) = unbounded_channel();
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        let ended = Box::pin(self.lifetime.0.clone().cancelled_owned());
        Reply::events(Box::new(OfSession { receiver, ended }))
    }
}

impl Outlet for Bell {
    fn send(&self, message: String) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        listener.take_if(|listener| listener.send(message).is_err());
    }
}

/// What is sent to a session, until it ends.
struct OfSession {
    receiver: UnboundedReceiver<String>,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl EventSource for OfSession {
    fn poll_next(&mut self, waker: &mut Context<'_>) -> Poll<Option<String>> {
        match self.receiver.poll_recv(waker) {
            Poll::Pending if self.ended.as_mut().poll(waker).is_ready() => Poll::Ready(None),
            polled => polled,
        }
    }
}
