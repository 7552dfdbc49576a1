//! The one way to ask the person: before a call that the policy wants confirmed, or from inside a tool.

use crate::access::{Access, Resource};
use crate::error::ToolError;
use crate::future::BoxFuture;
use crate::policy::Rule;
use serde::{Deserialize, Serialize};

/// Puts questions to whoever can answer. Implemented by terminals, MCP sessions and tests; called by the executor
/// for an `ask` and by tools through [`Context::confirm`](crate::Context::confirm).
///
/// An implementation answers [`Answer::Nobody`] at once where no person can be reached: an ask never hangs.
pub trait Confirm: Send + Sync {
    /// Asks, and waits for the answer. Dropping the future withdraws the question.
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;

    /// Asks several questions at once; the answers in order. Each answer is to its own question, also where two read alike.
    fn confirm_all<'a>(&'a self, questions: &'a [Question]) -> BoxFuture<'a, Vec<Answer>> {
        Box::pin(futures_util::future::join_all(questions.iter().map(|question| self.confirm(question))))
    }

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
    /// The arguments of the call that it is about, as a fingerprint: equal questions of calls with other arguments are two.
    #[serde(skip)]
    pub call: String,
    /// What else a person should know of the call, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// What the call would touch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<Access>,
    /// What would change, from a dry run that only computes, or from one that the person has asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Whether [`Answer::DryRun`] is an answer.
    #[serde(default)]
    pub has_dry_run: bool,
    /// Whether it is about a protected or key file: a blanket yes does not answer it.
    #[serde(default)]
    pub protected: bool,
    /// What would be kept if the answer is to be remembered; none where it cannot be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<Remember>,
}

/// Exactly what a remembered answer would grant, and where it would be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remember {
    /// The rules that would allow this and nothing else, in their short form.
    pub rules: Vec<String>,
    /// The file for this session, if it outlives the process; otherwise such an answer is kept in memory.
    pub session_file: Option<String>,
    /// The file for this workspace, if answers can be kept.
    pub project_file: Option<String>,
    /// The file for all workspaces, if answers can be kept.
    pub user_file: Option<String>,
}

/// How long an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For this call.
    Once,
    /// For the rest of the session.
    Session,
    /// For this workspace, from now on.
    Project,
    /// For every workspace of the user, from now on.
    User,
}

/// Keeps answers that outlive the session. Implemented by the host, outside of every workspace; called by the
/// executor with exactly the rules that were shown.
pub trait Answers: Send + Sync {
    /// The file that answers of this scope go to; none where they cannot be kept.
    fn place(&self, scope: Scope) -> Option<String>;

    /// Keeps these rules.
    fn save(&self, scope: Scope, rules: &[Rule]) -> Result<(), ToolError>;
}

impl Question {
    /// Applies `change` to every text of the question.
    pub(crate) fn map_text(mut self, change: &dyn Fn(&str) -> String) -> Question {
        self.text = change(&self.text);
        self.preview = self.preview.as_deref().map(change);
        self.facts.iter_mut().for_each(|fact| *fact = change(fact));
        if let Some(remember) = &mut self.remember {
            for rule in &mut remember.rules {
                *rule = change(rule);
            }
        }
        for access in &mut self.accesses {
            match &mut access.resource {
                Resource::Path(name)
                | Resource::Stored(name)
                | Resource::Command(name)
                | Resource::Host(name) => {
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
    /// Go on, now and for as long as the scope says.
    Yes(Scope),
    /// Do not, for this reason; it is told to the model.
    No(String),
    /// Run it first where nothing lasts, and ask again with what came of it.
    DryRun,
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

/// Answers every question alike, protected files included: for tests.
#[derive(Debug, Clone)]
pub struct Always(pub Answer);

impl Confirm for Always {
    fn confirm<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

/// Asks by calling a closure; see [`ContextBuilder::confirm_with`](crate::host::ContextBuilder::confirm_with).
pub(crate) struct Asks<F>(pub(crate) F);

impl<F, R> Confirm for Asks<F>
where
    F: Fn(Question) -> R + Send + Sync,
    R: Future<Output = Answer> + Send + 'static,
{
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin((self.0)(question.clone()))
    }
}
