//! What stands for the beginning of a conversation that has become too long.

use super::Heartbeat;
use super::activation::Running;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_core::model::{Message, Part, Request, Role, ToolChoice, Usage};

/// Maximum number of tokens of a summary.
const MOST_TOKENS: u64 = 2_000;

const PROMPT: &str = "The conversation is about to be shortened. Write a summary of it that you can go on from: what you were asked to do, \
    what you have found out (with the names of files, lines and values that matter), what you have changed, what failed and why, \
    and what remains to be done. Write the summary alone, and call no tool.";

impl Running {
    /// A summary of the first turns by the model or, where it makes none, a list of what was done.
    pub(super) async fn summary(&self, turns: usize, cancel: &CancellationToken) -> (String, Usage) {
        let (mut messages, plain, system) = {
            let state = self.fold.state();
            let system = state.start().map(|start| start.system.clone()).unwrap_or_default();
            (state.messages_to_summarize(turns), state.plain_summary(turns), system)
        };
        match messages.last_mut() {
            Some(last) if last.role == Role::User => last.parts.push(Part::text(PROMPT)),
            _ => messages.push(Message::user(PROMPT)),
        }
        let request = Request {
            system,
            messages,
            tools: Arc::clone(&self.definitions()),
            tool_choice: ToolChoice::None,
            max_output_tokens: Some(
                self.model.profile().output_tokens.unwrap_or(MOST_TOKENS).min(MOST_TOKENS),
            ),
            ..Request::default()
        };
        match self.response(request, cancel, &Heartbeat::default()).await {
            Ok(response) if !response.text().trim().is_empty() => (response.text(), response.usage),
            Ok(response) => (plain, response.usage),
            // Where the budget of the tree has nothing left for a summary, the list is free.
            Err(unanswered) => (plain, unanswered.usage),
        }
    }
}
