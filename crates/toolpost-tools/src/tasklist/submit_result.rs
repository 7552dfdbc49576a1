//! `submit_result`: what came of a task.

use super::claims::Claims;
use super::{Data, WORKER, spec, told};
use crate::stored::{changes_store, with_store};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolpost_core::store::{TaskChange, TaskStatus};
use toolpost_core::{Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The task's id.
    task_id: String,
    /// What was done, and what came of it.
    result: String,
}

/// The tool.
pub struct SubmitResult {
    claims: Arc<Claims>,
}

impl SubmitResult {
    /// Looks for claims here.
    pub(super) fn new(claims: Arc<Claims>) -> SubmitResult {
        SubmitResult { claims }
    }
}

impl Tool for SubmitResult {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        changes_store(spec("submit_result", include_str!("submit_result.txt"), &[WORKER]).idempotent())
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { task_id, result } = args;
        let (by, claims) = (ctx.by(), Arc::clone(&self.claims));
        let task = with_store(ctx, move |store| {
            let claim = claims.number(by.owner(), &task_id);
            let task = store.change_task(&by, &task_id, TaskChange::Submit { result, claim })?;
            claims.forget(by.owner(), &task_id);
            Ok(task)
        });
        task.await.map(told::changed)
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { task_id, result } = args;
        let task = with_store(ctx, move |store| store.task(&task_id)).await?;
        let by = ctx.by();
        let is_own = task.owner.as_deref() == Some(by.owner());
        let claim = self.claims.number(by.owner(), &task.id);
        let is_possible = match task.status {
            TaskStatus::Ready | TaskStatus::Deferred => claim.is_none(),
            TaskStatus::Claimed => is_own && claim.is_none_or(|claim| claim == task.claim),
            TaskStatus::Submitted | TaskStatus::Completed => is_own && task.result.as_ref() == Some(&result),
            TaskStatus::Pending => false,
        };
        told::could("submit", task, is_possible)
    }
}
