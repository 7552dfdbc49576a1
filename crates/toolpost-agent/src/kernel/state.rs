//! What the events of a run amount to.
//!
//! Events that cannot be (a result of a call that nobody decided, a second answer to one question) change nothing: a log
//! may hold what a process wrote that had already lost its run.

use super::call_id::call_id;
use super::repeats::Repeats;
use super::time_spent::TimeSpent;
use super::transcript::{Extra, Slot, Turn};
use crate::result;
use crate::tree::Amount;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use toolpost_core::activation::{Fact, InterruptedCall, OfferedTool, Reason, Start, Todo};
use toolpost_core::event::EventKind;
use toolpost_core::model::{ModelError, Profile, Response, ToolCall, ToolResult, Usage};
use toolpost_core::outcome::{Attachment, Metadata, Outcome, Output};
use toolpost_core::text::tokens;
use toolpost_core::{Code, Event, ToolError};

/// How a run stands.
#[derive(Debug, Clone)]
pub struct State {
    activation: Arc<str>,
    pub(super) start: Option<Box<Start>>,
    pub(super) tools: HashMap<String, OfferedTool>,
    pub(super) started_ms: u64,
    pub(super) now_ms: u64,
    pub(super) decided: BTreeMap<u64, Vec<Todo>>,
    pub(super) turns: Vec<Turn>,
    /// What stands for the turns that were replaced.
    pub(super) summary: Option<String>,
    /// Turns at the last compaction: without a new one another would not help.
    pub(super) turns_at_compaction: usize,
    compacted_at: Option<u64>,
    /// Tokens that the last answer shows the conversation to have had then, and how many turns it had.
    pub(super) measured: Option<(u64, usize)>,
    pub(super) answers: u64,
    pub(super) usage: Usage,
    /// What is known of the cost, in parts of a US dollar; none where nothing is.
    cost: Option<u64>,
    /// Tokens whose price is not known.
    unpriced: u64,
    pub(super) failed: Option<ModelError>,
    /// What the model had said when it failed.
    unfinished: String,
    /// What came with the texts of results, by the step of the answer and the place of the call in it.
    returned: HashMap<(u64, usize), Extra>,
    /// Answers in a row that no call could be read from.
    pub(super) malformed: u32,
    /// Answers in a row that the run cannot end with.
    pub(super) unusable: u32,
    /// Where its time went.
    time: TimeSpent,
    pub(super) repeats: Repeats,
    pub(super) is_stop_asked: bool,
    /// What is used up of the tree's budget.
    pub(super) spent: Option<Reason>,
    /// The agents that were started and not waited for, and have not ended: their runs and names.
    pub(super) background: BTreeMap<String, String>,
    /// The signals that were heard.
    heard: HashSet<String>,
    /// The signals since the model was last asked: how many, and their bytes.
    unread: (usize, usize),
    /// What the run went on with after its end.
    continued: Vec<String>,
    /// The turn that it last went on with; 0 before it did.
    pub(super) now: usize,
    /// Answers before the last time that it went on.
    answers_before: u64,
    /// Whether it was asked once more for its result.
    is_corrected: bool,
    /// What is known of calls that had started when their process ended.
    pub(super) interrupted: HashMap<String, InterruptedCall>,
    /// Why the run is to end, where that is decided.
    pub(super) finishing: Option<Reason>,
    ended: Option<Ended>,
    /// Where a running call's result belongs: the turn and the place in it.
    calls: HashMap<String, (usize, usize)>,
    /// How the run stands by its log, where that has other texts: without secrets, or shorter ones.
    log: Option<Box<State>>,
}

/// Parts of a US dollar in which cost is counted, so that sums are the same however a number was written down.
const PARTS: f64 = 1e12;

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Why.
    pub reason: Reason,
    /// Its last text.
    pub text: String,
    /// More of why it failed.
    pub error: Option<String>,
    /// The code of the call that it failed by, if it did by one.
    pub code: Option<Code>,
    /// Tokens of all requests and answers.
    pub usage: Usage,
    /// What they cost, as far as that is known.
    pub cost: Option<f64>,
    /// Tokens whose price is not known: their cost is not in `cost`.
    pub unpriced: u64,
    /// Answers of the model.
    pub turns: u64,
}

impl Ended {
    /// Tokens and cost of all requests and answers.
    pub fn spent(&self) -> Amount {
        spent(&self.usage, self.cost, self.unpriced)
    }

    /// What the run cost; none where the price of a part of it is not known.
    pub fn whole_cost(&self) -> Option<f64> {
        self.cost.filter(|_| self.unpriced == 0)
    }
}

impl State {
    /// A run of which nothing has happened.
    pub fn new(activation: &str) -> State {
        State {
            activation: activation.into(),
            start: None,
            tools: HashMap::new(),
            started_ms: 0,
            now_ms: 0,
            decided: BTreeMap::new(),
            turns: Vec::new(),
            summary: None,
            turns_at_compaction: 0,
            compacted_at: None,
            measured: None,
            answers: 0,
            usage: Usage::default(),
            cost: None,
            unpriced: 0,
            failed: None,
            unfinished: String::new(),
            returned: HashMap::new(),
            malformed: 0,
            unusable: 0,
            time: TimeSpent::default(),
            repeats: Repeats::default(),
            is_stop_asked: false,
            spent: None,
            background: BTreeMap::new(),
            heard: HashSet::new(),
            unread: (0, 0),
            continued: Vec::new(),
            now: 0,
            answers_before: 0,
            is_corrected: false,
            interrupted: HashMap::new(),
            finishing: None,
            ended: None,
            calls: HashMap::new(),
            log: None,
        }
    }

    /// What events amount to, those of other runs left out.
    pub fn of<'e>(activation: &str, events: impl IntoIterator<Item = &'e Event>) -> State {
        let mut state = State::new(activation);
        events.into_iter().for_each(|event| state.apply(event));
        state
    }

    /// The run.
    pub fn activation(&self) -> &str {
        &self.activation
    }

    /// One more event. Those of other runs change nothing.
    pub fn apply(&mut self, event: &Event) {
        if event.activation.as_deref() != Some(&*self.activation) {
            return;
        }
        if let EventKind::Activation { fact } = &event.kind {
            return self.apply_fact(fact, event.at_ms);
        }
        // The run goes by the time of its facts and calls. What stores and tools say of themselves comes in no sure order.
        if !is_of_call(event) {
            return;
        }
        self.now_ms = self.now_ms.max(event.at_ms);
        if let Some(call) = event.call.as_deref().filter(|call| self.calls.contains_key(*call)) {
            self.time.call(call, &event.kind, event.at_ms);
        }
        match &event.kind {
            EventKind::CallStarted { .. } => {
                if let Some(slot) = event.call.as_deref().and_then(|call| self.slot(call))
                    && matches!(slot, Slot::Decided)
                {
                    *slot = Slot::Running;
                }
            }
            EventKind::CallFinished { output, error, metadata, .. } => {
                let Some(call) = event.call.as_deref() else { return };
                let text = told(output.as_ref(), error.as_ref(), metadata);
                self.finish(call, text, error.as_ref().map(ToolError::code), error.is_some());
            }
            _ => {}
        }
    }

    /// One more event, and the same as the log keeps it.
    pub(crate) fn apply_kept(&mut self, event: &Event, kept: &Event) {
        self.split(event.kind != kept.kind);
        if let Some(log) = &mut self.log {
            log.apply(kept);
        }
        self.apply(event);
    }

    /// One more fact, and the same as the log keeps it.
    pub(crate) fn apply_kept_fact(&mut self, fact: &Fact, kept: &Fact, at_ms: u64) {
        self.split(fact != kept);
        if let Some(log) = &mut self.log {
            log.apply_fact(kept, at_ms);
        }
        self.apply_fact(fact, at_ms);
    }

    /// From where the log has something else, how the run stands by the log is known beside how it really stands.
    fn split(&mut self, differs: bool) {
        if differs && self.log.is_none() {
            self.log = Some(Box::new(self.clone()));
        }
    }

    /// How the run stands by its log. What is decided follows from this alone, so that the log is enough to decide it again.
    pub(crate) fn by_log(&self) -> &State {
        self.log.as_deref().unwrap_or(self)
    }

    /// One more fact, at this time.
    pub fn apply_fact(&mut self, fact: &Fact, at_ms: u64) {
        let before = self.now_ms;
        self.now_ms = before.max(at_ms);
        if self.start.is_none() {
            if let Fact::Started { start } = fact {
                self.started_ms = at_ms;
                self.offer(&start.tools);
                self.start = Some(start.clone());
            }
            return;
        }
        if let Fact::Continued { id, text, attachments, model } = fact {
            return self.go_on(id, (text, attachments), model.as_deref(), (before, at_ms));
        }
        if self.ended.is_some() {
            return;
        }
        self.time.fact(fact, at_ms);
        match fact {
            Fact::Started { .. } | Fact::Continued { .. } | Fact::Paused { .. } => {}
            Fact::Offered { tools } => self.offer(tools),
            Fact::Decided { seq, todos } => self.decide(*seq, todos),
            Fact::Answered { seq, response, cost } => {
                if self.is_open(*seq, &Todo::Ask) {
                    self.answer(*seq, response, *cost);
                }
            }
            Fact::ModelFailed { seq, error, text, usage, cost } => {
                if self.decided.last_key_value().is_some_and(|(last, _)| last == seq) {
                    self.spend(usage, *cost);
                    self.failed = Some(error.clone());
                    self.unfinished.clone_from(text);
                }
            }
            Fact::Returned { seq, index, attachments, data, data_handle } => {
                if self.turns.iter().any(|turn| turn.is_of(*seq)) {
                    let (attachments, data) = (attachments.clone(), data.clone());
                    let extra = Extra { attachments, data, data_handle: data_handle.clone() };
                    self.returned.entry((*seq, *index)).or_insert(extra);
                }
            }
            Fact::Compacted { seq, turns, summary, usage, cost } => {
                let is_first = self.compacted_at != Some(*seq) && *turns <= self.turns.len();
                if is_first && self.is_open(*seq, &Todo::Compact { turns: *turns }) {
                    self.spend(usage, *cost);
                    self.compacted_at = Some(*seq);
                    self.compact(*turns, summary);
                }
            }
            Fact::Spent { seq, reason, usage, cost } => {
                if self.is_open(*seq, &Todo::Ask) || self.is_open(*seq, &Todo::Wait) {
                    self.spend(usage, *cost);
                    self.spent = Some(*reason);
                }
            }
            Fact::Spawned { child, agent } => {
                self.background.insert(child.clone(), agent.clone());
            }
            Fact::Signalled { from, text, id, ended } => {
                if id.as_ref().is_none_or(|id| self.heard.insert(id.clone())) {
                    ended.iter().for_each(|child| drop(self.background.remove(child)));
                    if ended.is_none() {
                        self.unread = (self.unread.0 + 1, self.unread.1.saturating_add(text.len()));
                    }
                    self.turns.push(Turn::said(from, text));
                }
            }
            Fact::Resumed { interrupted } => {
                // The time in which no process had the run does not count.
                self.started_ms = self.started_ms.saturating_add(at_ms.saturating_sub(before));
                let known = interrupted.iter().map(|call| (call.call.clone(), call.clone()));
                self.interrupted.extend(known);
            }
            Fact::StopAsked => self.is_stop_asked = true,
            Fact::Ended { reason, text, error, code, usage, cost, unpriced, .. } => {
                // Whatever it had started has ended with it.
                self.background.clear();
                self.ended = Some(Ended {
                    reason: *reason,
                    text: text.clone(),
                    error: error.clone(),
                    code: *code,
                    usage: *usage,
                    cost: *cost,
                    unpriced: *unpriced,
                    turns: self.answers,
                });
            }
        }
    }

    /// Goes on after an end. What was left to do then is not done any more.
    fn go_on(
        &mut self,
        id: &str,
        (text, attachments): (&str, &[Attachment]),
        model: Option<&Profile>,
        (before, at_ms): (u64, u64),
    ) {
        if self.continued.iter().any(|known| known == id) {
            return;
        }
        self.continued.push(id.to_owned());
        let last = self.turns.iter_mut().rev().find_map(Turn::answer_mut);
        for (call, slot) in last.into_iter().flat_map(|answer| answer.calls.iter().zip(&mut answer.slots)) {
            if !matches!(slot, Slot::Done(_)) {
                let text = match slot {
                    Slot::Running => format!(
                        "Error: INTERRUPTED: the call of `{}` had started when the run ended; look whether its change is there before you make it again",
                        call.name
                    ),
                    _ => format!("Error: the call of `{}` was not run: the run had ended", call.name),
                };
                *slot = Slot::Done(Box::new(failed(call, text, None)));
            }
        }
        if let Some(text) = self.left_unsaid() {
            self.turns.push(Turn::BrokenOff { text });
        }
        if let (Some(start), Some(model)) = (&mut self.start, model) {
            start.model = model.clone();
        }
        self.ended = None;
        self.finishing = None;
        self.failed = None;
        self.spent = None;
        self.is_stop_asked = false;
        self.unfinished.clear();
        self.malformed = 0;
        self.unusable = 0;
        self.time = TimeSpent::default();
        match self.start.as_ref().and_then(|start| start.parent.as_ref()) {
            // A person who says more wants more. An agent has for another what that one has left; while it had nothing to do,
            // no time was spent.
            None => {
                self.started_ms = at_ms;
                self.answers_before = self.answers;
            }
            Some(_) => self.started_ms = self.started_ms.saturating_add(at_ms.saturating_sub(before)),
        }
        self.is_corrected = false;
        self.repeats = Repeats::default();
        self.now = self.turns.len();
        self.turns.push(Turn::Said { text: text.to_owned(), attachments: attachments.to_vec() });
    }

    /// What stands for the answer of a run that ended without one: what the model had said, and why no more came. The
    /// conversation goes on behind it.
    fn left_unsaid(&self) -> Option<String> {
        let reason = match self.ended.as_ref()?.reason {
            _ if self.turns.last().is_some_and(Turn::is_final) => return None,
            Reason::Stopped => "the user stopped this answer",
            Reason::Time | Reason::Turns | Reason::Tokens | Reason::Cost => "this answer ended at a limit",
            Reason::Loop => "this answer ended because the same call was made again and again",
            Reason::Length => "this answer was cut off",
            Reason::Done | Reason::Refused | Reason::Model | Reason::Script => "there was no answer",
        };
        let said = self.unfinished.trim_end();
        Some(format!("{said}{}[{reason}]", if said.is_empty() { "" } else { "\n" }))
    }

    /// What the run depends on; none before it began.
    pub fn start(&self) -> Option<&Start> {
        self.start.as_deref()
    }

    /// How it ended; none before it has.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// What was decided for a step; none before it was.
    pub fn decided(&self, seq: u64) -> Option<&[Todo]> {
        self.decided.get(&seq).map(Vec::as_slice)
    }

    /// The first step that nothing is decided for.
    pub fn next_seq(&self) -> u64 {
        self.decided.last_key_value().map_or(0, |(last, _)| last + 1)
    }

    /// A call of the last answer, by its place, with the step of the answer.
    pub fn last_call(&self, index: usize) -> Option<(u64, &ToolCall)> {
        let answer = self.turns.iter().rev().find_map(Turn::answer)?;
        Some((answer.seq, answer.calls.get(index)?))
    }

    /// Tokens of all requests and answers so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What they cost, as far as that is known.
    pub fn cost(&self) -> Option<f64> {
        self.cost.map(|parts| parts as f64 / PARTS)
    }

    /// What they cost; none where the price of a part of them is not known.
    pub fn whole_cost(&self) -> Option<f64> {
        self.cost().filter(|_| self.unpriced == 0)
    }

    /// Tokens and cost of all requests and answers so far.
    pub fn spent(&self) -> Amount {
        spent(&self.usage, self.cost(), self.unpriced)
    }

    /// Answers of the model so far.
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// Answers of the model that count against its limit: all of an agent below another, and otherwise those since it last went
    /// on after an end.
    pub(super) fn answers_now(&self) -> u64 {
        self.answers - self.answers_before
    }

    /// The last time at which something happened, in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// The signals of others that the model will hear at its next turn: how many, and their bytes. Those that tell of the end
    /// of an agent do not count.
    pub fn unread(&self) -> (usize, usize) {
        self.unread
    }

    /// Whether a signal with this id was heard.
    pub fn has_heard(&self, id: &str) -> bool {
        self.heard.contains(id)
    }

    /// Milliseconds from its beginning, or from when it last went on after an end, to the last thing that happened. Time in
    /// which no process had the run does not count.
    pub fn elapsed_ms(&self) -> u64 {
        self.now_ms.saturating_sub(self.started_ms)
    }

    /// What the run went on with after its end, by what tells these from one another.
    pub fn continued(&self) -> &[String] {
        &self.continued
    }

    /// The agents that were started and not waited for, and have not ended: their runs and names.
    pub fn background(&self) -> &BTreeMap<String, String> {
        &self.background
    }

    /// The calls that have started and not ended: their ids, the tools' own names, and whether they may be run again.
    pub fn open_calls(&self) -> Vec<(String, String, bool)> {
        let mut open = Vec::new();
        for (id, (turn, index)) in &self.calls {
            let Some(answer) = self.turns.get(*turn).and_then(Turn::answer) else { continue };
            if let (Some(Slot::Running), Some(call)) = (answer.slots.get(*index), answer.calls.get(*index)) {
                let tool = self.tools.get(&call.name).map_or(&call.name, |tool| &tool.tool);
                open.push((id.clone(), tool.clone(), self.is_idempotent(&call.name)));
            }
        }
        open.sort();
        open
    }

    /// The tools that it is offered.
    pub fn offered(&self) -> impl Iterator<Item = &OfferedTool> {
        self.tools.values()
    }

    /// What came with the texts of results, as the events have it, by the step of the answer and the place of the call.
    pub fn returned(&self) -> &HashMap<(u64, usize), Extra> {
        &self.returned
    }

    /// How the run ends, if it ends now for this reason. What the model had said when it was stopped is a text too.
    pub fn ending(&self, reason: Reason) -> Ended {
        let unfinished = self.failed.as_ref().map(|_| self.unfinished.clone());
        let answers = self.turns.iter().rev().filter_map(Turn::answer).map(|answer| answer.text());
        let text = unfinished.into_iter().chain(answers).find(|text| !text.trim().is_empty());
        let error = match reason {
            Reason::Model | Reason::Script => match &self.failed {
                Some(error) => Some(error.message.clone()),
                None => self
                    .unusable_told()
                    .or_else(|| Some("the model's calls could not be read, three times in a row".to_owned())),
            },
            Reason::Refused => self.unusable_told().or_else(|| {
                let answer = self.turns.iter().rev().find_map(Turn::answer)?;
                let note = answer.note.as_ref()?;
                Some(format!("the model refused: {note}"))
            }),
            Reason::Time => Some(self.time.told()).filter(|told| !told.is_empty()),
            _ => None,
        };
        let is_failure = matches!(reason, Reason::Model | Reason::Script);
        let code = self.failed.as_ref().filter(|_| is_failure).and_then(|error| error.of_call);
        Ended {
            reason,
            text: text.unwrap_or_default(),
            error,
            code,
            usage: self.usage,
            cost: self.cost(),
            unpriced: self.unpriced,
            turns: self.answers,
        }
    }

    fn offer(&mut self, tools: &[OfferedTool]) {
        self.tools.extend(tools.iter().map(|tool| (tool.name.clone(), tool.clone())));
    }

    pub(super) fn is_idempotent(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.idempotent)
    }

    pub(super) fn is_parallel(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.parallel)
    }

    /// Whether this is what was decided last, and nothing came of it yet.
    fn is_open(&self, seq: u64, todo: &Todo) -> bool {
        let is_last = |(last, todos): (&u64, &Vec<Todo>)| *last == seq && todos.contains(todo);
        self.decided.last_key_value().is_some_and(is_last) && !self.turns.iter().any(|turn| turn.is_of(seq))
    }

    fn decide(&mut self, seq: u64, todos: &[Todo]) {
        if seq != self.next_seq() {
            return;
        }
        self.decided.insert(seq, todos.to_vec());
        self.finishing = todos.iter().find_map(|todo| match todo {
            Todo::Finish { reason } => Some(*reason),
            _ => None,
        });
        if todos.contains(&Todo::Ask) {
            self.unread = (0, 0);
        }
        let Some(turn) = self.turns.iter().rposition(|turn| turn.answer().is_some()) else { return };
        for todo in todos {
            match todo {
                Todo::Call { index, call } => {
                    let Some(answer) = self.turns[turn].answer_mut() else { continue };
                    let Some(slot) = answer.slots.get_mut(*index) else { continue };
                    if matches!(slot, Slot::Waiting | Slot::Running | Slot::Decided) {
                        *slot = Slot::Decided;
                        self.calls.insert(call.clone(), (turn, *index));
                    }
                }
                Todo::Refuse { index, text } => self.refuse(turn, *index, text),
                Todo::Ask | Todo::Compact { .. } | Todo::Wait | Todo::Finish { .. } => {}
            }
        }
    }

    fn refuse(&mut self, turn: usize, index: usize, text: &str) {
        let Some(answer) = self.turns[turn].answer_mut() else { return };
        let seq = answer.seq;
        let (Some(slot), Some(call)) = (answer.slots.get_mut(index), answer.calls.get(index)) else { return };
        if matches!(slot, Slot::Done(_)) {
            return;
        }
        let tools = &self.tools;
        let is_idempotent = tools.get(&call.name).is_some_and(|tool| tool.idempotent);
        if self.repeats.is_too_often(call, is_idempotent).is_some() {
            self.repeats.refuse();
        }
        let mut result = failed(call, text.to_owned(), None);
        if matches!(slot, Slot::Running) && !is_idempotent {
            let id = call_id(&self.activation, seq, index);
            result.code = Some(Code::Interrupted);
            result.data = interruption(self.interrupted.get(&id));
        }
        *slot = Slot::Done(Box::new(result));
    }

    fn slot(&mut self, call: &str) -> Option<&mut Slot> {
        let (turn, index) = *self.calls.get(call)?;
        self.turns.get_mut(turn)?.answer_mut()?.slots.get_mut(index)
    }

    /// The result of a call, once.
    fn finish(&mut self, id: &str, text: String, code: Option<Code>, is_error: bool) {
        let Some((turn, index)) = self.calls.get(id).copied() else { return };
        let Some(answer) = self.turns.get_mut(turn).and_then(Turn::answer_mut) else { return };
        let (Some(slot), Some(call)) = (answer.slots.get_mut(index), answer.calls.get(index)) else { return };
        if matches!(slot, Slot::Done(_) | Slot::Waiting) {
            return;
        }
        let is_idempotent = self.tools.get(&call.name).is_some_and(|tool| tool.idempotent);
        // The steps of a script are finite, and equal ones are meant so.
        if self.start.as_ref().is_none_or(|start| start.model.provider != "script") {
            self.repeats.note(call, &text, !is_error && !is_idempotent);
        }
        let (id, name) = (call.id.clone(), call.name.clone());
        *slot = Slot::Done(Box::new(ToolResult {
            id,
            name,
            text,
            attachments: Vec::new(),
            data: Value::Null,
            is_error,
            code,
        }));
    }

    fn spend(&mut self, usage: &Usage, cost: Option<f64>) {
        self.usage = self.usage.plus(usage);
        match cost.filter(|cost| cost.is_finite()) {
            // What is negative becomes 0, what is too large the largest number.
            Some(cost) => {
                self.cost = Some(self.cost.unwrap_or(0).saturating_add((cost * PARTS).round() as u64));
            }
            None => {
                let tokens = usage.input.saturating_add(usage.output);
                self.unpriced = self.unpriced.saturating_add(tokens);
            }
        }
    }

    fn answer(&mut self, seq: u64, response: &Response, cost: Option<f64>) {
        self.spend(&response.usage, cost);
        self.failed = None;
        self.answers += 1;
        let mut turn = Turn::of_answer(seq, response);
        // A script says what it is told to, and that may be nothing.
        let is_script = self.start.as_ref().is_some_and(|start| start.model.provider == "script");
        turn.answer_mut().into_iter().filter(|_| is_script).for_each(|answer| answer.unusable = None);
        let is_unusable = turn.answer().is_some_and(|answer| answer.unusable.is_some());
        self.unusable = if is_unusable { self.unusable + 1 } else { 0 };
        self.malformed = if turn.is_malformed() { self.malformed + 1 } else { 0 };
        let is_final = turn.is_final();
        self.turns.push(turn);
        let total = response.usage.input.saturating_add(response.usage.output);
        self.measured = (response.usage.input > 0).then_some((total, self.turns.len()));
        if is_final {
            self.check_result(&response.text());
        }
    }

    /// Asks once more for a result that does not fit its schema.
    fn check_result(&mut self, text: &str) {
        let schema = self.start.as_ref().and_then(|start| start.result_schema.as_ref());
        let Some(schema) = schema.filter(|_| !self.is_corrected) else { return };
        if let Err(problems) = result::extract(text, schema) {
            let correction = result::correction(&problems, schema);
            self.is_corrected = true;
            self.turns.push(Turn::said("", &correction));
        }
    }

    fn compact(&mut self, turns: usize, summary: &str) {
        let gone: Vec<u64> =
            self.turns.drain(..turns).filter_map(|turn| turn.answer().map(|answer| answer.seq)).collect();
        self.returned.retain(|(seq, _), _| !gone.contains(seq));
        self.calls.retain(|_, (turn, _)| {
            let is_kept = *turn >= turns;
            *turn = turn.saturating_sub(turns);
            is_kept
        });
        self.summary = Some(summary.to_owned());
        // The model no longer has what it has seen: it may look again.
        self.repeats = Repeats::default();
        self.turns_at_compaction = self.turns.len();
        self.now = self.now.saturating_sub(turns);
        self.measured = None;
        self.failed = None;
    }

    /// About how many tokens the next request has.
    pub fn tokens(&self) -> u64 {
        let (known, from) = self.measured.unwrap_or((0, 0));
        let of_turns: u64 = self
            .turns
            .iter()
            .skip(from.saturating_sub(1))
            .enumerate()
            .map(|(index, turn)| {
                // Of the turn that was measured, only its results have come since.
                if index == 0 && self.measured.is_some() { turn.result_tokens() } else { turn.tokens() }
            })
            .sum();
        let beginning = match self.measured {
            Some(_) => 0,
            None => {
                let start = self.start.as_deref();
                let texts = start.map_or(0, |start| tokens(&start.system) + tokens(&start.task));
                (texts + self.summary.as_deref().map_or(0, tokens)) as u64
            }
        };
        known.saturating_add(of_turns).saturating_add(beginning)
    }

    /// The id under which a call of the last answer runs.
    pub(super) fn call_id(&self, seq: u64, index: usize) -> String {
        call_id(&self.activation, seq, index)
    }
}

fn spent(usage: &Usage, cost: Option<f64>, unpriced: u64) -> Amount {
    Amount { unpriced, ..Amount::of(usage, cost.or(Some(0.0))) }
}

/// Whether an event is one of a call, from the process that runs it.
fn is_of_call(event: &Event) -> bool {
    let is_of_store = matches!(
        event.kind,
        EventKind::FileStored { .. }
            | EventKind::TaskChanged { .. }
            | EventKind::TodosChanged { .. }
            | EventKind::ChangesUndone { .. }
    );
    event.call.is_some() && !is_of_store
}

/// The result of a call that was not run.
fn failed(call: &ToolCall, text: String, code: Option<Code>) -> ToolResult {
    let (id, name) = (call.id.clone(), call.name.clone());
    ToolResult { id, name, text, attachments: Vec::new(), data: Value::Null, is_error: true, code }
}

/// What a program is told of a call that was interrupted.
fn interruption(known: Option<&InterruptedCall>) -> Value {
    serde_json::json!({ "landed": known.and_then(|call| call.landed) })
}

/// What the model is told of a call, from its last event.
fn told(
    output: Option<&toolpost_core::event::Told>,
    error: Option<&ToolError>,
    metadata: &Metadata,
) -> String {
    let result = match (output, error) {
        (_, Some(error)) => Err(error.clone()),
        (Some(output), None) => {
            let missing = match output.left_out {
                0 => String::new(),
                bytes => format!("\n[{bytes} bytes more; they are not in the log]"),
            };
            Ok(Output::new("", format!("{}{missing}", output.text), Value::Null))
        }
        (None, None) => Ok(Output::new("", "", Value::Null)),
    };
    let metadata = Metadata { repairs: metadata.repairs.clone(), ..Metadata::default() };
    Outcome { tool: String::new(), call_id: String::new(), result, metadata }.to_text()
}
