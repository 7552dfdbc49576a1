//! `bash_output`: what a background command has written since the last look.

use super::background::{Background, Look};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::access::ResourceKind;
use toolpost_core::tool::OutputBudget;
use toolpost_core::{Access, Capability, Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Id of the background command.
    id: String,
    /// Text to write to its input first.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    input: Option<String>,
    /// Milliseconds to wait for new output.
    #[serde(default)]
    #[schemars(range(max = 600_000))]
    wait: u64,
}

/// The tool.
pub struct BashOutput(Arc<Background>);

impl BashOutput {
    /// For these commands.
    pub fn new(background: Arc<Background>) -> BashOutput {
        BashOutput(background)
    }
}

impl Tool for BashOutput {
    type Args = Args;
    type Data = Look;

    fn spec(&self) -> Spec {
        let limit = Duration::from_secs(610);
        Spec::new("bash_output", "1.0.0", include_str!("bash_output.txt"))
            .requires(Capability::Exec)
            .about(ResourceKind::Command)
            .timeout(limit, limit)
            .budget(OutputBudget { bytes: 30_000, lines: 2_000 })
            .argument_alias("bash_id", "id")
    }

    fn accesses(&self, _: &Args, _: Vec<Access>) -> Vec<Access> {
        // The command was decided when it was started; its session alone can reach it.
        Vec::new()
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Look>, ToolError> {
        let (id, job) = self.0.find(ctx, &args.id)?;
        if let Some(input) = &args.input {
            job.write(input).await?;
        }
        if args.wait > 0 {
            tokio::select! {
                () = job.wait(Duration::from_millis(args.wait), |job| job.has_news()) => (),
                () = ctx.cancel().cancelled() => (),
            }
        }
        Ok(job.look(&id))
    }
}
