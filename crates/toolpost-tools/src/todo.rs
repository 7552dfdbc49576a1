//! The todo pack: the list of what a session has yet to do.

mod todoread;
mod todowrite;

pub use todoread::TodoRead;
pub use todowrite::TodoWrite;

use schemars::JsonSchema;
use serde::Serialize;
use toolpost_core::capability::Need;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;
use toolpost_core::store::{Todo, TodoStatus};
use toolpost_core::{Output, Pack};

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

/// The list as JSON, which is its text too.
fn output(todos: Vec<Todo>) -> Output<Data> {
    let open = todos.iter().filter(|todo| !is_over(todo.status)).count();
    // A list of plain texts can always be written as JSON.
    let text = serde_json::to_string(&todos).unwrap_or_default();
    Output::new(format!("{open} of {} todos open", todos.len()), text, Data { todos })
}

fn is_over(status: TodoStatus) -> bool {
    matches!(status, TodoStatus::Completed | TodoStatus::Cancelled)
}
