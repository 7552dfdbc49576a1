//! What most programs with tools name: `use toolpost_core::prelude::*`.
//!
//! It holds the words of the crate page. What only hosts need (journals, packs, dialects, sources of tools) is named by itself.

pub use crate::capability::Capability;
pub use crate::confirm::{Answer, Question, Scope};
pub use crate::context::Context;
pub use crate::error::{Code, ToolError};
pub use crate::event::{Event, EventKind};
pub use crate::executor::{Call, Executor, Verdict};
pub use crate::outcome::{Outcome, Output};
pub use crate::policy::Policy;
pub use crate::registry::Registry;
pub use crate::tool::{Spec, Tool, dynamic, function};
pub use crate::workspace::{Memory, Workspace, WorkspacePath};
