//! `todoread`: the todos of the session.

use super::{Data, output};
use crate::stored::with_store;
use schemars::JsonSchema;
use serde::Deserialize;
use toolpost_core::capability::Need;
use toolpost_core::{Capability, Context, Output, Spec, Tool, ToolError};

/// What the model may ask for: nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// The tool.
pub struct TodoRead;

impl Tool for TodoRead {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("todoread", "1.0.0", include_str!("todoread.txt"))
            .requires(Capability::Read)
            .needs(Need::Store)
            .idempotent()
            .parallel_safe()
    }

    async fn call(&self, ctx: &Context, _: Args) -> Result<Output<Data>, ToolError> {
        let session = ctx.session().to_owned();
        with_store(ctx, move |store| store.todos(&session)).await.map(|todos| output(ctx, todos))
    }
}
