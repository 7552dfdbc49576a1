//! How long a request may take, and who can cancel it.

use crate::error::{Error, ErrorKind};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) struct Bounds {
    /// For the whole request, body included, and how long that was.
    deadline: Option<(Instant, Duration)>,
    /// For each piece of the body.
    pub(super) idle: Option<Duration>,
    cancel: Option<CancellationToken>,
}

impl Bounds {
    pub(super) fn new(
        timeout: Option<Duration>,
        idle: Option<Duration>,
        cancel: Option<CancellationToken>,
    ) -> Bounds {
        // A time-out too far away to be a point in time is none.
        let deadline = timeout.and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout)));
        Bounds { deadline, idle, cancel }
    }

    /// Waits for something from `whom`, within the bounds, and within `limit` as well.
    pub(super) async fn waited<T>(
        &self,
        limit: Option<Duration>,
        whom: &str,
        future: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let late = |limit: Duration| {
            let message = format!("{whom} has not answered after {} s", limit.as_secs_f64());
            Err(Error::new(ErrorKind::TimedOut, message))
        };
        tokio::select! {
            biased;
            () = cancelled(self.cancel.as_ref()) => {
                Err(Error::new(ErrorKind::Cancelled, format!("the request to {whom} was cancelled")))
            }
            done = future => done,
            () = passed(self.deadline.map(|(at, _)| at)) => {
                late(self.deadline.map_or(Duration::ZERO, |(_, timeout)| timeout))
            }
            () = passed(limit.and_then(|limit| Instant::now().checked_add(limit))) => {
                late(limit.unwrap_or_default())
            }
        }
    }
}

async fn cancelled(cancel: Option<&CancellationToken>) {
    match cancel {
        Some(cancel) => cancel.cancelled().await,
        None => std::future::pending().await,
    }
}

async fn passed(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
