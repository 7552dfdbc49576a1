//! What happens in a run, put on the stage: what is heard of the first agent's model, and what calls do.

use super::below::Below;
use super::call::{finished_line, summary};
use super::held::Kind;
use super::{Block, Show, View};
use crate::output::one_line;
use crate::output::width::for_terminal;
use serde_json::Value;
use std::time::Instant;
use toolpost_agent::driver::Heard;
use toolpost_core::Event;
use toolpost_core::event::EventKind;

impl View {
    pub(super) fn heard(&mut self, run: &str, heard: &Heard<'_>) {
        if run != self.root {
            self.emit_heard(run, heard);
            return self.heard_below(run, heard);
        }
        // What was held back of the text comes before what ends it.
        if matches!(heard, Heard::Answered { .. } | Heard::Failed(_)) {
            self.rest();
        }
        self.emit_heard(run, heard);
        match heard {
            Heard::Asking => {
                self.has_text = false;
                self.held.forget();
                self.region.waiting = Some((format!("waiting for {}", self.model), Instant::now()));
                self.draw();
            }
            Heard::Text(text) => self.piece(Kind::Text, text),
            Heard::Thinking(text) => {
                self.piece(Kind::Thinking, text);
                if let Some((what, _)) = &mut self.region.waiting {
                    *what = format!("{} is thinking", self.model);
                }
            }
            Heard::WritingCall(name) => {
                let what = format!("{} writes a call of {}", self.model, self.clean(name));
                let since = self.region.waiting.as_ref().map_or_else(Instant::now, |(_, since)| *since);
                self.region.waiting = Some((what, since));
            }
            Heard::Retry { attempt, delay_ms, error } => {
                self.held.forget();
                self.has_text = false;
                if self.talks {
                    let seconds = *delay_ms as f64 / 1000.0;
                    let line = format!(
                        "attempt {attempt} failed: {}; the next one in {seconds:.1} s",
                        self.clean(&error.message)
                    );
                    let line = for_terminal(&line, 2);
                    self.line(Block::Note, &format!("{}{line}{}", self.dim(), self.plain()));
                }
                let what = format!("waiting for {} (attempt {})", self.model, attempt + 1);
                self.region.waiting = Some((what, Instant::now()));
            }
            Heard::Answered { .. } => {
                self.region.waiting = None;
                self.region.clear();
                self.fresh_line();
            }
            Heard::Failed(_) => {
                self.region.waiting = None;
                self.region.clear();
            }
            Heard::Compacting => {
                self.region.waiting = Some(("summarizing the conversation".to_owned(), Instant::now()));
            }
            Heard::Waiting => {
                self.region.waiting = Some(("waiting for agents".to_owned(), Instant::now()));
                self.draw();
            }
            Heard::Refused { tool, text, .. } => {
                if self.talks {
                    let line = format!("✗ {}  {}", self.clean(tool), self.clean(text));
                    let line = for_terminal(&line, 2);
                    self.line(Block::Calls, &self.colored("31", &line));
                }
            }
        }
    }

    pub(super) fn event(&mut self, event: &Event) {
        let run = event.activation.as_deref().unwrap_or_default();
        let is_below = run != self.root && !self.root.is_empty();
        if let EventKind::Activation { fact } = &event.kind {
            self.spend(run, fact);
            if is_below {
                self.told_below(run, fact);
            }
        }
        self.emit_event(run, event);
        let Some(call) = &event.call else { return };
        match &event.kind {
            EventKind::CallRequested { tool, arguments, parent } => {
                if parent.is_none() {
                    self.calls += 1;
                    let shown = match self.below.get(run).filter(|_| is_below) {
                        Some(Below { agent, depth, .. }) => {
                            let indent = "  ".repeat(usize::try_from(*depth).unwrap_or(0).min(8));
                            format!("{indent}{} › {tool}", self.clean(agent))
                        }
                        None => tool.clone(),
                    };
                    self.region.start(call, &shown, &summary(arguments));
                }
            }
            EventKind::CallStarted { .. } => self.region.started(call),
            EventKind::Progress { title, metadata } => {
                self.region.change(call, &one_line(title));
                if let Some(text) = metadata.get("output").and_then(Value::as_str) {
                    self.region.wrote(call, text);
                }
            }
            EventKind::CallRetried { error, delay_ms, .. } => {
                let what = format!("{}; next attempt in {delay_ms} ms", one_line(error.message()));
                self.region.change(call, &what);
            }
            EventKind::Asked { .. } => {
                self.region.clear();
                self.fresh_line();
                if self.show == Show::Text {
                    self.separate(Some(Block::Question));
                }
                // Where a person writes, the answer is written too.
                if self.region.field.is_none() {
                    self.region.pauses += 1;
                }
            }
            EventKind::Answered { .. } => {
                self.region.pauses = self.region.pauses.saturating_sub(1);
                // What comes of the call stands below the answer.
                self.block = self.block.map(|_| Block::Calls);
            }
            EventKind::CallFinished { tool, output, error, metadata } => {
                let Some(running) = self.region.end(call) else { return };
                if error.as_ref().is_some_and(|error| error.code().exit_status() == 3) {
                    self.denials.push(tool.clone());
                }
                if self.talks {
                    let lines =
                        finished_line(&running, output.as_ref(), error.as_ref(), metadata, self.has_color);
                    self.line(Block::Calls, &lines);
                }
            }
            EventKind::ToolInitialized { .. }
            | EventKind::ArgumentsRepaired { .. }
            | EventKind::HookIntervened { .. }
            | EventKind::CallDecided { .. }
            | EventKind::OutputSpilled { .. }
            | EventKind::FileStored { .. }
            | EventKind::TaskChanged { .. }
            | EventKind::TodosChanged { .. }
            | EventKind::ChangesUndone { .. }
            | EventKind::Activation { .. }
            | EventKind::Warning { .. } => {}
        }
    }
}
