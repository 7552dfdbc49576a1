//! Where the time of a run went, by its events: pauses, answers of the model, calls, other agents, a person. Pure.

use std::collections::HashSet;
use toolpost_core::activation::{Fact, Todo};
use toolpost_core::event::EventKind;

/// Milliseconds of a run since it began or last went on after an end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TimeSpent {
    /// Asking the model, without the pauses.
    model: Span,
    /// Pauses before requests were made again: how long, how many, and what came before the last one.
    pauses: (u64, u64, String),
    /// The pauses since the model was last asked.
    paused_since: u64,
    /// Calls; those that ran side by side count once.
    calls: Span,
    running: HashSet<String>,
    /// Waiting for agents in the background.
    agents: Span,
    /// Waiting for a person.
    person: Span,
    asked: HashSet<String>,
}

/// Time that is measured from a beginning to an end, again and again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Span {
    since: Option<u64>,
    ms: u64,
}

impl Span {
    fn begin(&mut self, at_ms: u64) {
        self.since.get_or_insert(at_ms);
    }

    fn end(&mut self, at_ms: u64) {
        if let Some(since) = self.since.take() {
            self.ms = self.ms.saturating_add(at_ms.saturating_sub(since));
        }
    }
}

impl TimeSpent {
    /// One more fact.
    pub(super) fn fact(&mut self, fact: &Fact, at_ms: u64) {
        match fact {
            Fact::Decided { todos, .. } => {
                self.agents.end(at_ms);
                for todo in todos {
                    match todo {
                        Todo::Ask | Todo::Compact { .. } => self.model.begin(at_ms),
                        Todo::Wait => self.agents.begin(at_ms),
                        Todo::Call { .. } | Todo::Refuse { .. } | Todo::Finish { .. } => {}
                    }
                }
            }
            Fact::Paused { times, ms, why, .. } => {
                self.pauses.0 = self.pauses.0.saturating_add(*ms);
                self.pauses.1 = self.pauses.1.saturating_add(*times);
                self.pauses.2.clone_from(why);
                self.paused_since = self.paused_since.saturating_add(*ms);
            }
            Fact::Answered { .. }
            | Fact::ModelFailed { .. }
            | Fact::Spent { .. }
            | Fact::Compacted { .. } => {
                self.model.end(at_ms.saturating_sub(std::mem::take(&mut self.paused_since)));
                self.agents.end(at_ms);
            }
            Fact::StopAsked => self.agents.end(at_ms),
            // Nobody worked between the end of a process and the next one.
            Fact::Resumed { .. } => {
                let TimeSpent { model, calls, agents, person, .. } = &mut *self;
                [model, calls, agents, person].into_iter().for_each(|span| span.since = None);
                self.running.clear();
                self.asked.clear();
            }
            Fact::Continued { .. } => *self = TimeSpent::default(),
            Fact::Started { .. }
            | Fact::Offered { .. }
            | Fact::Returned { .. }
            | Fact::Spawned { .. }
            | Fact::Signalled { .. }
            | Fact::Ended { .. } => {}
        }
    }

    /// One more event of a call.
    pub(super) fn call(&mut self, call: &str, kind: &EventKind, at_ms: u64) {
        match kind {
            EventKind::CallStarted { .. } => {
                self.running.insert(call.to_owned());
                self.calls.begin(at_ms);
            }
            EventKind::CallFinished { .. } => {
                self.running.remove(call);
                if self.running.is_empty() {
                    self.calls.end(at_ms);
                }
                self.answered(call, at_ms);
            }
            EventKind::Asked { .. } => {
                self.asked.insert(call.to_owned());
                self.person.begin(at_ms);
            }
            EventKind::Answered { .. } => self.answered(call, at_ms),
            _ => {}
        }
    }

    fn answered(&mut self, call: &str, at_ms: u64) {
        self.asked.remove(call);
        if self.asked.is_empty() {
            self.person.end(at_ms);
        }
    }

    /// Where the time went, the most first: `21 min in 14 pauses that its model's provider asked for (last: status 429), …`.
    pub(super) fn told(&self) -> String {
        let TimeSpent { model, pauses, calls, agents, person, .. } = self;
        let (paused, times, why) = pauses;
        let plural = if *times == 1 { "" } else { "s" };
        let mut parts = vec![
            (
                *paused,
                format!("in {times} pause{plural} before the model was asked again (last after {why})"),
            ),
            (model.ms, "for answers of the model".to_owned()),
            (calls.ms, "in calls".to_owned()),
            (agents.ms, "waiting for other agents".to_owned()),
            (person.ms, "waiting for a person".to_owned()),
        ];
        parts.retain(|(ms, _)| *ms > 0);
        parts.sort_by_key(|(ms, _)| std::cmp::Reverse(*ms));
        let parts = parts.iter().map(|(ms, what)| format!("{} {what}", spelled(*ms)));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Milliseconds as a person says them: `350 ms`, `4.2 s`, `21 min 5 s`.
fn spelled(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpost_core::activation::Reason;

    #[test]
    fn every_span_is_counted_once() {
        let mut spent = TimeSpent::default();
        let ask = Fact::Decided { seq: 0, todos: vec![Todo::Ask] };
        spent.fact(&ask, 1_000);
        spent.fact(&Fact::Paused { seq: 0, times: 3, ms: 65_000, why: "status 429".to_owned() }, 70_000);
        let usage = toolpost_core::model::Usage::default();
        spent.fact(&Fact::Spent { seq: 0, reason: Reason::Time, usage, cost: None }, 70_000);
        for (call, at) in [("a", 70_000), ("b", 70_100)] {
            let started = EventKind::CallStarted { tool: "t".to_owned(), attempt: 1, dry_run: false };
            spent.call(call, &started, at);
        }
        for (call, at) in [("a", 70_200), ("b", 70_250), ("b", 99_000)] {
            let metadata = toolpost_core::outcome::Metadata::default();
            let finished =
                EventKind::CallFinished { tool: "t".to_owned(), output: None, error: None, metadata };
            spent.call(call, &finished, at);
        }
        spent.fact(&Fact::Decided { seq: 2, todos: vec![Todo::Wait] }, 71_000);
        spent.fact(&Fact::StopAsked, 71_900);
        assert_eq!(
            spent.told(),
            "1 min 5 s in 3 pauses before the model was asked again (last after status 429), 4.0 s for answers of the model, \
             900 ms waiting for other agents, 250 ms in calls"
        );
    }
}
