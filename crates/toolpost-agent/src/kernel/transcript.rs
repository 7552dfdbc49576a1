//! The conversation of a run: its turns, and the messages that a model is sent.

use super::State;
use super::decide::MOST_CALLS;
use super::unusable::Unusable;
use serde_json::Value;
use toolpost_core::model::{Arguments, Finish, Message, Part, Response, Role, ToolCall, ToolResult};
use toolpost_core::outcome::Attachment;
use toolpost_core::text::tokens;

/// What the model is told of an answer without anything in it.
const EMPTY_ANSWER: &str =
    "Your last answer was empty. Go on with the task, or say what you have found and what is missing.";

/// What the model is told of calls that are not even in its answer any more.
pub(crate) fn surplus(count: u64) -> String {
    let (calls, were) = if count == 1 { ("call", "was") } else { ("calls", "were") };
    format!(
        "{count} more {calls} of your last answer {were} not run: at most {MOST_CALLS} calls of one answer are; make what is still needed in your next answers."
    )
}

/// About how many tokens an image costs.
const IMAGE_TOKENS: u64 = 1_500;

/// What came with the text of a result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra {
    /// Images.
    pub attachments: Vec<Attachment>,
    /// The same for a program.
    pub data: Value,
    /// The handle of the data, where they are kept elsewhere.
    pub data_handle: Option<String>,
}

/// One turn of the conversation.
#[derive(Debug, Clone)]
pub(super) enum Turn {
    /// Somebody told the agent something.
    Said { text: String, attachments: Vec<Attachment> },
    /// An answer that was broken off: what had come of it, and why no more did.
    BrokenOff { text: String },
    /// The model answered.
    Answer(Box<Answer>),
}

/// An answer of the model, with what came of its calls.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) seq: u64,
    parts: Vec<Part>,
    pub(super) finish: Finish,
    /// The same in the provider's words.
    pub(super) finish_raw: Option<String>,
    /// Why the run cannot end with it.
    pub(super) unusable: Option<Unusable>,
    /// Calls that are missing because there were too many.
    pub(super) surplus_calls: u64,
    pub(super) note: Option<String>,
    pub(super) calls: Vec<ToolCall>,
    /// One for each call.
    pub(super) slots: Vec<Slot>,
    tokens: u64,
}

/// How a call stands.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    /// Nothing is decided about it.
    Waiting,
    /// It is to be run.
    Decided,
    /// Its tool was started.
    Running,
    /// The model is told this.
    Done(Box<ToolResult>),
}

impl Answer {
    pub(super) fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(super) fn is_done(&self) -> bool {
        self.slots.iter().all(|slot| matches!(slot, Slot::Done(_)))
    }
}

impl Turn {
    pub(super) fn said(from: &str, text: &str) -> Turn {
        let text = if from.is_empty() { text.to_owned() } else { format!("[from {from}] {text}") };
        Turn::Said { text, attachments: Vec::new() }
    }

    pub(super) fn of_answer(seq: u64, response: &Response) -> Turn {
        let calls: Vec<ToolCall> = response.tool_calls().cloned().collect();
        Turn::Answer(Box::new(Answer {
            seq,
            slots: calls.iter().map(|_| Slot::Waiting).collect(),
            calls,
            finish: response.finish,
            finish_raw: response.finish_raw.clone(),
            unusable: Unusable::of(response),
            surplus_calls: response.surplus_calls,
            note: response.note.clone(),
            tokens: response.parts.iter().map(part_tokens).sum(),
            parts: response.parts.clone(),
        }))
    }

    pub(super) fn answer(&self) -> Option<&Answer> {
        match self {
            Turn::Answer(answer) => Some(answer),
            Turn::Said { .. } | Turn::BrokenOff { .. } => None,
        }
    }

    pub(super) fn answer_mut(&mut self) -> Option<&mut Answer> {
        match self {
            Turn::Answer(answer) => Some(answer),
            Turn::Said { .. } | Turn::BrokenOff { .. } => None,
        }
    }

    pub(super) fn is_of(&self, seq: u64) -> bool {
        self.answer().is_some_and(|answer| answer.seq == seq)
    }

    /// Whether the run is done with it, if nothing else comes.
    pub(super) fn is_final(&self) -> bool {
        let is_end = |finish: Finish| matches!(finish, Finish::Stop | Finish::ToolCalls | Finish::Other);
        self.answer().is_some_and(|answer| {
            answer.calls.is_empty() && answer.unusable.is_none() && is_end(answer.finish)
        })
    }

    /// Whether no call could be read from it.
    pub(super) fn is_malformed(&self) -> bool {
        self.answer().is_some_and(|answer| {
            let is_unparsable = |call: &ToolCall| matches!(call.arguments, Arguments::Unparsable(_));
            answer.finish == Finish::Malformed
                || (!answer.calls.is_empty() && answer.calls.iter().all(is_unparsable))
        })
    }

    pub(super) fn tokens(&self) -> u64 {
        match self {
            Turn::Said { text, attachments } => {
                (tokens(text) as u64).saturating_add(IMAGE_TOKENS * attachments.len() as u64)
            }
            Turn::BrokenOff { text } => tokens(text) as u64,
            Turn::Answer(answer) => answer.tokens + self.result_tokens(),
        }
    }

    pub(super) fn result_tokens(&self) -> u64 {
        let Turn::Answer(answer) = self else { return 0 };
        let of = |slot: &Slot| match slot {
            Slot::Done(result) => tokens(&result.text) as u64,
            _ => 0,
        };
        answer.slots.iter().map(of).sum()
    }
}

/// About how many tokens a part of a message has.
pub(crate) fn part_tokens(part: &Part) -> u64 {
    let count = |text: &str| tokens(text) as u64;
    match part {
        Part::Text { text, .. } | Part::Thinking { text, .. } => count(text),
        Part::ToolCall(call) => match &call.arguments {
            Arguments::Json(value) => count(&call.name) + count(&value.to_string()),
            Arguments::Unparsable(text) => count(&call.name) + count(text),
        },
        Part::ToolResult(result) => count(&result.text),
        Part::File(_) => IMAGE_TOKENS,
        Part::Opaque(opaque) => count(&opaque.value.to_string()),
    }
}

impl State {
    /// The conversation as a model gets it. `extra` has what came with the text of a result, by the step of the answer and the
    /// place of the call in it.
    pub fn messages(&self, extra: &dyn Fn(u64, usize) -> Extra) -> Vec<Message> {
        self.messages_of(0..self.turns.len(), extra)
    }

    /// The part of the conversation since the run last went on after an end: for a model that begins anew then.
    pub fn messages_now(&self, extra: &dyn Fn(u64, usize) -> Extra) -> Vec<Message> {
        match self.now {
            0 => self.messages(extra),
            now => {
                let mut messages = self.turn_messages(now..self.turns.len(), extra, Vec::new());
                messages.retain(|message| !message.parts.is_empty());
                messages
            }
        }
    }

    /// The messages that a summary is made of: those of the first turns.
    pub fn messages_to_summarize(&self, turns: usize) -> Vec<Message> {
        self.messages_of(0..turns.min(self.turns.len()), &|_, _| Extra::default())
    }

    fn messages_of(
        &self,
        turns: std::ops::Range<usize>,
        extra: &dyn Fn(u64, usize) -> Extra,
    ) -> Vec<Message> {
        let Some(start) = self.start() else { return Vec::new() };
        let task = match &self.summary {
            None => start.task.clone(),
            Some(summary) => {
                format!(
                    "{}\n\n# What happened so far\n\nThe beginning of this conversation was replaced by this summary of it.\n\n{summary}",
                    start.task
                )
            }
        };
        let messages = vec![Message { role: Role::User, parts: said(&task, &start.attachments) }];
        self.turn_messages(turns, extra, messages)
    }

    /// The messages of these turns, behind others.
    fn turn_messages(
        &self,
        turns: std::ops::Range<usize>,
        extra: &dyn Fn(u64, usize) -> Extra,
        mut messages: Vec<Message>,
    ) -> Vec<Message> {
        for turn in &self.turns[turns] {
            match turn {
                Turn::Said { text, attachments } => add_user(&mut messages, said(text, attachments)),
                Turn::BrokenOff { text } => {
                    messages.push(Message { role: Role::Assistant, parts: vec![Part::text(text.clone())] });
                }
                // What nobody could use is not sent back: the model is asked again as if it had not been.
                Turn::Answer(answer) if answer.unusable.is_some() && answer.calls.is_empty() => {
                    if answer.unusable == Some(Unusable::Empty) {
                        add_user(&mut messages, vec![Part::text(EMPTY_ANSWER)]);
                    }
                }
                Turn::Answer(answer) => {
                    if !answer.parts.is_empty() {
                        messages.push(Message { role: Role::Assistant, parts: answer.parts.clone() });
                    }
                    let slots = answer.slots.iter().enumerate();
                    let results = slots.filter_map(|(index, slot)| match slot {
                        Slot::Done(result) => {
                            let Extra { attachments, data, .. } = extra(answer.seq, index);
                            let data = if data.is_null() { result.data.clone() } else { data };
                            Some(Part::ToolResult(ToolResult { attachments, data, ..(**result).clone() }))
                        }
                        _ => None,
                    });
                    let results: Vec<Part> = results.collect();
                    if !results.is_empty() {
                        add_user(&mut messages, results);
                    }
                    if answer.surplus_calls > 0 {
                        let text = surplus(answer.surplus_calls);
                        add_user(&mut messages, vec![Part::text(text)]);
                    }
                    if answer.finish == Finish::Malformed {
                        let note = answer.note.as_deref().unwrap_or("it could not be read");
                        let text = format!(
                            "Your last call was not run: {note}. Make it again, with a tool that is offered and arguments that are JSON."
                        );
                        add_user(&mut messages, vec![Part::text(text)]);
                    }
                }
            }
        }
        messages
    }

    /// The first turns without what only a model can say of them: for where no model makes a summary.
    pub fn plain_summary(&self, turns: usize) -> String {
        const MOST: usize = 200;
        let short = |text: &str| -> String {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            line.chars().take(MOST).collect()
        };
        let mut lines: Vec<String> = self.summary.iter().cloned().collect();
        for turn in self.turns.iter().take(turns) {
            match turn {
                Turn::Said { text, .. } => lines.push(format!("- told: {}", short(text))),
                Turn::BrokenOff { text } => lines.push(format!("- said: {}", short(text))),
                Turn::Answer(answer) => {
                    let text = answer.text();
                    if !text.trim().is_empty() {
                        lines.push(format!("- said: {}", short(&text)));
                    }
                    for (call, slot) in answer.calls.iter().zip(&answer.slots) {
                        let arguments = match &call.arguments {
                            Arguments::Json(value) => value.to_string(),
                            Arguments::Unparsable(_) => Value::Null.to_string(),
                        };
                        let result = match slot {
                            Slot::Done(result) if result.is_error => short(&result.text),
                            Slot::Done(_) => "done".to_owned(),
                            _ => "not finished".to_owned(),
                        };
                        lines.push(format!("- called {} {}: {result}", call.name, short(&arguments)));
                    }
                }
            }
        }
        lines.join("\n")
    }
}

/// What somebody says to the agent, with what comes with it.
fn said(text: &str, attachments: &[Attachment]) -> Vec<Part> {
    let files = attachments.iter().cloned().map(Part::File);
    std::iter::once(Part::text(text)).chain(files).collect()
}

/// Adds to the user's last message, or begins one: two in a row are one.
fn add_user(messages: &mut Vec<Message>, parts: Vec<Part>) {
    match messages.last_mut() {
        // The task stays a message of its own.
        Some(last) if last.role == Role::User => last.parts.extend(parts),
        _ => messages.push(Message { role: Role::User, parts }),
    }
}
