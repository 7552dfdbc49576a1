//! The kernel over generated histories: it never panics, never repeats what is done, never exceeds a limit, and the same
//! events give the same decision.

use serde_json::json;
use std::collections::HashSet;
use toolpost_agent::kernel::{Extra, State, call_id, decide};
use toolpost_core::activation::{Fact, Limits, OfferedTool, Reason, Start, Todo};
use toolpost_core::event::{EventKind, Told};
use toolpost_core::model::{
    Arguments, Finish, ModelError, ModelErrorKind, Part, Profile, Response, ToolCall, Usage,
};
use toolpost_core::outcome::Metadata;
use toolpost_core::{Code, Event, ToolError};

const RUN: &str = "01kxyzabcdefghjkmnpqrstvwx";

/// Numbers that differ by seed and nothing else.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }

    pub(crate) fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}

pub(crate) fn event(at_ms: u64, call: Option<&str>, kind: EventKind) -> Event {
    Event {
        at_ms,
        session: "s".to_owned(),
        sequence: 0,
        agent: Some("a".to_owned()),
        activation: Some(RUN.to_owned()),
        call: call.map(str::to_owned),
        kind,
    }
}

fn fact(at_ms: u64, fact: Fact) -> Event {
    event(at_ms, None, EventKind::Activation { fact })
}

pub(crate) fn response(text: &str, calls: &[(&str, Arguments)], finish: Finish, usage: Usage) -> Response {
    let mut parts = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
    for (index, (name, arguments)) in calls.iter().enumerate() {
        parts.push(Part::ToolCall(ToolCall {
            id: format!("c{index}"),
            name: (*name).to_owned(),
            arguments: arguments.clone(),
            opaque: None,
        }));
    }
    Response {
        parts,
        finish,
        finish_raw: None,
        note: None,
        usage,
        queries: Vec::new(),
        sources: Vec::new(),
        model: None,
        surplus_calls: 0,
    }
}

fn offered(name: &str, parallel: bool, idempotent: bool) -> OfferedTool {
    OfferedTool { name: name.to_owned(), tool: name.to_owned(), parallel, idempotent }
}

fn start(random: &mut Random) -> Start {
    let mut some = |most: u64| if random.is(40) { Some(random.below(most)) } else { None };
    let (turns, tokens, time_ms) = (some(8), some(4_000), some(4_000));
    let window = some(3_000).map(|window| window + 200);
    let cost = random.is(30).then(|| random.below(50) as f64 / 1_000.0);
    Start {
        agent: "a".to_owned(),
        task: "do it".to_owned(),
        model: Profile { context_tokens: window, ..Profile::default() },
        tools: vec![
            offered("read", true, true),
            offered("grep", true, true),
            offered("edit", false, false),
            offered("bash", false, false),
        ],
        limits: Limits { turns, tokens, cost, time_ms, ..Limits::default() },
        ..Start::default()
    }
}

fn answer(random: &mut Random) -> Response {
    let count = if random.is(25) { 0 } else { random.below(6) + u64::from(random.is(3)) * 70 };
    let names = ["read", "grep", "edit", "bash", "unknown", ""];
    let calls: Vec<(&str, Arguments)> = (0..count)
        .map(|_| {
            let arguments = match random.is(15) {
                true => Arguments::Unparsable("{\"a\":".to_owned()),
                false => Arguments::Json(json!({"n": random.below(3)})),
            };
            (*random.pick(&names), arguments)
        })
        .collect();
    let all = [
        Finish::Stop,
        Finish::ToolCalls,
        Finish::Length,
        Finish::Refusal,
        Finish::Blocked,
        Finish::Paused,
        Finish::Malformed,
        Finish::Other,
    ];
    let finish = if random.is(70) { Finish::ToolCalls } else { *random.pick(&all) };
    let usage = Usage { input: random.below(800), output: random.below(300), ..Usage::default() };
    response(if random.is(50) { "thinking aloud" } else { "" }, &calls, finish, usage)
}

fn finished(random: &mut Random, at: u64, call: &str) -> Event {
    let text = format!("result {}", random.below(3)).repeat(1 + random.below(40) as usize);
    let error = random.is(20).then(|| ToolError::new(Code::ReadError, "cannot be read"));
    let output =
        error.is_none().then(|| Told { title: String::new(), text, left_out: 0, attachments: vec![] });
    let kind =
        EventKind::CallFinished { tool: "read".to_owned(), output, error, metadata: Metadata::default() };
    event(at, Some(call), kind)
}

/// An event that nobody asked for.
fn stray(random: &mut Random, at: u64, history: &[Event]) -> Event {
    let seq = random.below(12);
    match random.below(9) {
        0 if !history.is_empty() => random.pick(history).clone(),
        1 => fact(at, Fact::Answered { seq, response: Box::new(answer(random)), cost: Some(0.01) }),
        2 => fact(
            at,
            Fact::Decided { seq, todos: vec![Todo::Ask, Todo::Call { index: 70, call: "x".to_owned() }] },
        ),
        3 => {
            let call = call_id(RUN, seq, random.below(5) as usize);
            finished(random, at, &call)
        }
        4 => {
            let error = ModelError::new(ModelErrorKind::TooLong, "too long");
            fact(
                at,
                Fact::ModelFailed { seq, error, text: String::new(), usage: Usage::default(), cost: None },
            )
        }
        5 => {
            let (turns, usage) = (random.below(9) as usize, Usage::default());
            fact(at, Fact::Compacted { seq, turns, summary: "s".to_owned(), usage, cost: None })
        }
        6 => fact(
            at,
            Fact::Signalled { from: "you".to_owned(), text: "and this".to_owned(), id: None, ended: None },
        ),
        7 => Event { activation: Some("other".to_owned()), ..fact(at, Fact::StopAsked) },
        _ => fact(at, Fact::Started { start: Box::new(start(random)) }),
    }
}

/// What must hold of a decision, whatever came before.
fn check_decision(state: &State, history: &[Event], todos: &[Todo]) {
    let Some(start) = state.start() else {
        assert!(todos.is_empty());
        return;
    };
    if state.ended().is_some() {
        assert!(todos.is_empty());
        return;
    }
    assert!(!todos.is_empty(), "a run that has not ended has something to do");
    let limits = &start.limits;
    let goes_on = todos.iter().any(|todo| matches!(todo, Todo::Ask | Todo::Call { .. }));
    if goes_on {
        let used = state.usage().input + state.usage().output;
        assert!(limits.turns.is_none_or(|most| state.answers() < most), "turns");
        assert!(limits.tokens.is_none_or(|most| used < most), "tokens");
        assert!(limits.cost.is_none_or(|most| state.cost().is_none_or(|cost| cost < most)), "cost");
        let first = history.iter().find(|event| {
            matches!(event.kind, EventKind::Activation { fact: Fact::Started { .. } })
                && event.activation.as_deref() == Some(RUN)
        });
        let last = history
            .iter()
            .filter(|event| event.activation.as_deref() == Some(RUN))
            .map(|event| event.at_ms)
            .max();
        let elapsed = last.unwrap_or(0) - first.map_or(0, |event| event.at_ms);
        assert!(limits.time_ms.is_none_or(|most| elapsed < most), "time");
    }
    let mut asked = 0;
    for todo in todos {
        match todo {
            Todo::Call { index, call } => {
                let wanted = state.last_call(*index).expect("the call is there").1;
                assert!(
                    matches!(wanted.arguments, Arguments::Json(_)),
                    "a call that cannot be read is not run"
                );
                let is_ours = |event: &&Event| {
                    event.call.as_deref() == Some(call) && event.activation.as_deref() == Some(RUN)
                };
                // What was decided, and has ended since, is done.
                let decided = history.iter().position(|event| match &event.kind {
                    EventKind::Activation { fact: Fact::Decided { todos, .. } } => todos.contains(todo),
                    _ => false,
                });
                let since = &history[decided.unwrap_or(history.len())..];
                let done = since
                    .iter()
                    .filter(is_ours)
                    .any(|event| matches!(event.kind, EventKind::CallFinished { .. }));
                assert!(!done, "a call that is done is not run again");
                let is_idempotent = matches!(wanted.name.as_str(), "read" | "grep");
                let has_started = since
                    .iter()
                    .filter(is_ours)
                    .any(|event| matches!(event.kind, EventKind::CallStarted { .. }));
                assert!(
                    !has_started || is_idempotent,
                    "a started call that may change something is not run again"
                );
            }
            Todo::Ask => asked += 1,
            _ => {}
        }
    }
    assert!(asked <= 1);
    let is_alone = |todo: &Todo| matches!(todo, Todo::Ask | Todo::Finish { .. } | Todo::Compact { .. });
    assert!(todos.len() == 1 || !todos.iter().any(is_alone), "{todos:?}");
    let places: HashSet<usize> = todos
        .iter()
        .filter_map(|todo| match todo {
            Todo::Call { index, .. } | Todo::Refuse { index, .. } => Some(*index),
            _ => None,
        })
        .collect();
    assert!(places.is_empty() || places.len() == todos.len(), "a call is decided once in a step");
}

/// One history: the kernel decides, the world does what it likes.
fn history(seed: u64) -> Vec<Event> {
    let mut random = Random(seed);
    let mut at = 1_000;
    let mut events = Vec::new();
    let mut state = State::new(RUN);
    let mut done: HashSet<String> = HashSet::new();
    macro_rules! push {
        ($event:expr) => {{
            let event = $event;
            state.apply(&event);
            events.push(event);
        }};
    }
    if random.is(97) {
        push!(fact(at, Fact::Started { start: Box::new(start(&mut random)) }));
    }
    let has_strays = random.is(50);
    for _ in 0..12 {
        at += random.below(300);
        while has_strays && random.is(30) {
            push!(stray(&mut random, at, &events));
        }
        let todos = decide(&state);
        assert_eq!(todos, decide(&state.clone()), "the same state, the same decision");
        check_decision(&state, &events, &todos);
        if todos.is_empty() {
            break;
        }
        for todo in &todos {
            if let Todo::Call { call, .. } = todo {
                assert!(has_strays || !done.contains(call), "a call that is done is not run again");
            }
        }
        let seq = state.next_seq();
        push!(fact(at, Fact::Decided { seq, todos: todos.clone() }));
        for todo in todos {
            at += random.below(200);
            match todo {
                Todo::Ask if random.is(90) => {
                    let cost = random.is(80).then(|| random.below(20) as f64 / 1_000.0);
                    push!(fact(at, Fact::Answered { seq, response: Box::new(answer(&mut random)), cost }));
                }
                Todo::Ask => {
                    let kinds = [ModelErrorKind::TooLong, ModelErrorKind::Server, ModelErrorKind::Cancelled];
                    let error = ModelError::new(*random.pick(&kinds), "no");
                    push!(fact(
                        at,
                        Fact::ModelFailed {
                            seq,
                            error,
                            text: String::new(),
                            usage: Usage::default(),
                            cost: None
                        }
                    ));
                }
                Todo::Call { call, .. } => {
                    if random.is(95) {
                        let kind =
                            EventKind::CallStarted { tool: "t".to_owned(), attempt: 1, dry_run: false };
                        push!(event(at, Some(&call), kind));
                    }
                    // Some processes die before the end.
                    if random.is(92) {
                        push!(finished(&mut random, at, &call));
                        done.insert(call);
                    }
                }
                Todo::Refuse { .. } | Todo::Wait => {}
                Todo::Compact { turns } => {
                    let usage = Usage { input: random.below(500), output: 50, ..Usage::default() };
                    let summary = "what was".to_owned();
                    push!(fact(at, Fact::Compacted { seq, turns, summary, usage, cost: Some(0.001) }));
                }
                Todo::Finish { reason } => {
                    let ended = state.ending(reason);
                    let (text, error, usage, cost) = (ended.text, ended.error, ended.usage, ended.cost);
                    push!(fact(
                        at,
                        Fact::Ended { seq, reason, text, error, code: None, usage, cost, unpriced: 0 }
                    ));
                }
            }
        }
    }
    // Folded once more from the beginning, or from JSON, it is the same.
    let again = State::of(RUN, &events);
    assert_eq!(decide(&again), decide(&state));
    assert_eq!(again.messages(&|_, _| Extra::default()), state.messages(&|_, _| Extra::default()));
    if seed.is_multiple_of(50) {
        let text = serde_json::to_string(&events).unwrap();
        let events: Vec<Event> = serde_json::from_str(&text).unwrap();
        assert_eq!(decide(&State::of(RUN, &events)), decide(&state));
    }
    events
}

#[test]
fn generated_histories_keep_every_promise() {
    let mut reasons: HashSet<Reason> = HashSet::new();
    let mut compactions = 0;
    for seed in 0..10_000 {
        for event in history(seed) {
            match event.kind {
                EventKind::Activation { fact: Fact::Ended { reason, .. } } => {
                    reasons.insert(reason);
                }
                EventKind::Activation { fact: Fact::Compacted { .. } } => compactions += 1,
                _ => {}
            }
        }
    }
    // The generator reaches what it is meant to test.
    for reason in [
        Reason::Done,
        Reason::Turns,
        Reason::Tokens,
        Reason::Cost,
        Reason::Time,
        Reason::Model,
        Reason::Refused,
        Reason::Length,
    ] {
        assert!(reasons.contains(&reason), "{reason:?} was never reached");
    }
    assert!(compactions > 100, "{compactions}");
}

/// The decisions of a run whose model gives these answers; each call has the result that is given for it.
fn decisions(
    limits: Limits,
    answers: Vec<Response>,
    result: impl Fn(usize) -> String,
) -> (Vec<String>, State) {
    let tools = vec![offered("read", true, true), offered("edit", false, false)];
    let start = Start { task: "t".to_owned(), limits, tools, ..Start::default() };
    let mut events = vec![fact(0, Fact::Started { start: Box::new(start) })];
    let mut answers = answers.into_iter();
    let (mut shown, mut calls) = (Vec::new(), 0);
    for seq in 0..60 {
        let state = State::of(RUN, &events);
        let todos = decide(&state);
        if todos.is_empty() {
            break;
        }
        shown.push(
            todos
                .iter()
                .map(|todo| match todo {
                    Todo::Ask => "ask".to_owned(),
                    Todo::Call { index, .. } => format!("call{index}"),
                    Todo::Refuse { index, .. } => format!("refuse{index}"),
                    Todo::Compact { turns } => format!("compact{turns}"),
                    Todo::Wait => "wait".to_owned(),
                    Todo::Finish { reason } => format!("{reason:?}"),
                })
                .collect::<Vec<_>>()
                .join(" "),
        );
        events.push(fact(seq, Fact::Decided { seq, todos: todos.clone() }));
        for todo in todos {
            match todo {
                Todo::Ask => match answers.next() {
                    Some(response) => {
                        let response = Box::new(response);
                        events.push(fact(seq, Fact::Answered { seq, response, cost: None }));
                    }
                    None => return (shown, State::of(RUN, &events)),
                },
                Todo::Call { call, .. } => {
                    let told =
                        Told { title: String::new(), text: result(calls), left_out: 0, attachments: vec![] };
                    calls += 1;
                    let kind = EventKind::CallFinished {
                        tool: "t".to_owned(),
                        output: Some(told),
                        error: None,
                        metadata: Metadata::default(),
                    };
                    events.push(event(seq, Some(&call), kind));
                }
                Todo::Finish { reason } => {
                    let ended = state.ending(reason);
                    let (text, usage) = (ended.text, ended.usage);
                    events.push(fact(
                        seq,
                        Fact::Ended {
                            seq,
                            reason,
                            text,
                            error: None,
                            code: None,
                            usage,
                            cost: None,
                            unpriced: 0,
                        },
                    ));
                }
                Todo::Refuse { .. } | Todo::Compact { .. } | Todo::Wait => {}
            }
        }
    }
    (shown, State::of(RUN, &events))
}

fn calls(of: &[&str]) -> Response {
    let calls: Vec<(&str, Arguments)> =
        of.iter().map(|name| (*name, Arguments::Json(json!({"a": 1})))).collect();
    response("", &calls, Finish::ToolCalls, Usage::default())
}

fn says(text: &str) -> Response {
    response(text, &[], Finish::Stop, Usage::default())
}

#[test]
fn calls_run_in_order_and_side_by_side_where_they_may() {
    let (shown, state) = decisions(
        Limits::default(),
        vec![calls(&["read", "read", "edit", "read", "edit"]), says("done")],
        |call| format!("r{call}"),
    );
    assert_eq!(shown, ["ask", "call0 call1", "call2", "call3", "call4", "ask", "Done"]);
    let results = format!("{:?}", state.messages(&|_, _| Extra::default())[2].parts);
    let places: Vec<usize> = (0..5).map(|call| results.find(&format!("\"r{call}\"")).unwrap()).collect();
    assert!(places.is_sorted(), "{results}");
}

#[test]
fn calls_that_cannot_be_read_are_answered_and_never_run() {
    let cut = response(
        "",
        &[("read", Arguments::Json(json!({}))), ("read", Arguments::Unparsable("{\"a".to_owned()))],
        Finish::Length,
        Usage::default(),
    );
    let (shown, _) = decisions(Limits::default(), vec![cut.clone(), says("ok")], |_| String::new());
    assert_eq!(shown, ["ask", "refuse1 call0", "ask", "Done"]);
    let malformed = Response { finish: Finish::Malformed, ..calls(&["edit"]) };
    let (shown, _) = decisions(Limits::default(), vec![malformed.clone(), says("ok")], |_| String::new());
    assert_eq!(shown, ["ask", "refuse0", "ask", "Done"]);
    let (shown, _) =
        decisions(Limits::default(), vec![malformed.clone(), malformed.clone(), malformed], |_| {
            String::new()
        });
    assert_eq!(shown.last().map(String::as_str), Some("Model"));
}

#[test]
fn the_same_call_with_the_same_result_is_stopped() {
    let (shown, state) = decisions(Limits::default(), vec![calls(&["read"]); 12], |_| "same".to_owned());
    let expected = [
        "ask", "call0", "ask", "call0", "ask", "call0", "ask", "refuse0", "ask", "refuse0", "ask", "refuse0",
        "Loop",
    ];
    assert_eq!(shown, expected);
    assert_eq!(state.ended().map(|ended| ended.reason), Some(Reason::Loop));
    // Where the result differs, it goes on.
    let (shown, _) = decisions(Limits::default(), vec![calls(&["read"]); 12], |call| call.to_string());
    assert_eq!(shown.iter().filter(|step| *step == "call0").count(), 12);
    // And where something was changed in between.
    let answers = [calls(&["read"]), calls(&["edit"])].into_iter().cycle().take(8).collect();
    let (shown, _) = decisions(Limits::default(), answers, |call| {
        if call % 2 == 0 { "same".to_owned() } else { call.to_string() }
    });
    assert_eq!(shown.iter().filter(|step| *step == "refuse0").count(), 0, "{shown:?}");
}

#[test]
fn limits_end_a_run_with_what_there_is() {
    let talks =
        || Response { parts: [says("so far").parts, calls(&["read"]).parts].concat(), ..calls(&["read"]) };
    let limits = Limits { turns: Some(2), ..Limits::default() };
    let (shown, state) = decisions(limits, vec![talks(); 5], |call| call.to_string());
    assert_eq!(shown, ["ask", "call0", "ask", "Turns"]);
    assert_eq!(state.ended().map(|ended| ended.text.as_str()), Some("so far"));
    let limits = Limits { tokens: Some(100), ..Limits::default() };
    let paid = Response { usage: Usage { input: 90, output: 20, ..Usage::default() }, ..calls(&["edit"]) };
    assert_eq!(decisions(limits, vec![paid; 3], |_| String::new()).0, ["ask", "Tokens"]);
    let limits = Limits { turns: Some(0), ..Limits::default() };
    assert_eq!(decisions(limits, vec![], |_| String::new()).0, ["Turns"]);
}

/// A run in which a call is made so many times with the same result, and whether the next one is refused.
fn called(state: &mut State, times: u64) -> bool {
    for _ in 0..times {
        let seq = state.next_seq();
        let calls = [("read", Arguments::Json(json!({"n": 1})))];
        let response = Box::new(response("", &calls, Finish::ToolCalls, Usage::default()));
        assert_eq!(decide(state), [Todo::Ask]);
        state.apply_fact(&Fact::Decided { seq, todos: vec![Todo::Ask] }, 1);
        state.apply_fact(&Fact::Answered { seq, response, cost: None }, 1);
        let todos = decide(state);
        let [Todo::Call { call, .. }] = todos.as_slice() else { return true };
        let call = call.clone();
        state.apply_fact(&Fact::Decided { seq: seq + 1, todos }, 1);
        let output = Told { title: String::new(), text: "same".to_owned(), left_out: 0, attachments: vec![] };
        let kind = EventKind::CallFinished {
            tool: "read".to_owned(),
            output: Some(output),
            error: None,
            metadata: Metadata::default(),
        };
        state.apply(&event(1, Some(&call), kind));
    }
    false
}

#[test]
fn a_model_that_was_shortened_may_look_again() {
    let start = Start { tools: vec![offered("read", true, true)], ..Start::default() };
    let begun = |start: &Start| {
        let mut state = State::new(RUN);
        state.apply_fact(&Fact::Started { start: Box::new(start.clone()) }, 1);
        state
    };
    assert!(called(&mut begun(&start), 4), "the same call is refused after three equal results");
    let mut state = begun(&start);
    assert!(!called(&mut state, 3));
    let (seq, usage) = (state.next_seq(), Usage::default());
    state.apply_fact(&Fact::Decided { seq, todos: vec![Todo::Compact { turns: 2 }] }, 1);
    state.apply_fact(&Fact::Compacted { seq, turns: 2, summary: "s".to_owned(), usage, cost: None }, 1);
    assert!(!called(&mut state, 3), "what it has seen is gone from its conversation");
    assert!(called(&mut state, 1), "and then it goes in circles again");
}

#[test]
fn what_was_decided_last_holds_whatever_is_said_after_it() {
    let mut state = State::new(RUN);
    state.apply_fact(&Fact::Started { start: Box::default() }, 1);
    state.apply_fact(&Fact::Spawned { child: "c".to_owned(), agent: "worker".to_owned() }, 1);
    let todos = vec![Todo::Finish { reason: Reason::Refused }];
    state.apply_fact(&Fact::Decided { seq: 0, todos: todos.clone() }, 1);
    let (from, text, ended) = ("worker".to_owned(), "has failed".to_owned(), Some("c".to_owned()));
    state.apply_fact(&Fact::Signalled { from, text, id: None, ended }, 2);
    assert_eq!(decide(&state), todos, "the process may have ended before the run did");
    let (id, text) = ("more".to_owned(), "go on".to_owned());
    state.apply_fact(&Fact::Continued { id, text, attachments: Vec::new(), model: None }, 3);
    assert_eq!(decide(&state), [Todo::Ask]);
}
