//! `signal_parent`: a word to the agent above, before the end.

use crate::stored::changes_store;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolpost_core::capability::Need;
use toolpost_core::{Capability, Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What it should know.
    #[schemars(length(min = 1))]
    message: String,
    /// The same as data.
    #[serde(default)]
    #[schemars(schema_with = "any_object")]
    data: Option<Value>,
}

fn any_object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object"})
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// The agent that was told.
    told: String,
}

/// The tool. The same call made again is heard once.
pub struct SignalParent;

impl Tool for SignalParent {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        let spec = Spec::new("signal_parent", "1.0.0", include_str!("signal_parent.txt"));
        let spec = spec.requires(Capability::Read).needs(Need::Agents).needs(Need::Parent);
        let advice = "only an agent that another one has started can use it";
        changes_store(spec.where_missing(advice).idempotent())
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let text = match args.data {
            Some(data) => format!("{}\n\n{data}", args.message.trim_end()),
            None => args.message,
        };
        let told = ctx.agents()?.signal_parent(ctx, text).await?;
        Ok(Output::new(told.clone(), format!("told {told}"), Data { told }))
    }

    async fn dry_run(&self, _: &Context, _: Args) -> Result<Output<Data>, ToolError> {
        Ok(Output::new("signal", "would tell the agent above", Data { told: String::new() }))
    }
}
