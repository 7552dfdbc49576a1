//! A run as lines of JSON: every event with its agent and its run, also those of agents below the first.

use super::held::{Held, Kind};
use super::{Show, View};
use crate::output::{Fault, Line, RunEvent, finish, harmless_json, reason};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use toolpost_agent::driver::Heard;
use toolpost_agent::kernel::call_id;
use toolpost_core::Event;
use toolpost_core::activation::Fact;
use toolpost_core::event::EventKind;
use toolpost_core::host::Redactor;
use toolpost_core::model::{Arguments, Response};

/// What the lines need to know of the runs.
#[derive(Default)]
pub(super) struct Lines {
    /// What is not shown of each run: the key of its own model too.
    redactors: HashMap<String, Arc<Redactor>>,
    /// What was streamed by agents below the first and may be a part of a secret.
    held: HashMap<String, Held>,
    /// The calls that were announced and have not ended.
    announced: HashSet<String>,
}

impl Lines {
    /// A run begins, or goes on.
    pub(super) fn begin(&mut self, run: &str, redactor: &Arc<Redactor>) {
        self.redactors.insert(run.to_owned(), Arc::clone(redactor));
    }

    fn end(&mut self, run: &str) {
        self.redactors.remove(run);
        self.held.remove(run);
    }
}

impl View {
    /// Prints an event of a run, where events are printed.
    pub(super) fn emit(&mut self, run: &str, event: impl FnOnce() -> RunEvent) {
        if self.show != Show::Json {
            return;
        }
        let agent = match self.below.get(run) {
            Some(below) if run != self.root => below.agent.clone(),
            _ => self.agent.clone(),
        };
        let line = Line { agent: Some(agent), activation: Some(run.to_owned()), event: event() };
        // Values of ours have string keys only, so that writing them as JSON cannot fail.
        let value = serde_json::to_value(line).unwrap_or_default();
        let value = match self.lines.redactors.get(run) {
            Some(own) => own.redact_json(value),
            None => value,
        };
        let value = self.redactor.redact_json(value);
        let text = harmless_json(&value.to_string()).into_owned();
        self.print(&format!("{text}\n"));
    }

    /// What the model of any agent does, but for the text of the first one.
    pub(super) fn emit_heard(&mut self, run: &str, heard: &Heard<'_>) {
        if self.show != Show::Json {
            return;
        }
        let is_root = run == self.root;
        match heard {
            Heard::Asking if !is_root => drop(self.lines.held.remove(run)),
            Heard::Text(text) if !is_root => self.emit_piece(run, Kind::Text, text),
            Heard::Thinking(text) if !is_root => self.emit_piece(run, Kind::Thinking, text),
            Heard::Asking | Heard::Text(_) | Heard::Thinking(_) | Heard::WritingCall(_) => {}
            Heard::Retry { attempt, delay_ms, error } => {
                self.lines.held.remove(run);
                let (attempt, delay_ms) = (*attempt, *delay_ms);
                self.emit(run, || RunEvent::Retry { attempt, delay_ms, error: (*error).into() });
            }
            Heard::Answered { seq, response } => {
                self.emit_rest(run);
                self.emit_answer(run, *seq, response);
            }
            Heard::Failed(error) => {
                self.emit_rest(run);
                self.emit(run, || RunEvent::ModelFailed { error: (*error).into() });
            }
            Heard::Compacting => self.emit(run, || RunEvent::Compacting {}),
            Heard::Waiting => self.emit(run, || RunEvent::Waiting {}),
            Heard::Refused { call, tool, text } => self.emit(run, || RunEvent::ToolRefused {
                call_id: call.map(str::to_owned),
                name: (*tool).to_owned(),
                text: (*text).to_owned(),
            }),
        }
    }

    fn emit_answer(&mut self, run: &str, seq: u64, response: &Response) {
        for (index, call) in response.tool_calls().enumerate() {
            let arguments = match &call.arguments {
                Arguments::Json(value) => value.clone(),
                Arguments::Unparsable(text) => json!({"__unparsable__": text}),
            };
            let (call_id, name) = (call_id(run, seq, index), call.name.clone());
            self.lines.announced.insert(call_id.clone());
            self.emit(run, || RunEvent::ToolUse { call_id, name, arguments, parent_call_id: None });
        }
        self.emit(run, || RunEvent::Message {
            text: response.text(),
            finish: finish(response.finish),
            usage: (&response.usage).into(),
        });
    }

    fn emit_piece(&mut self, run: &str, kind: Kind, piece: &str) {
        let redactor = self.redactor_of(run);
        let held = self.lines.held.entry(run.to_owned()).or_default();
        let shown = held.push(&redactor, kind, piece);
        shown.into_iter().for_each(|(kind, text)| self.emit_text(run, kind, text));
    }

    /// What was held back of what an agent below the first has said, at the end of it.
    fn emit_rest(&mut self, run: &str) {
        let redactor = self.redactor_of(run);
        let rest = self.lines.held.remove(run).and_then(|mut held| held.rest(&redactor));
        rest.into_iter().for_each(|(kind, text)| self.emit_text(run, kind, text));
    }

    fn emit_text(&mut self, run: &str, kind: Kind, text: String) {
        self.emit(run, || match kind {
            Kind::Text => RunEvent::Text { text },
            Kind::Thinking => RunEvent::Thinking { text },
        });
    }

    fn redactor_of(&self, run: &str) -> Arc<Redactor> {
        Arc::clone(self.lines.redactors.get(run).unwrap_or(&self.redactor))
    }

    /// What happens to a call, and the beginning and the end of agents below the first.
    pub(super) fn emit_event(&mut self, run: &str, event: &Event) {
        if self.show != Show::Json {
            return;
        }
        if let EventKind::Activation { fact } = &event.kind {
            return self.emit_fact(run, fact);
        }
        let Some(call) = &event.call else { return };
        let call_id = call.clone();
        match &event.kind {
            EventKind::CallRequested { tool, arguments, parent }
                // Those of an answer were announced with it, unless another process had the answer.
                if self.lines.announced.insert(call_id.clone()) => {
                    self.emit(run, || RunEvent::ToolUse {
                        call_id,
                        name: tool.clone(),
                        arguments: arguments.clone(),
                        parent_call_id: parent.clone(),
                    });
                }
            EventKind::Progress { title, metadata } => self.emit(run, || RunEvent::Progress {
                call_id,
                title: title.clone(),
                metadata: metadata.clone(),
            }),
            EventKind::CallRetried { attempt, error, delay_ms } => self.emit(run, || RunEvent::ToolRetry {
                call_id,
                attempt: *attempt,
                delay_ms: *delay_ms,
                error: error.into(),
            }),
            EventKind::Asked { question } => self.emit(run, || RunEvent::Question {
                call_id,
                tool: question.tool.clone(),
                text: question.text.clone(),
            }),
            EventKind::CallFinished { tool, output, error, metadata } => {
                self.lines.announced.remove(call);
                self.emit(run, || RunEvent::ToolResult {
                    call_id,
                    tool: tool.clone(),
                    success: error.is_none(),
                    title: output.as_ref().map(|output| output.title.clone()),
                    output: output.as_ref().map(|output| output.text.clone()),
                    error: error.as_ref().map(Fault::from),
                    duration_ms: metadata.execution_time_ms,
                });
            }
            _ => {}
        }
    }

    fn emit_fact(&mut self, run: &str, fact: &Fact) {
        if run == self.root || self.root.is_empty() {
            return;
        }
        match fact {
            Fact::Started { start } => self.emit(run, || RunEvent::Agent {
                parent: start.parent.clone(),
                call_id: start.call.clone(),
                task: start.task.clone(),
            }),
            Fact::Ended { reason: why, text, error, usage, cost, unpriced, .. } => {
                self.emit(run, || RunEvent::AgentEnd {
                    reason: reason(*why),
                    error: error.clone(),
                    text: text.clone(),
                    usage: usage.into(),
                    cost_usd: cost.filter(|_| *unpriced == 0),
                    unpriced_tokens: *unpriced,
                });
                self.lines.end(run);
            }
            _ => {}
        }
    }

    /// What was said before in a conversation that goes on.
    pub(super) fn emit_past(&mut self, from: &str, text: &str) {
        let run = self.root.clone();
        let (from, text) = (from.to_owned(), text.to_owned());
        self.emit(&run, || RunEvent::Past { from, text });
    }
}
