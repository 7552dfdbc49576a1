//! `batch`: independent calls side by side, each through the executor like any other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use toolpost_core::{Call, Code, Context, Outcome, Output, OutputBudget, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The calls; none may need another's result.
    #[schemars(length(min = 1, max = 25))]
    calls: Vec<Item>,
}

/// One call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// The tool's name.
    tool: String,
    /// Its arguments.
    #[serde(default = "no_arguments")]
    #[schemars(schema_with = "any_object")]
    args: Value,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

fn any_object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object"})
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// Calls that worked.
    succeeded: usize,
    /// Calls that did not.
    failed: usize,
    /// The outcome of each call, in order, as `toolpost call --json` prints it.
    results: Vec<Value>,
}

/// The tool.
pub struct Batch;

impl Tool for Batch {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        // Every call in it has its own time-out; this one only has to be longer.
        let limit = Duration::from_secs(900);
        Spec::new("batch", "1.0.0", include_str!("batch.txt"))
            .parallel_safe()
            .timeout(limit, limit)
            // Time for the calls in it to hand over what they have.
            .grace(Duration::from_secs(2))
            .own_dry_run()
            .budget(OutputBudget { bytes: 100_000, lines: 10_000 })
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        // A batch in a batch would multiply the limit.
        if let Some(at) = args.calls.iter().position(|item| item.tool == "batch") {
            return Err(ToolError::new(
                Code::DepthExceeded,
                format!("`calls[{at}]` is a batch itself; put its calls into this one"),
            ));
        }
        let calls = args.calls.into_iter().map(|item| Call::new(item.tool, item.args)).collect();
        let outcomes = ctx.call_all(calls).await.ok_or_else(|| {
            ToolError::execution("there is no executor around this call; run `batch` through one")
        })?;
        let succeeded = outcomes.iter().filter(|outcome| outcome.is_success()).count();
        let failed = outcomes.len() - succeeded;
        let title = format!("{succeeded} of {} calls worked", outcomes.len());
        let text = text(&outcomes, ctx.output_budget());
        let results = outcomes.iter().map(Outcome::to_json).collect();
        let mut output = Output::new(title, text, Data { succeeded, failed, results });
        for outcome in outcomes {
            output.attachments.extend(outcome.result.into_iter().flat_map(|output| output.attachments));
        }
        Ok(output)
    }
}

/// The results one after another. A long one may use what the short ones leave, so that none is lost in the middle.
fn text(outcomes: &[Outcome], budget: OutputBudget) -> String {
    let texts: Vec<String> = outcomes.iter().map(Outcome::to_text).collect();
    let heading = 80;
    let share =
        fair_share(texts.iter().map(String::len).collect(), budget.bytes - heading * (texts.len() + 1));
    let mut all = String::new();
    for (index, (outcome, text)) in outcomes.iter().zip(&texts).enumerate() {
        let state = if outcome.is_success() { "ok" } else { "failed" };
        all.push_str(&format!("## {}. {}: {state}\n", index + 1, outcome.tool));
        let shown = &text[..text.floor_char_boundary(share.min(text.len()))];
        all.push_str(shown.trim_end_matches('\n'));
        if shown.len() < text.len() {
            all.push_str(&format!("\n[… {} bytes left out; make this call alone]", text.len() - shown.len()));
        }
        all.push_str("\n\n");
    }
    all.trim_end().to_owned()
}

/// The largest length to which all can be cut so that together they fit.
fn fair_share(mut lengths: Vec<usize>, budget: usize) -> usize {
    lengths.sort_unstable();
    let mut left = budget;
    for (index, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - index);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::fair_share;

    #[test]
    fn short_results_leave_room_for_long_ones() {
        assert_eq!(fair_share(vec![10, 10, 10], 100), usize::MAX);
        assert_eq!(fair_share(vec![10, 500, 10], 100), 80);
        assert_eq!(fair_share(vec![500, 500], 100), 50);
        assert_eq!(fair_share(vec![], 100), usize::MAX);
    }
}
