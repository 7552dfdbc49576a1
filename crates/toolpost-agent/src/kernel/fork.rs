//! Another run with the same past: the events of one up to a step, under new ids. Pure.

use super::call_id;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use toolpost_core::Event;
use toolpost_core::activation::{Fact, Start, Todo};
use toolpost_core::event::EventKind;

/// What a fork differs in from the run that it comes from.
pub struct Fork<'a> {
    /// The run that it comes from.
    pub from: &'a str,
    /// The first step that is left out; none for all but the end.
    pub at: Option<u64>,
    /// Its id.
    pub activation: &'a str,
    /// Its session.
    pub session: &'a str,
    /// What it depends on, made from what the other one does.
    pub start: &'a dyn Fn(Start) -> Start,
}

impl Fork<'_> {
    /// The events of the new run. Agents that the other one has left at work are not taken along.
    pub fn events(&self, events: &[Event]) -> Vec<Arc<Event>> {
        let mut calls: HashMap<String, String> = HashMap::new();
        // A conversation has ended after each of its answers; only behind its last message is there an end to leave out.
        let mut goes_on = events
            .iter()
            .filter(|event| event.activation.as_deref() == Some(self.from))
            .filter(|event| matches!(&event.kind, EventKind::Activation { fact: Fact::Continued { .. } }))
            .count();
        let mut last_answer = 0;
        let mut copied = Vec::new();
        for event in events.iter().filter(|event| event.activation.as_deref() == Some(self.from)) {
            let mut event = event.clone();
            if let EventKind::Activation { fact } = &mut event.kind {
                match fact {
                    Fact::Decided { seq, .. } if self.at.is_some_and(|at| *seq >= at) => break,
                    Fact::Ended { .. } if goes_on == 0 => break,
                    Fact::Continued { .. } => goes_on = goes_on.saturating_sub(1),
                    Fact::StopAsked if goes_on == 0 => continue,
                    Fact::Spawned { .. } => continue,
                    Fact::Started { start } => **start = (self.start)((**start).clone()),
                    Fact::Answered { seq, .. } => last_answer = *seq,
                    Fact::Decided { todos, .. } => {
                        for todo in todos {
                            if let Todo::Call { index, call } = todo {
                                let new = call_id(self.activation, last_answer, *index);
                                calls.insert(std::mem::replace(call, new.clone()), new);
                            }
                        }
                    }
                    Fact::Resumed { interrupted } => interrupted.iter_mut().for_each(|one| {
                        one.call = self.renamed(&mut calls, &one.call);
                    }),
                    _ => {}
                }
            }
            // What had ended in a change of the store is not changed again.
            let is_of_store = matches!(
                event.kind,
                EventKind::FileStored { .. }
                    | EventKind::TaskChanged { .. }
                    | EventKind::TodosChanged { .. }
                    | EventKind::ChangesUndone { .. }
            );
            if is_of_store {
                continue;
            }
            if let EventKind::CallRequested { parent: Some(parent), .. } = &mut event.kind {
                *parent = self.renamed(&mut calls, parent);
            }
            if let EventKind::CallFinished { metadata, .. } = &mut event.kind {
                metadata.forked = true;
            }
            event.call = event.call.map(|call| self.renamed(&mut calls, &call));
            event.activation = Some(self.activation.to_owned());
            event.session = self.session.to_owned();
            copied.push(Arc::new(event));
        }
        copied
    }

    /// The new id of a call.
    fn renamed(&self, calls: &mut HashMap<String, String>, call: &str) -> String {
        let new = || {
            let hash = Sha256::digest(format!("{}\0{call}", self.activation));
            let tail: String = toolpost_core::text::hex(&hash).chars().take(16).collect();
            format!("{}{tail}", call.chars().take(10).collect::<String>())
        };
        calls.entry(call.to_owned()).or_insert_with(new).clone()
    }
}
