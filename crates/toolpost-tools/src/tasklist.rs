//! The tasklist pack: the graph of tasks that all sessions of a store share. Workers submit, orchestrators complete.

mod claims;
mod complete_task;
mod create_task;
mod get_task;
mod list_tasks;
mod reject_task;
mod submit_result;
mod told;

pub use complete_task::CompleteTask;
pub use create_task::CreateTask;
pub use get_task::GetTask;
pub use list_tasks::ListTasks;
pub use reject_task::RejectTask;
pub use submit_result::SubmitResult;

use claims::Claims;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use toolpost_core::capability::Need;
use toolpost_core::pack::RiskProfile;
use toolpost_core::store::Task;
use toolpost_core::{Capability, Pack, Spec};

/// The role that does tasks.
pub const WORKER: &str = "worker";
/// The role that makes tasks, and accepts or rejects what was done.
pub const ORCHESTRATOR: &str = "orchestrator";
/// Every role.
pub const ROLES: [&str; 2] = [WORKER, ORCHESTRATOR];

/// The pack.
pub fn pack() -> Pack {
    let claims = Arc::new(Claims::default());
    Pack::compiled_in(
        "tasklist",
        "Tasks that sessions share; the role decides which of the tools there are.",
        RiskProfile::Dynamic,
        &["planning"],
    )
    .only_with(Need::Store)
    .with(ListTasks)
    .with(GetTask::new(Arc::clone(&claims)))
    .with(SubmitResult::new(claims))
    .with(CreateTask)
    .with(CompleteTask)
    .with(RejectTask)
}

/// What all six have in common.
fn spec(name: &str, description: &str, roles: &[&str]) -> Spec {
    let spec = Spec::new(name, "1.0.0", description).requires(Capability::Read).needs(Need::Store);
    roles.iter().fold(spec, |spec, role| spec.for_role(*role))
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// The task as it stands now.
    task: Task,
}
