//! Work that outlasts whoever waits for it: dropped before its end, it goes on in a task of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::Handle;

/// The work of a request. A crash ends it, and nothing else.
pub(super) struct Lasting(Option<Pin<Box<dyn Future<Output = ()> + Send>>>);

impl Lasting {
    pub(super) fn new(work: impl Future<Output = ()> + Send + 'static) -> Lasting {
        Lasting(Some(Box::pin(work)))
    }
}

impl Future for Lasting {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<()> {
        let Some(work) = &mut self.0 else { return Poll::Ready(()) };
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(waker)));
        let is_over = !matches!(polled, Ok(Poll::Pending));
        if is_over {
            self.0 = None;
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        // Without a runtime there is nobody left to go on.
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::sync::{Notify, oneshot};

    #[tokio::test]
    async fn work_goes_on_when_nobody_waits_for_it() {
        let may_go_on = Arc::new(Notify::new());
        let (tell, told) = oneshot::channel();
        let waits = Arc::clone(&may_go_on);
        let mut work = Lasting::new(async move {
            waits.notified().await;
            let _ = tell.send(7);
        });
        assert!(is_pending(&mut work).await);
        drop(work);
        may_go_on.notify_one();
        assert_eq!(told.await, Ok(7));
    }

    #[tokio::test]
    async fn a_crash_ends_it() {
        Lasting::new(async { panic!("on purpose") }).await;
    }

    async fn is_pending(work: &mut Lasting) -> bool {
        std::future::poll_fn(|waker| Poll::Ready(Pin::new(&mut *work).poll(waker).is_pending())).await
    }
}
