//! Tasks and todos.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit of work in the graph that all sessions of a store share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id: `t1`, `t2` and so on.
    pub id: String,
    /// A few words.
    pub title: String,
    /// All that its owner needs to know.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub description: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// The tasks that must be completed first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub depends_on: Vec<String>,
    /// Who has claimed it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<String>,
    /// The number of the last claim: it grows with each. 0 before the first.
    #[serde(default)]
    pub claim: u64,
    /// What its owner has submitted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<String>,
    /// Why it was rejected last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// When it was created, in milliseconds since 1970.
    #[serde(default)]
    pub created_ms: u64,
    /// When it changed last.
    #[serde(default)]
    pub changed_ms: u64,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// Waits for the tasks that it depends on.
    Pending,
    /// Can be claimed.
    Ready,
    /// Somebody works on it.
    Claimed,
    /// Done, as its owner says.
    Submitted,
    /// Done.
    Completed,
    /// Was rejected, and can be claimed again.
    Deferred,
}

impl TaskStatus {
    /// All of them, in their order.
    pub const ALL: [TaskStatus; 6] = [
        TaskStatus::Pending,
        TaskStatus::Ready,
        TaskStatus::Claimed,
        TaskStatus::Submitted,
        TaskStatus::Completed,
        TaskStatus::Deferred,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::Ready => "ready",
            TaskStatus::Claimed => "claimed",
            TaskStatus::Submitted => "submitted",
            TaskStatus::Completed => "completed",
            TaskStatus::Deferred => "deferred",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<TaskStatus> {
        TaskStatus::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// A task to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    /// Its name among those that are created with it, for [`NewTask::depends_on`]; the id is the store's to give.
    pub key: Option<String>,
    /// A few words.
    pub title: String,
    /// All that its owner needs to know.
    pub description: String,
    /// Ids of tasks, or keys of tasks that are created with it.
    pub depends_on: Vec<String>,
    /// What came of it, for a task that is completed already. Such a task may depend only on completed ones.
    pub result: Option<String>,
}

/// What is to happen to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskChange {
    /// Its new owner is the one who asks. One who has it already keeps the claim.
    Claim,
    /// Its owner hands in a result. One that nobody has is claimed by it. The claim number, where the owner knows it, must be
    /// that of the last claim.
    Submit {
        /// What came of it.
        result: String,
        /// The number that the owner was given.
        claim: Option<u64>,
    },
    /// The result is accepted.
    Complete,
    /// The result is not accepted.
    Reject {
        /// Why.
        reason: String,
    },
    /// Whoever has claimed it has it no more.
    Release,
}

/// A line of a session's list of todos.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// Any id; no two of a list are the same.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// Where it stands.
    pub status: TodoStatus,
    /// How much it matters.
    pub priority: TodoPriority,
}

/// Where a todo stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Not to be done.
    Cancelled,
}

/// How much a todo matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TodoPriority {
    /// First.
    High,
    /// Next.
    Medium,
    /// Last.
    Low,
}
