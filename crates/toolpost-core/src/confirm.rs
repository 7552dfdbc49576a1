//! The one way to ask the person: before a call that the policy wants confirmed, or from inside a tool.

use crate::access::{Access, Resource};
use crate::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// Puts questions to whoever can answer. Implemented by terminals, MCP sessions and tests; called by the executor
/// for an `ask` and by tools through [`Context::confirm`](crate::Context::confirm).
///
/// An implementation answers [`Answer::Nobody`] at once where no person can be reached: an ask never hangs.
pub trait Confirm: Send + Sync {
    /// Asks, and waits for the answer. Dropping the future withdraws the question.
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;

    /// Whether a preview of what would change is worth computing, because somebody will look at it.
    fn wants_preview(&self) -> bool {
        false
    }
}

/// What the person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The tool that asks or is asked about.
    pub tool: String,
    /// The question in one sentence.
    pub text: String,
    /// What the call would touch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<Access>,
    /// What would change, from a dry run that only computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

impl Question {
    /// Applies `change` to every text of the question.
    pub(crate) fn map_text(mut self, change: &dyn Fn(&str) -> String) -> Question {
        self.text = change(&self.text);
        self.preview = self.preview.as_deref().map(change);
        for access in &mut self.accesses {
            match &mut access.resource {
                Resource::Path(name) | Resource::Command(name) | Resource::Host(name) => {
                    *name = change(name);
                }
                Resource::Any => {}
            }
        }
        self
    }
}

/// What the person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Go on.
    Yes,
    /// Do not, for this reason; it is told to the model.
    No(String),
    /// There is nobody to ask.
    Nobody,
}

/// For where no person is: every question is answered [`Answer::Nobody`].
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyThere;

impl Confirm for NobodyThere {
    fn confirm<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Nobody))
    }
}

/// Answers every question alike: for tests, and for `--yes`.
#[derive(Debug, Clone)]
pub struct Always(pub Answer);

impl Confirm for Always {
    fn confirm<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}
