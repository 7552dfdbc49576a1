//! Step 11: statistics, the last results of each session, sinks.

use super::Executor;
use super::stats::{Histogram, Stats};
use crate::context::Context;
use crate::error::map_strings;
use crate::event::EventKind;
use crate::outcome::Outcome;
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Outcomes kept for each session.
const KEPT_RESULTS: usize = 16;
/// Sessions that outcomes are kept for.
const KEPT_SESSIONS: usize = 64;

/// What an executor remembers of its calls. Bounded, whatever is called.
#[derive(Default)]
pub(super) struct Records {
    times: Mutex<HashMap<String, Histogram>>,
    results: Mutex<IndexMap<String, VecDeque<Arc<Outcome>>>>,
}

impl Records {
    pub(super) fn stats(&self) -> Stats {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let all = times.get("").map(Histogram::summary).unwrap_or_default();
        let tools = times
            .iter()
            .filter(|(name, _)| !name.is_empty())
            .map(|(name, histogram)| (name.clone(), histogram.summary()))
            .collect();
        Stats { all, tools }
    }

    pub(super) fn last_results(&self, session: &str) -> Vec<Arc<Outcome>> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.get(session).map(|kept| kept.iter().cloned().collect()).unwrap_or_default()
    }

    /// `is_known` is false for a name that no tool has: such names are not counted one by one.
    fn add(&self, session: &str, outcome: &Outcome, is_known: bool) {
        let time = Duration::from_secs_f64(outcome.metadata.execution_time_ms.max(0.0) / 1e3);
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        for name in ["", &outcome.tool] {
            if name.is_empty() || is_known {
                match times.get_mut(name) {
                    Some(histogram) => histogram.add(time, outcome.is_success()),
                    None => times.entry(name.to_owned()).or_default().add(time, outcome.is_success()),
                }
            }
        }
        drop(times);
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        if !results.contains_key(session) {
            if results.len() >= KEPT_SESSIONS {
                results.shift_remove_index(0);
            }
            results.insert(session.to_owned(), VecDeque::new());
        }
        if let Some(kept) = results.get_mut(session) {
            if kept.len() >= KEPT_RESULTS {
                kept.pop_front();
            }
            kept.push_back(Arc::new(outcome.clone()));
        }
    }
}

impl Executor {
    /// Tells everybody that a call has ended.
    pub(super) async fn finish(&self, ctx: &Context, outcome: &Outcome) {
        ctx.record(|| EventKind::CallFinished {
            tool: outcome.tool.clone(),
            error: outcome.result.as_ref().err().cloned(),
            metadata: outcome.metadata.clone(),
        });
        let is_known =
            outcome.result.as_ref().err().is_none_or(|error| error.code() != crate::Code::ToolNotFound);
        self.inner.records.add(ctx.session(), outcome, is_known);
        self.after(ctx, outcome).await;
        for sink in &self.inner.sinks {
            if catch_unwind(AssertUnwindSafe(|| sink(outcome))).is_err() {
                ctx.record(|| EventKind::Warning {
                    message: format!("a result sink crashed after `{}`", outcome.tool),
                });
            }
        }
    }

    /// Arguments as the log may have them.
    pub(super) fn shown_arguments(&self, ctx: &Context, arguments: &Value) -> Value {
        if ctx.redactor().is_empty() {
            return arguments.clone();
        }
        map_strings(arguments.clone(), &|text| ctx.redactor().redact(text).into_owned())
    }
}
