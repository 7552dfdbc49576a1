//! A recorded run, told again: answers and results come from its events, and every decision is made anew. Pure; nothing runs.

use super::{Ended, State, decide};
use serde_json::Value;
use std::fmt;
use toolpost_core::Event;
use toolpost_core::activation::{Fact, Todo};
use toolpost_core::event::EventKind;
use toolpost_core::model::{Arguments, Message, Part, Role};

/// The first event of a run that differs from what the kernel makes of the events before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Its place among the events, from 0.
    pub place: usize,
    /// What was recorded.
    pub recorded: String,
    /// What follows from the events before it.
    pub replayed: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { place, recorded, replayed } = self;
        write!(f, "event {}: recorded {recorded}, replayed {replayed}", place + 1)
    }
}

/// Tells a run again, from the events of its session. Where it began in another run, from which it was forked, that part is
/// taken as it is.
pub fn replay(activation: &str, events: &[Event]) -> Result<State, Difference> {
    let mut state = State::new(activation);
    for (place, event) in events.iter().enumerate() {
        if event.activation.as_deref() != Some(activation) {
            continue;
        }
        if let EventKind::Activation { fact } = &event.kind {
            check(&state, fact).map_err(|(recorded, replayed)| Difference { place, recorded, replayed })?;
        }
        state.apply(event);
    }
    Ok(state)
}

/// Compares what the kernel has decided with what it decides.
fn check(state: &State, fact: &Fact) -> Result<(), (String, String)> {
    match fact {
        // What comes after the end, by a process that had lost the run, changes nothing.
        _ if state.ended().is_some() => Ok(()),
        Fact::Decided { seq, todos } => {
            let (expected, decided) = (state.next_seq(), decide(state));
            match *seq == expected && *todos == decided {
                true => Ok(()),
                false => Err((
                    format!("step {seq}: {}", shown(todos)),
                    format!("step {expected}: {}", shown(&decided)),
                )),
            }
        }
        Fact::Ended { reason, text, usage, cost, .. } => {
            let Ended { text: expected, usage: used, cost: costs, .. } = state.ending(*reason);
            match (text, usage) == (&expected, &used) && is_same_cost(*cost, costs) {
                true => Ok(()),
                false => Err((
                    format!("the end {reason:?} with {} bytes of text", text.len()),
                    format!("one with {} bytes", expected.len()),
                )),
            }
        }
        _ => Ok(()),
    }
}

/// Whether two sums are the same, in whichever order they were made.
fn is_same_cost(one: Option<f64>, other: Option<f64>) -> bool {
    const ROUNDING: f64 = 1e-9;
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= ROUNDING * one.abs().max(1.0),
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn shown(todos: &[Todo]) -> String {
    let shown = serde_json::to_value(todos).unwrap_or(Value::Null).to_string();
    match shown.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

impl State {
    /// The whole conversation for a person: what the agent was told, said, called and got.
    pub fn transcript(&self) -> String {
        let mut text = String::new();
        if let Some(start) = self.start() {
            text.push_str(&format!("# {} ({})\n", start.agent, self.activation()));
            if !start.system.trim().is_empty() {
                section(&mut text, "instruction", start.system.trim_end());
            }
        }
        for message in self.messages(&|_, _| super::Extra::default()) {
            add(&mut text, &message);
        }
        text
    }
}

fn section(text: &mut String, title: &str, body: &str) {
    text.push_str(&format!("\n## {title}\n\n{body}\n"));
}

fn add(text: &mut String, message: &Message) {
    for part in &message.parts {
        match (part, message.role) {
            (Part::Text { text: body, .. }, Role::User) => section(text, "told", body.trim_end()),
            (Part::Text { text: body, .. }, Role::Assistant) => section(text, "said", body.trim_end()),
            (Part::Thinking { text: body, .. }, _) if !body.trim().is_empty() => {
                section(text, "thought", body.trim_end());
            }
            (Part::ToolCall(call), _) => {
                let arguments = match &call.arguments {
                    Arguments::Json(value) => value.to_string(),
                    Arguments::Unparsable(text) => text.clone(),
                };
                section(text, &format!("called {}", call.name), &arguments);
            }
            (Part::ToolResult(result), _) => {
                let title = if result.is_error { "failed" } else { "got" };
                section(text, &format!("{title} {}", result.name), result.text.trim_end());
            }
            (Part::File(file), _) => section(text, "file", &file.filename),
            (Part::Thinking { .. } | Part::Opaque(_), _) => {}
        }
    }
}
