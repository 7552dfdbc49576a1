//! A response as server-sent events.

use super::response::Response;
use crate::error::{Error, ErrorKind};
use crate::sse::{Decoder, Event, TooLong};
use std::collections::VecDeque;
use std::time::Duration;

/// Maximum number of bytes between two events, beside those of an event: comments, and fields without data.
const MAX_BETWEEN: usize = 64 << 20;

/// The events of a response, one by one.
pub struct EventStream {
    response: Response,
    decoder: Decoder,
    max_event: usize,
    ready: VecDeque<Event>,
    /// Bytes since the last event.
    between: usize,
    is_too_long: bool,
}

impl EventStream {
    pub(super) fn new(response: Response, max_event: usize) -> EventStream {
        EventStream {
            response,
            decoder: Decoder::new(max_event),
            max_event,
            ready: VecDeque::new(),
            between: 0,
            is_too_long: false,
        }
    }

    /// The next event; none at the end of the stream.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.is_too_long {
                let message = format!(
                    "{} sent an event of more than {} bytes",
                    self.response.authority(),
                    self.max_event
                );
                return Err(Error::new(ErrorKind::TooLarge, message));
            }
            if self.between > self.max_event.saturating_add(MAX_BETWEEN) {
                let message =
                    format!("{} sent {} bytes without an event", self.response.authority(), self.between);
                return Err(Error::new(ErrorKind::TooLarge, message));
            }
            let Some(bytes) = self.response.chunk().await? else { return Ok(None) };
            let ready = &mut self.ready;
            let pushed = self.decoder.push(&bytes, &mut |event| ready.push_back(event));
            // What came before the event that is too long is still returned.
            self.is_too_long = pushed == Err(TooLong);
            self.between = if self.ready.is_empty() { self.between + bytes.len() } else { 0 };
        }
    }

    /// The id of the last event that had one. A client that reconnects sends it.
    pub fn last_id(&self) -> Option<&str> {
        self.decoder.last_id()
    }

    /// How long the sender asks a client to wait before it reconnects.
    pub fn retry(&self) -> Option<Duration> {
        self.decoder.retry().map(Duration::from_millis)
    }

    /// Reads the rest of the stream in the background; see [`Response::drain`].
    pub fn drain(self, patience: Duration) {
        self.response.drain(patience);
    }
}
