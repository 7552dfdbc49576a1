//! `list_tasks`: the tasks there are, one on a line.

use super::{ORCHESTRATOR, WORKER, spec, told};
use crate::stored::with_store;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolpost_core::store::{Task, TaskStatus};
use toolpost_core::{Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Only tasks that stand here.
    #[serde(default)]
    #[schemars(schema_with = "statuses", extend("x-toolpost-empty" = "absent"))]
    status: Option<TaskStatus>,
}

fn statuses(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": TaskStatus::ALL.map(TaskStatus::as_str)})
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// The tasks, in the order in which they were created.
    tasks: Vec<Listed>,
}

/// A task without its texts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Listed {
    /// Its id.
    id: String,
    /// A few words.
    title: String,
    /// Where it stands.
    #[schemars(schema_with = "statuses")]
    status: TaskStatus,
    /// The tasks that must be completed first.
    depends_on: Vec<String>,
    /// Who has claimed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
}

impl From<Task> for Listed {
    fn from(task: Task) -> Listed {
        let Task { id, title, status, depends_on, owner, .. } = task;
        Listed { id, title, status, depends_on, owner }
    }
}

/// The tool.
pub struct ListTasks;

impl Tool for ListTasks {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("list_tasks", include_str!("list_tasks.txt"), &[WORKER, ORCHESTRATOR])
            .idempotent()
            .parallel_safe()
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let tasks = with_store(ctx, move |store| store.tasks(args.status)).await?;
        let text = match (tasks.is_empty(), args.status) {
            (true, None) => "There are no tasks.".to_owned(),
            (true, Some(status)) => format!("No task is {}.", status.as_str()),
            (false, _) => tasks.iter().map(told::line).collect::<Vec<_>>().join("\n"),
        };
        let title = format!("{} tasks", tasks.len());
        Ok(Output::new(title, text, Data { tasks: tasks.into_iter().map(Listed::from).collect() }))
    }
}
