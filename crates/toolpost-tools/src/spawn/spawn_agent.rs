//! `spawn_agent`: another agent does a part of the work.

use super::{amended, spec, would_start};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolpost_core::host::{SpawnOrder, SpawnedAgent};
use toolpost_core::tool::{Amendment, AnyTool, Setting};
use toolpost_core::{Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Which agent.
    agent_type: String,
    /// What it has to do.
    #[schemars(length(min = 1))]
    prompt: String,
    /// The work in a few words, for the person who watches.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    description: Option<String>,
    /// What it should know first.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    context: Option<String>,
    /// Wait for its end. Otherwise the call returns at once, and you are notified when it has ended.
    #[serde(default = "yes")]
    wait: bool,
    /// JSON schema of its result, where you want data.
    #[schemars(schema_with = "any_object")]
    #[serde(default)]
    result_schema: Option<Value>,
}

fn yes() -> bool {
    true
}

fn any_object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object"})
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The id of the agent's run.
    agent_id: String,
    /// Its result, where a schema was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "anything")]
    result: Option<Value>,
    /// Whether it is still at work.
    running: bool,
    /// Answers of its model.
    turns: u64,
    /// What it cost, in US dollars, where that is known.
    cost_usd: Option<f64>,
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({})
}

/// The tool.
pub struct SpawnAgent;

impl Tool for SpawnAgent {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("spawn_agent", include_str!("spawn_agent.txt"))
    }

    async fn init(&self, setting: &Setting) -> Result<Option<Amendment>, ToolError> {
        Ok(amended(setting, self.definition(), "agentType"))
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { agent_type, prompt, description, context, wait, result_schema } = args;
        let description = description.filter(|description| !description.trim().is_empty());
        if let Some(description) = &description {
            ctx.progress(description, json!({ "agent": agent_type }));
        }
        let prompt = match context.filter(|context| !context.trim().is_empty()) {
            Some(context) => format!("# Context\n\n{}\n\n# Task\n\n{prompt}", context.trim_end()),
            None => prompt,
        };
        let order = SpawnOrder {
            agent_type: agent_type.clone(),
            prompt,
            result_schema,
            continues: None,
            is_in_background: !wait,
        };
        let SpawnedAgent { id, text, data, turns, cost, .. } = ctx.agents()?.spawn(ctx, order).await?;
        let text = match (&data, wait) {
            (_, false) => format!("started {agent_type} ({id}); you are notified when it has ended"),
            (Some(data), true) => data.to_string(),
            (None, true) => text,
        };
        let data = Data { agent_id: id, result: data, running: !wait, turns, cost_usd: cost };
        Ok(Output::new(description.unwrap_or(agent_type), text, data))
    }

    async fn dry_run(&self, _: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let (title, text) = would_start(&args.agent_type)?;
        let data = Data { agent_id: String::new(), result: None, running: false, turns: 0, cost_usd: None };
        Ok(Output::new(title, text, data))
    }
}
