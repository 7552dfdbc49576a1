//! What the model can cause through a tool, which [`crate::policy`] defines, and the facts and needs that stand beside it.

pub use toolpost_policy::capability::{Capabilities, Capability};

use serde::{Deserialize, Serialize};

/// A service that a tool cannot work without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// The code engine.
    Engine,
    /// Sessions, virtual files, tasks and todos.
    Store,
    /// A language model.
    Model,
    /// The host that runs other agents.
    Agents,
    /// An agent above, which has started the one that calls the tool.
    Parent,
}

impl Need {
    /// The word used in definitions.
    pub fn as_str(self) -> &'static str {
        match self {
            Need::Engine => "engine",
            Need::Store => "store",
            Need::Model => "model",
            Need::Agents => "agents",
            Need::Parent => "parent",
        }
    }

    /// What is missing where it is not there.
    pub fn in_words(self) -> &'static str {
        match self {
            Need::Engine => "the engine service, which is not there",
            Need::Store => "the store service, which is not there",
            Need::Model => "the model service, which is not there",
            Need::Agents => "the agents service, which is not there",
            Need::Parent => "an agent above, which is not there",
        }
    }

    /// The code of a call that lacks this service.
    pub fn missing_code(self) -> crate::Code {
        match self {
            Need::Engine => crate::Code::EngineNotAvailable,
            Need::Store => crate::Code::StoreNotAvailable,
            Need::Model | Need::Agents | Need::Parent => crate::Code::LlmAssistRequired,
        }
    }
}

/// What is true of every call of a tool, beside its capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Facts {
    /// Calling twice has the effect of calling once, so no durable start record is needed.
    pub idempotent: bool,
    /// A failed call may be tried again, where the error says so too.
    pub retryable: bool,
    /// Calls may run beside each other.
    pub parallel_safe: bool,
}
