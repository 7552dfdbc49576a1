//! Step 11: statistics, the last results of each session, sinks.

use super::Executor;
use super::stats::{Histogram, Stats};
use crate::context::Context;
use crate::event::{EventKind, Told};
use crate::outcome::{AttachmentContent, Outcome};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Outcomes kept for each session.
const KEPT_RESULTS: usize = 16;
/// And so many bytes of them, about.
const KEPT_BYTES: usize = 8 << 20;
/// Sessions that outcomes are kept for.
const KEPT_SESSIONS: usize = 64;

/// An outcome, and about how many bytes it holds.
type Weighed = (usize, Arc<Outcome>);

/// What an executor remembers of its calls. Bounded, whatever is called.
#[derive(Default)]
pub(super) struct Records {
    times: Mutex<Times>,
    results: Mutex<IndexMap<String, Kept>>,
    has_no_results: bool,
}

#[derive(Default)]
struct Times {
    all: Histogram,
    tools: HashMap<String, Histogram>,
}

/// The last outcomes of a session.
#[derive(Default)]
struct Kept {
    outcomes: VecDeque<Weighed>,
    bytes: usize,
}

impl Kept {
    /// Keeps an outcome. Returns those that go for it.
    fn add(&mut self, (weight, outcome): Weighed) -> Vec<Weighed> {
        self.bytes += weight;
        self.outcomes.push_back((weight, outcome));
        let mut gone = Vec::new();
        // The last one is kept, however large.
        while self.outcomes.len() > KEPT_RESULTS || (self.bytes > KEPT_BYTES && self.outcomes.len() > 1) {
            let Some(oldest) = self.outcomes.pop_front() else { break };
            self.bytes -= oldest.0;
            gone.push(oldest);
        }
        gone
    }
}

impl Records {
    pub(super) fn without_results() -> Records {
        Records { has_no_results: true, ..Records::default() }
    }

    pub(super) fn stats(&self) -> Stats {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = times.tools.iter().map(|(name, histogram)| (name.clone(), histogram.summary()));
        Stats { all: times.all.summary(), tools: tools.collect() }
    }

    pub(super) fn last_results(&self, session: &str) -> Vec<Arc<Outcome>> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results
            .get(session)
            .map(|kept| kept.outcomes.iter().map(|(_, outcome)| outcome.clone()).collect())
            .unwrap_or_default()
    }

    /// Names that no tool has are not counted one by one.
    fn add(&self, session: &str, outcome: &Outcome, is_found: bool) {
        let time = Duration::from_secs_f64(outcome.metadata.execution_time_ms.max(0.0) / 1e3);
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.all.add(time, outcome.is_success());
        if is_found {
            match times.tools.get_mut(&outcome.tool) {
                Some(histogram) => histogram.add(time, outcome.is_success()),
                None => {
                    times.tools.entry(outcome.tool.clone()).or_default().add(time, outcome.is_success());
                }
            }
        }
        drop(times);
        if self.has_no_results {
            return;
        }
        // All that takes memory or gives it back is done while nobody waits for the lock.
        let weighed = (weight(outcome), Arc::new(outcome.clone()));
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        // The session that was quiet longest is the first to go.
        let is_last = results.last().is_some_and(|(last, _)| last == session);
        if !is_last {
            match results.get_index_of(session) {
                Some(index) => {
                    let last = results.len() - 1;
                    results.move_index(index, last);
                }
                None => {
                    if results.len() >= KEPT_SESSIONS {
                        results.shift_remove_index(0);
                    }
                    results.insert(session.to_owned(), Kept::default());
                }
            }
        }
        let gone = results.last_mut().map(|(_, kept)| kept.add(weighed));
        drop(results);
        drop(gone);
    }
}

/// About how many bytes an outcome holds.
fn weight(outcome: &Outcome) -> usize {
    fn of(value: &Value) -> usize {
        let inner = match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(of).sum(),
            Value::Object(map) => map.iter().map(|(key, value)| key.len() + of(value)).sum(),
            _ => 0,
        };
        inner + size_of::<Value>()
    }
    match &outcome.result {
        Err(error) => error.message().len() + error.details().values().map(of).sum::<usize>(),
        Ok(output) => {
            let attached = output.attachments.iter().map(|attachment| match &attachment.content {
                AttachmentContent::Data(text) | AttachmentContent::Handle(text) => text.len(),
            });
            output.title.len() + output.text.len() + of(&output.data) + attached.sum::<usize>()
        }
    }
}

impl Executor {
    /// Writes down that a call has ended. `is_found` is false for a name that no tool has.
    pub(super) fn record(&self, ctx: &Context, outcome: &Outcome, is_found: bool) {
        ctx.record(|| EventKind::CallFinished {
            tool: outcome.tool.clone(),
            output: outcome.result.as_ref().ok().map(Told::of),
            error: outcome.result.as_ref().err().cloned(),
            metadata: outcome.metadata.clone(),
        });
        self.inner.records.add(ctx.session(), outcome, is_found);
    }

    /// Hands the outcome to the sinks.
    pub(super) fn tell(&self, ctx: &Context, outcome: &Outcome) {
        for sink in &self.inner.sinks {
            if catch_unwind(AssertUnwindSafe(|| sink(outcome))).is_err() {
                ctx.record(|| EventKind::Warning {
                    message: format!("a result sink crashed after `{}`", outcome.tool),
                });
            }
        }
    }
}
