//! The pauses before a request to a model is made again: how many, how long, and after what.

use std::time::{Duration, Instant};
use toolpost_core::activation::Fact;
use toolpost_core::model::{ModelError, ModelErrorKind};

/// The pauses of one step.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    times: u64,
    ms: u64,
    why: String,
    /// The one that may not be over: since when, and how long it was to be.
    last: Option<(Instant, Duration)>,
}

impl Pauses {
    /// One begins.
    pub(super) fn begin(&mut self, delay_ms: u64, error: &ModelError) {
        self.end();
        self.times += 1;
        self.why = match (error.status, error.kind) {
            (Some(status), _) => format!("status {status}"),
            (None, ModelErrorKind::RateLimited) => "too many requests".to_owned(),
            (None, ModelErrorKind::Server) => "a fault of the server".to_owned(),
            (None, ModelErrorKind::Network) => "a broken connection".to_owned(),
            (None, ModelErrorKind::TimedOut) => "silence".to_owned(),
            (None, _) => "an answer that could not be read".to_owned(),
        };
        self.last = Some((Instant::now(), Duration::from_millis(delay_ms)));
    }

    /// Something came after the last one, or nothing will.
    fn end(&mut self) {
        if let Some((since, planned)) = self.last.take() {
            let ms = since.elapsed().min(planned).as_millis();
            self.ms = self.ms.saturating_add(u64::try_from(ms).unwrap_or(u64::MAX));
        }
    }

    /// What is recorded of them; nothing where there were none.
    pub(super) fn fact(mut self, seq: u64) -> Option<Fact> {
        self.end();
        let Pauses { times, ms, why, .. } = self;
        (times > 0).then_some(Fact::Paused { seq, times, ms, why })
    }
}
