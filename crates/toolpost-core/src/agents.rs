//! What tools ask of the host that runs agents.

use crate::context::Context;
use crate::error::ToolError;
use crate::future::BoxFuture;
use crate::model::Usage;
use serde_json::Value;

/// Runs other agents. Implemented where the parts are joined, over a driver; called by tools that start agents.
///
/// Everything that bounds a tree of agents is the host's work: which agents there are, depth, fan-out, the budget, and that
/// the policy of a child is the meet of its own and its parent's. The same call made again, after the process that made it
/// first has ended, goes on with the same child.
pub trait AgentHost: Send + Sync {
    /// The agents that an agent may start, in the order of their names.
    fn types(&self, agent: Option<&str>) -> Vec<AgentType>;

    /// Starts an agent below the one whose call this is, or goes on with one. Waits for its end, unless the order says
    /// otherwise.
    fn spawn<'a>(
        &'a self,
        ctx: &'a Context,
        order: SpawnOrder,
    ) -> BoxFuture<'a, Result<SpawnedAgent, ToolError>>;

    /// Tells the agent above the one whose call this is something. When this returns, it cannot be lost. Returns the name of
    /// the agent that is told.
    fn signal_parent<'a>(
        &'a self,
        ctx: &'a Context,
        text: String,
    ) -> BoxFuture<'a, Result<String, ToolError>>;
}

/// An agent that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentType {
    /// Its name.
    pub name: String,
    /// When to use it; it may be empty.
    pub description: String,
}

/// Which agent is to do what.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpawnOrder {
    /// Its type.
    pub agent_type: String,
    /// What it has to do.
    pub prompt: String,
    /// JSON schema of its result, where that is to be data.
    pub result_schema: Option<Value>,
    /// The id of a child that has ended and goes on with this prompt.
    pub continues: Option<String>,
    /// Whether the call returns at once. The agent above is told of the child's end.
    pub is_in_background: bool,
}

/// An agent that was started.
#[derive(Debug, Clone, PartialEq)]
pub struct SpawnedAgent {
    /// Its id, by which it can be continued.
    pub id: String,
    /// Its last text; empty for one in the background.
    pub text: String,
    /// Its result, where a schema was given.
    pub data: Option<Value>,
    /// Answers of its model.
    pub turns: u64,
    /// Tokens of all its requests and answers, those of its own children not counted.
    pub usage: Usage,
    /// What they cost, in US dollars, as far as that is known.
    pub cost: Option<f64>,
}
