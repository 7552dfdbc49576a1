//! `task`: a part of the work for another agent, as several hosts spell it. The agent can be continued.

use super::{amended, spec, would_start};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolpost_core::host::{SpawnOrder, SpawnedAgent};
use toolpost_core::tool::{Amendment, AnyTool, Setting};
use toolpost_core::{Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The work in a few words.
    description: String,
    /// What the agent has to do.
    #[schemars(length(min = 1))]
    prompt: String,
    /// Which agent.
    subagent_type: String,
    /// The session_id of an earlier task of the same agent, to continue it.
    #[serde(default)]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    session_id: Option<String>,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// By this the agent can be continued.
    session_id: String,
    /// Answers of its model.
    turns: u64,
    /// What it cost, in US dollars, where that is known.
    #[serde(rename = "costUsd")]
    cost_usd: Option<f64>,
}

/// The tool.
pub struct Task;

impl Tool for Task {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("task", include_str!("task.txt"))
    }

    async fn init(&self, setting: &Setting) -> Result<Option<Amendment>, ToolError> {
        Ok(amended(setting, self.definition(), "subagent_type"))
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let Args { description, prompt, subagent_type, session_id } = args;
        ctx.progress(&description, json!({ "agent": subagent_type }));
        let order = SpawnOrder {
            agent_type: subagent_type,
            prompt,
            continues: session_id.filter(|id| !id.trim().is_empty()),
            ..SpawnOrder::default()
        };
        let SpawnedAgent { id, text, turns, cost, .. } = ctx.agents()?.spawn(ctx, order).await?;
        let text = format!("{}\n\nsession_id: {id}", text.trim_end());
        Ok(Output::new(description, text, Data { session_id: id, turns, cost_usd: cost }))
    }

    async fn dry_run(&self, _: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let (_, text) = would_start(&args.subagent_type)?;
        let data = Data { session_id: String::new(), turns: 0, cost_usd: None };
        Ok(Output::new(args.description, text, data))
    }
}
