//! `reject_task`: a result is not accepted, and the task can be claimed again.

use super::{Data, ORCHESTRATOR, spec, told};
use crate::stored::{changes_store, with_store};
use schemars::JsonSchema;
use serde::Deserialize;
use toolpost_core::store::{TaskChange, TaskStatus};
use toolpost_core::{Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The task's id.
    task_id: String,
    /// What is missing; the next worker reads it.
    #[schemars(length(min = 1))]
    reason: String,
}

/// The tool.
pub struct RejectTask;

impl Tool for RejectTask {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        changes_store(spec("reject_task", include_str!("reject_task.txt"), &[ORCHESTRATOR]).idempotent())
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { task_id, reason } = args;
        let by = ctx.by();
        let task =
            with_store(ctx, move |store| store.change_task(&by, &task_id, TaskChange::Reject { reason }));
        task.await.map(told::changed)
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { task_id, reason } = args;
        let task = with_store(ctx, move |store| store.task(&task_id)).await?;
        let is_possible = match task.status {
            TaskStatus::Submitted => true,
            TaskStatus::Deferred => task.reason.as_ref() == Some(&reason),
            _ => false,
        };
        told::could("reject", task, is_possible)
    }
}
