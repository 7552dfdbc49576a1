//! `create_task`: one more task for the graph.

use super::{Data, ORCHESTRATOR, spec, told};
use crate::stored::{changes_store, with_store};
use schemars::JsonSchema;
use serde::Deserialize;
use toolpost_core::store::{NewTask, Store, Task, TaskStatus};
use toolpost_core::{Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// A few words.
    #[schemars(length(min = 1))]
    title: String,
    /// All that its worker needs to know.
    #[serde(default)]
    description: String,
    /// Ids of tasks that must be completed first.
    #[serde(default)]
    depends_on: Vec<String>,
}

/// The tool.
pub struct CreateTask;

impl Tool for CreateTask {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        changes_store(spec("create_task", include_str!("create_task.txt"), &[ORCHESTRATOR]))
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { title, description, depends_on } = args;
        let (by, new) = (ctx.by(), NewTask { title, description, depends_on, ..NewTask::default() });
        let task = with_store(ctx, move |store| {
            let created = store.create_tasks(&by, vec![new])?;
            created.into_iter().next().ok_or_else(|| ToolError::execution("the store created no task"))
        });
        task.await.map(told::changed)
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let task = with_store(ctx, move |store| planned(store, args)).await?;
        Ok(told::would("create", task))
    }
}

/// The task that would be created. Its id is the store's to give.
fn planned(store: &dyn Store, args: Args) -> Result<Task, ToolError> {
    let Args { title, description, depends_on } = args;
    let needed = depends_on.iter().map(|id| store.task(id)).collect::<Result<Vec<_>, _>>()?;
    let waits = needed.iter().any(|task| task.status != TaskStatus::Completed);
    Ok(Task {
        id: "t?".to_owned(),
        title: title.trim().to_owned(),
        description,
        status: if waits { TaskStatus::Pending } else { TaskStatus::Ready },
        depends_on,
        owner: None,
        claim: 0,
        result: None,
        reason: None,
        created_ms: 0,
        changed_ms: 0,
    })
}
