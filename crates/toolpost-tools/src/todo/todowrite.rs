//! `todowrite`: replaces the todos of the session.

use super::{Data, output};
use crate::stored::{changes_store, with_store};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::collections::HashSet;
use toolpost_core::capability::Need;
use toolpost_core::store::{Todo, TodoPriority, TodoStatus};
use toolpost_core::{Capability, Code, Context, Output, Spec, Tool, ToolError};

/// Maximum number of todos in a list.
const MOST: usize = 1_000;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The whole list; what it leaves out is gone.
    todos: Vec<Item>,
}

/// One todo. A caller that gives no id or priority gets its place in the list, and `medium`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
struct Item {
    /// Your id for it.
    #[serde(default)]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    id: Option<String>,
    /// What is to be done.
    #[schemars(length(min = 1))]
    content: String,
    /// Where it stands.
    #[schemars(schema_with = "statuses")]
    status: TodoStatus,
    /// How much it matters.
    #[serde(default)]
    #[schemars(schema_with = "priorities", extend("x-toolpost-empty" = "absent"))]
    priority: Option<TodoPriority>,
}

// The comments of the stored types would be tokens in every list of tools.
fn statuses(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"]})
}

fn priorities(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["high", "medium", "low"]})
}

/// The tool.
pub struct TodoWrite;

impl Tool for TodoWrite {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        changes_store(
            Spec::new("todowrite", "1.0.0", include_str!("todowrite.txt"))
                .requires(Capability::Read)
                .needs(Need::Store)
                .idempotent(),
        )
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let (by, todos) = (ctx.by(), complete(args.todos)?);
        let kept = todos.clone();
        with_store(ctx, move |store| store.set_todos(&by, kept)).await?;
        Ok(output(ctx, todos))
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        complete(args.todos).map(|todos| output(ctx, todos))
    }
}

/// The list as it is kept: each todo with an id of its own, and a priority.
fn complete(items: Vec<Item>) -> Result<Vec<Todo>, ToolError> {
    if items.len() > MOST {
        let message = format!("the list has {} todos; at most {MOST} are kept", items.len());
        return Err(ToolError::new(Code::TooLarge, message));
    }
    let mut given: HashSet<String> = HashSet::new();
    if let Some(twice) = items.iter().filter_map(|item| item.id.clone()).find(|id| !given.insert(id.clone()))
    {
        let message = format!("two todos have the id `{twice}`; give each an id of its own, or none");
        return Err(ToolError::new(Code::ValidationError, message));
    }
    let mut todos = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let id = item.id.unwrap_or_else(|| {
            let mut numbers = (index + 1..).map(|number| number.to_string());
            // One of these numbers is free: there are more of them than todos.
            numbers.find(|number| given.insert(number.clone())).unwrap_or_default()
        });
        let priority = item.priority.unwrap_or(TodoPriority::Medium);
        todos.push(Todo { id, content: item.content, status: item.status, priority });
    }
    Ok(todos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(given: &[Option<&str>]) -> Result<Vec<String>, ToolError> {
        let item = |id: &Option<&str>| Item {
            id: id.map(str::to_owned),
            content: "x".to_owned(),
            status: TodoStatus::Pending,
            priority: None,
        };
        Ok(complete(given.iter().map(item).collect())?.into_iter().map(|todo| todo.id).collect())
    }

    #[test]
    fn ids_that_are_missing_are_numbers_that_nobody_has() {
        assert_eq!(ids(&[None, None]).unwrap(), ["1", "2"]);
        assert_eq!(ids(&[Some("2"), None, None]).unwrap(), ["2", "3", "4"]);
        assert_eq!(ids(&[None, Some("1"), None]).unwrap(), ["2", "1", "3"]);
        assert!(ids(&[Some("a"), Some("a")]).unwrap_err().message().contains("`a`"));
        assert_eq!(ids(&vec![None; MOST + 1]).unwrap_err().code(), Code::TooLarge);
    }
}
