//! What is to be done next.

use super::State;
use super::transcript::{Answer, Slot, Turn};
use super::unusable;
use toolpost_core::activation::{Limits, Reason, Todo};
use toolpost_core::model::{Arguments, Finish, ModelErrorKind, ToolCall};

/// Maximum number of calls of one answer that are run; more are refused.
pub(super) const MOST_CALLS: usize = 64;
/// Maximum number of calls that run side by side.
const MOST_TOGETHER: usize = 16;
/// Answers in a row that no call could be read from, until the run ends.
const MOST_MALFORMED: u32 = 3;

/// What is to be done at the next step; nothing before a run has begun and after its end. Everything that is returned may be
/// done side by side.
pub fn decide(state: &State) -> Vec<Todo> {
    let state = state.by_log();
    let (Some(start), None) = (&state.start, state.ended()) else { return Vec::new() };
    // What is told it while all that it has started ends changes nothing any more.
    if let Some(reason) = state.finishing {
        return finish(reason);
    }
    if state.is_stop_asked {
        return finish(Reason::Stopped);
    }
    if start.limits.time_ms.is_some_and(|most| state.elapsed_ms() >= most) {
        return finish(Reason::Time);
    }
    if let Some(reason) = state.spent {
        return finish(reason);
    }
    if let Some(error) = &state.failed {
        return match error.kind {
            ModelErrorKind::TooLong => {
                compaction(state).map_or_else(|| finish(Reason::Model), |todo| vec![todo])
            }
            ModelErrorKind::Cancelled => finish(Reason::Stopped),
            _ if start.model.provider == "script" => finish(Reason::Script),
            _ => finish(Reason::Model),
        };
    }
    if let Some(answer) = state.turns.iter().rev().find_map(Turn::answer) {
        if !answer.is_done() {
            return match spent(state, &start.limits) {
                // Whoever cannot answer any more need not know.
                Some(reason) => finish(reason),
                None => calls(state, answer),
            };
        }
        let is_last = matches!(state.turns.last(), Some(Turn::Answer(_)));
        if is_last && let Some(reason) = ending(state, answer) {
            // Whatever it has started belongs to what it has to do.
            let waits = reason == Reason::Done && !state.background.is_empty();
            return if waits { vec![Todo::Wait] } else { finish(reason) };
        }
    }
    ask(state, &start.limits)
}

fn finish(reason: Reason) -> Vec<Todo> {
    vec![Todo::Finish { reason }]
}

/// The limit that is reached, if one is.
fn spent(state: &State, limits: &Limits) -> Option<Reason> {
    let tokens = state.usage.input.saturating_add(state.usage.output);
    if limits.turns.is_some_and(|most| state.answers_now() >= most) {
        Some(Reason::Turns)
    } else if limits.tokens.is_some_and(|most| tokens >= most) {
        Some(Reason::Tokens)
    } else if limits.cost.is_some_and(|most| state.cost().is_some_and(|cost| cost >= most)) {
        Some(Reason::Cost)
    } else {
        None
    }
}

/// Asks the model, unless a limit is reached or the conversation is too long for it.
fn ask(state: &State, limits: &Limits) -> Vec<Todo> {
    if let Some(reason) = spent(state, limits) {
        return finish(reason);
    }
    if limits.tokens.is_some_and(|most| {
        let used = state.usage.input.saturating_add(state.usage.output);
        used.saturating_add(state.tokens()) >= most
    }) {
        return finish(Reason::Tokens);
    }
    match is_full(state).then(|| compaction(state)).flatten() {
        Some(todo) => vec![todo],
        None => vec![Todo::Ask],
    }
}

/// Whether a run ends with this answer, and why.
fn ending(state: &State, answer: &Answer) -> Option<Reason> {
    if state.repeats.is_stuck() {
        return Some(Reason::Loop);
    }
    if state.malformed >= MOST_MALFORMED {
        return Some(Reason::Model);
    }
    if let Some(unusable) = answer.unusable {
        let limits = state.start().map(|start| &start.limits);
        let is_spent = limits.is_some_and(|limits| spent(state, limits).is_some());
        return (state.unusable >= unusable::MOST || is_spent).then(|| unusable.reason());
    }
    if !answer.calls.is_empty() {
        return None;
    }
    match answer.finish {
        Finish::Stop | Finish::ToolCalls | Finish::Other => Some(Reason::Done),
        Finish::Length => Some(Reason::Length),
        Finish::Refusal | Finish::Blocked => Some(Reason::Refused),
        Finish::Paused | Finish::Malformed => None,
    }
}

/// The calls of an answer that come next: what must not be run is answered, and of the others as many in order as may run
/// side by side.
fn calls(state: &State, answer: &Answer) -> Vec<Todo> {
    let mut todos = Vec::new();
    let mut together = Vec::new();
    let mut is_open = true;
    for (index, (call, slot)) in answer.calls.iter().zip(&answer.slots).enumerate() {
        if matches!(slot, Slot::Done(_)) {
            continue;
        }
        if let Some(text) = refusal(state, answer, index, call, slot) {
            todos.push(Todo::Refuse { index, text });
            continue;
        }
        let is_parallel = state.is_parallel(&call.name);
        // A call that may not run beside others waits for those before it, and those behind it wait for it.
        let may_join = is_open && (together.is_empty() || is_parallel) && together.len() < MOST_TOGETHER;
        if may_join {
            together.push(Todo::Call { index, call: state.call_id(answer.seq, index) });
        }
        is_open = may_join && is_parallel;
    }
    todos.extend(together);
    todos
}

/// What the model is told of a call that is not run; none for one that is.
fn refusal(state: &State, answer: &Answer, index: usize, call: &ToolCall, slot: &Slot) -> Option<String> {
    if let Arguments::Unparsable(_) = &call.arguments {
        let why = match answer.finish {
            Finish::Length => {
                "its arguments were cut off because the answer reached its limit of tokens; write less at once"
            }
            _ => "its arguments are not JSON; write one JSON object",
        };
        return Some(format!("Error: the call of `{}` was not run: {why}", call.name));
    }
    if answer.finish == Finish::Malformed {
        return Some(format!(
            "Error: the call of `{}` was not run: the answer that it stands in could not be read",
            call.name
        ));
    }
    if matches!(answer.finish, Finish::Refusal | Finish::Blocked) {
        return Some(format!(
            "Error: the call of `{}` was not run: the provider has blocked the answer that it stands in",
            call.name
        ));
    }
    if index >= MOST_CALLS {
        return Some(format!("Error: the call was not run: at most {MOST_CALLS} calls of one answer are"));
    }
    let is_idempotent = state.is_idempotent(&call.name);
    // The process that ran it is gone. What changes nothing is run again.
    if matches!(slot, Slot::Running) && !is_idempotent {
        let id = state.call_id(answer.seq, index);
        let known = match state.interrupted.get(&id) {
            Some(call) => call.known.as_str(),
            None => "look whether its change is there before you make it again",
        };
        return Some(format!(
            "Error: INTERRUPTED: the call of `{}` had started when its process ended; {known}",
            call.name
        ));
    }
    let times = state.repeats.is_too_often(call, is_idempotent)?;
    Some(format!(
        "Error: the call was not run: you have made it {times} times with the same result; do something else, or say what you have found"
    ))
}

/// Whether the conversation leaves too little of the model's window.
fn is_full(state: &State) -> bool {
    let Some(window) = state.start().and_then(|start| start.model.context_tokens) else { return false };
    let output = state.start().and_then(|start| start.model.output_tokens).unwrap_or(window / 8);
    let reserve = output.min(window / 4).max(window / 5);
    state.tokens() > window.saturating_sub(reserve)
}

/// The turns to be replaced by a summary: all but the last ones that fill about a third of the window.
fn compaction(state: &State) -> Option<Todo> {
    let window = state.start()?.model.context_tokens.unwrap_or_else(|| state.tokens());
    if state.turns.len() <= state.turns_at_compaction + 1 {
        return None;
    }
    let mut kept = 0_u64;
    let mut turns = state.turns.len() - 1;
    while turns > 1 && kept.saturating_add(state.turns[turns - 1].tokens()) < window / 3 {
        kept = kept.saturating_add(state.turns[turns - 1].tokens());
        turns -= 1;
    }
    // The first turn that stays must be the model's: results belong behind their calls.
    while turns > 0 && state.turns[turns].answer().is_none() {
        turns -= 1;
    }
    let is_done = |turn: &Turn| turn.answer().is_none_or(Answer::is_done);
    (turns > 0 && state.turns[..turns].iter().all(is_done)).then_some(Todo::Compact { turns })
}
