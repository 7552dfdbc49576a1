//! What was said in a conversation that goes on: its last messages, as the log has them.

use crate::output::{Printer, Stage, Tone};
use toolpost_core::Event;
use toolpost_core::activation::Fact;
use toolpost_core::event::EventKind;

/// How many messages are shown.
const SHOWN: usize = 6;
/// Maximum number of characters and of lines of one of them.
const LONGEST: usize = 2_000;
const MOST_LINES: usize = 24;

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    User,
    Agent,
}

/// The last messages.
#[derive(Debug, Default)]
pub(super) struct Past {
    messages: Vec<(By, String)>,
    /// How many came before them.
    earlier: usize,
}

impl Past {
    /// What was said in a run.
    pub(super) fn of(run: &str, events: &[Event]) -> Past {
        let mut messages: Vec<(By, String)> = Vec::new();
        for event in events.iter().filter(|event| event.activation.as_deref() == Some(run)) {
            let EventKind::Activation { fact } = &event.kind else { continue };
            let (by, text) = match fact {
                Fact::Started { start } => (By::User, start.task.as_str()),
                Fact::Continued { text, .. } => (By::User, text.as_str()),
                Fact::Ended { text, .. } => (By::Agent, text.as_str()),
                _ => continue,
            };
            if !text.trim().is_empty() {
                messages.push((by, shortened(text.trim_end())));
            }
        }
        let earlier = messages.len().saturating_sub(SHOWN);
        Past { messages: messages.split_off(earlier), earlier }
    }

    /// Shows them: where a person looks, as they were; otherwise on standard error, or as events.
    pub(super) fn show(&self, printer: &Printer, stage: &Stage) {
        if self.earlier > 0 {
            stage.note(&format!("{} earlier messages are not shown", self.earlier));
        }
        for (by, text) in &self.messages {
            let is_shown = match by {
                By::User => stage.past("user", text),
                By::Agent => stage.past("agent", text),
            };
            if !is_shown && !printer.is_json() {
                let mark = if *by == By::User { "> " } else { "" };
                printer.say(Tone::Note, &format!("{mark}{text}"));
            }
        }
    }
}

fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut short = lines.iter().take(MOST_LINES).copied().collect::<Vec<_>>().join("\n");
    let is_cut = lines.len() > MOST_LINES || short.chars().nth(LONGEST).is_some();
    if let Some((end, _)) = short.char_indices().nth(LONGEST) {
        short.truncate(end);
    }
    if is_cut {
        short.push_str(" […]");
    }
    short
}
