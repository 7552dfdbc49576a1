//! Agents that another one has started, as a person sees them: what they wait for, and what each branch has spent. What they
//! say is the business of whoever has started them.

use super::{Block, View};
use crate::output::cost_in_words;
use toolpost_agent::driver::Heard;
use toolpost_agent::tree::Amount;
use toolpost_core::activation::Fact;

/// An agent that another one has started.
pub(super) struct Below {
    pub(super) agent: String,
    pub(super) depth: u64,
    /// The run of the agent that has started it, and the call.
    parent: Option<String>,
    call: Option<String>,
    /// With all agents below it.
    spent: Amount,
}

/// What was spent, in a few words; nothing where nothing was.
fn shown(spent: Amount) -> String {
    match (spent.tokens, cost_in_words(spent)) {
        (0, _) => String::new(),
        (tokens, Some(cost)) => format!("{tokens} tokens · {cost}"),
        (tokens, None) => format!("{tokens} tokens"),
    }
}

impl View {
    /// What an agent does that another one has started: its answers are the business of that one.
    pub(super) fn heard_below(&mut self, run: &str, heard: &Heard<'_>) {
        let agent = self.agent_below(run);
        if let (Heard::Asking | Heard::Answered { .. } | Heard::Failed(_) | Heard::Waiting, Some(call)) =
            (heard, self.below.get(run).and_then(|below| below.call.as_ref()))
        {
            let what = match heard {
                Heard::Asking => format!("{}: waits for its model", self.clean(&agent)),
                Heard::Waiting => format!("{}: waits for agents", self.clean(&agent)),
                _ => String::new(),
            };
            self.region.change(call, &what);
        }
        match heard {
            Heard::Refused { tool, text, .. } if self.talks => {
                let line = format!("✗ {} › {}  {}", self.clean(&agent), self.clean(tool), self.clean(text));
                self.line(Block::Calls, &self.colored("31", &line));
            }
            Heard::Failed(error) if self.talks => {
                let line = format!("✗ {}  {}", self.clean(&agent), self.clean(&error.message));
                self.line(Block::Calls, &self.colored("31", &line));
            }
            _ => {}
        }
    }

    fn agent_below(&self, run: &str) -> String {
        self.below.get(run).map(|below| below.agent.clone()).unwrap_or_default()
    }

    /// Counts what an agent has spent, for it and for all above it; the call that each was started by shows it.
    pub(super) fn spend(&mut self, run: &str, fact: &Fact) {
        let (usage, cost) = match fact {
            Fact::Answered { response, cost, .. } => (&response.usage, cost),
            Fact::ModelFailed { usage, cost, .. }
            | Fact::Spent { usage, cost, .. }
            | Fact::Compacted { usage, cost, .. } => (usage, cost),
            _ => return,
        };
        let amount = Amount::of(usage, *cost);
        self.spent = self.spent.plus(amount);
        self.region.spent = shown(self.spent);
        let mut next = Some(run.to_owned());
        while let Some(below) = next.and_then(|run| self.below.get_mut(&run)) {
            below.spent = below.spent.plus(amount);
            if let Some(call) = &below.call {
                self.region.spent_by(call, &shown(below.spent));
            }
            next = below.parent.clone();
        }
    }

    /// The beginning or the end of an agent that another one has started.
    pub(super) fn told_below(&mut self, run: &str, fact: &Fact) {
        match fact {
            Fact::Started { start } => {
                let below = Below {
                    agent: start.agent.clone(),
                    depth: start.depth,
                    parent: start.parent.clone(),
                    call: start.call.clone(),
                    spent: Amount::default(),
                };
                self.below.insert(run.to_owned(), below);
            }
            Fact::Ended { reason, .. } => {
                let agent = self.agent_below(run);
                if self.talks {
                    let spent = self.below.get(run).map(|below| shown(below.spent)).unwrap_or_default();
                    let gap = if spent.is_empty() { "" } else { " · " };
                    let line = format!("  {} ended: {reason:?}{gap}{spent}", self.clean(&agent));
                    self.line(Block::Calls, &format!("{}{line}{}", self.dim(), self.plain()));
                }
            }
            _ => {}
        }
    }
}
