//! `bash_kill`: ends a background command and everything it started.

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
    /// Milliseconds to let it end by itself.
    #[serde(default)]
    #[schemars(range(max = 20_000))]
    wait: u64,
}

/// The tool.
pub struct BashKill(Arc<Background>);

impl BashKill {
    /// For these commands.
    pub fn new(background: Arc<Background>) -> BashKill {
        BashKill(background)
    }
}

impl Tool for BashKill {
    type Args = Args;
    type Data = Look;

    fn spec(&self) -> Spec {
        Spec::new("bash_kill", "1.0.0", include_str!("bash_kill.txt"))
            .requires(Capability::Exec)
            .about(ResourceKind::Command)
            .idempotent()
            .budget(OutputBudget { bytes: 30_000, lines: 2_000 })
            .argument_alias("bash_id", "id")
            .argument_alias("shell_id", "id")
    }

    fn accesses(&self, _: &Args, _: Vec<Access>) -> Vec<Access> {
        Vec::new()
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Look>, ToolError> {
        let (id, job) = self.0.find(ctx, &args.id)?;
        if let Some(input) = &args.input {
            // One that has ended does not read; that is what is wanted.
            let _ = job.write(input).await;
        }
        if args.wait > 0 {
            job.wait(Duration::from_millis(args.wait), |job| job.has_ended()).await;
        }
        job.ask_to_end();
        job.wait(Duration::from_secs(5), |job| job.has_ended()).await;
        Ok(job.look(&id))
    }
}
