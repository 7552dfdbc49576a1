//! `complete_task`: a result is accepted.

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
}

/// The tool.
pub struct CompleteTask;

impl Tool for CompleteTask {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        changes_store(spec("complete_task", include_str!("complete_task.txt"), &[ORCHESTRATOR]).idempotent())
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let by = ctx.by();
        let task = with_store(ctx, move |store| store.change_task(&by, &args.task_id, TaskChange::Complete));
        task.await.map(told::changed)
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let task = with_store(ctx, move |store| store.task(&args.task_id)).await?;
        let is_possible = matches!(task.status, TaskStatus::Submitted | TaskStatus::Completed);
        told::could("complete", task, is_possible)
    }
}
