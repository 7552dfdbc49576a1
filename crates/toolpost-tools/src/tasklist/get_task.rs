//! `get_task`: one task in full; on demand it is claimed.

use super::claims::Claims;
use super::{Data, ORCHESTRATOR, WORKER, spec, told};
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
    /// Claim it: nobody else works on it then.
    #[serde(default)]
    claim: bool,
}

/// The tool.
pub struct GetTask {
    claims: Arc<Claims>,
}

impl GetTask {
    /// Remembers claims here.
    pub(super) fn new(claims: Arc<Claims>) -> GetTask {
        GetTask { claims }
    }
}

impl Tool for GetTask {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        changes_store(spec("get_task", include_str!("get_task.txt"), &[WORKER, ORCHESTRATOR]).idempotent())
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { task_id, claim } = args;
        if claim {
            self.claims.check_room()?;
        }
        let (by, claims) = (ctx.by(), Arc::clone(&self.claims));
        let task = with_store(ctx, move |store| {
            if !claim {
                return store.task(&task_id);
            }
            let task = store.change_task(&by, &task_id, TaskChange::Claim)?;
            // Here, and not after the wait: a call that is given up in the middle has claimed the task all the same.
            claims.remember(by.owner(), &task.id, task.claim);
            Ok(task)
        });
        let task = task.await?;
        Ok(Output::new(format!("{} {}", task.id, task.status.as_str()), told::whole(&task), Data { task }))
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { task_id, claim } = args;
        let task = with_store(ctx, move |store| store.task(&task_id)).await?;
        if !claim {
            return Ok(Output::new(task.id.clone(), told::whole(&task), Data { task }));
        }
        let is_own = task.owner.as_deref() == Some(ctx.by().owner());
        let is_possible = match task.status {
            TaskStatus::Ready | TaskStatus::Deferred => true,
            TaskStatus::Claimed => is_own,
            TaskStatus::Pending | TaskStatus::Submitted | TaskStatus::Completed => false,
        };
        told::could("claim", task, is_possible)
    }
}
