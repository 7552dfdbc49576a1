//! The todo pack: the list of what a session has yet to do.

mod todoread;
mod todowrite;

pub use todoread::TodoRead;
pub use todowrite::TodoWrite;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolpost_core::capability::Need;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;
use toolpost_core::store::{Todo, TodoStatus};
use toolpost_core::{Context, Output, Pack};

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "todo",
        "The list of what a session has yet to do.",
        RiskProfile::Fixed(Profile::ReadOnly),
        &["planning"],
    )
    .only_with(Need::Store)
    .with(TodoWrite)
    .with(TodoRead)
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// The todos of the session, in their order.
    todos: Vec<Todo>,
}

/// The list as JSON. In its text the fields are named as the session gives them; those that it does not give are left out.
fn output(ctx: &Context, todos: Vec<Todo>) -> Output<Data> {
    let open = todos.iter().filter(|todo| !is_over(todo.status)).count();
    let mut shown = serde_json::to_value(&todos).unwrap_or_default();
    for todo in shown.as_array_mut().into_iter().flatten() {
        let Value::Object(fields) = todo.take() else { continue };
        let named = fields
            .into_iter()
            .filter_map(|(field, value)| Some((ctx.field_of("todowrite", "todos", &field)?, value)));
        *todo = Value::Object(named.collect());
    }
    let text = shown.to_string();
    Output::new(format!("{open} of {} todos open", todos.len()), text, Data { todos })
}

fn is_over(status: TodoStatus) -> bool {
    matches!(status, TodoStatus::Completed | TodoStatus::Cancelled)
}
