//! `batch`: independent calls side by side, each through the executor like any other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use toolpost_core::policy::Foreseen;
use toolpost_core::tool::OutputBudget;
use toolpost_core::{Call, Code, Context, Outcome, Output, Policy, Spec, Tool, ToolError};

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
    #[schemars(length(max = 128))]
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
    /// The outcome of each call, in order, as `toolpost call --json` prints it; the bytes of attachments are only among
    /// those of the batch.
    #[schemars(schema_with = "objects")]
    results: Vec<Value>,
}

// A list of anything would do, but hosts that turn schemas into types stumble over it.
fn objects(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let item = any_object(generator);
    schemars::json_schema!({"type": "array", "items": item})
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
            .calls_tools()
            .timeout(limit, limit)
            // Time for the calls in it to hand over what they have.
            .grace(Duration::from_secs(2))
            .own_dry_run()
            // Shared out by bytes; no text of so many bytes has more lines.
            .budget(OutputBudget { bytes: 100_000, lines: 100_000 })
    }

    fn foreseen(&self, ctx: &Context, _: &Policy, args: &Args) -> Result<Foreseen, ToolError> {
        check_depth(args)?;
        let calls = args.calls.iter().filter_map(|item| ctx.foreseen(&item.tool, item.args.clone()));
        Ok(Foreseen { calls: calls.collect(), ..Foreseen::default() })
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        check_depth(&args)?;
        let calls = args.calls.into_iter().map(|item| Call::new(item.tool, item.args)).collect();
        let outcomes = ctx.call_all(calls).await.ok_or_else(|| {
            ToolError::execution("there is no executor around this call; run `batch` through one")
        })?;
        if ctx.time_left().is_none_or(|left| !left.is_zero()) {
            // At the end of its time a batch hands over what it has; whoever gave it up wants nothing of it.
            ctx.checkpoint()?;
        }
        let succeeded = outcomes.iter().filter(|outcome| outcome.is_success()).count();
        let failed = outcomes.len() - succeeded;
        let title = format!("{succeeded} of {} calls worked", outcomes.len());
        let share = share(&outcomes, ctx.output_budget());
        let text = text(ctx, &outcomes, share);
        let results = outcomes.iter().map(|outcome| result(outcome, share)).collect();
        let mut output = Output::new(title, text, Data { succeeded, failed, results });
        for outcome in outcomes {
            output.attachments.extend(outcome.result.into_iter().flat_map(|output| output.attachments));
        }
        Ok(output)
    }
}

/// A batch in a batch would multiply the limit.
fn check_depth(args: &Args) -> Result<(), ToolError> {
    match args.calls.iter().position(|item| item.tool == "batch") {
        Some(at) => Err(ToolError::new(
            Code::DepthExceeded,
            format!("`calls[{at}]` is a batch itself; put its calls into this one"),
        )),
        None => Ok(()),
    }
}

/// How much of each result is shown. A long one may use what the short ones leave, so that none is lost in the middle.
fn share(outcomes: &[Outcome], budget: OutputBudget) -> usize {
    let heading = 250;
    let room = budget.bytes.saturating_sub(heading * outcomes.len());
    fair_share(outcomes.iter().map(|outcome| outcome.to_text().len()).collect(), room)
}

/// The results one after another.
fn text(ctx: &Context, outcomes: &[Outcome], share: usize) -> String {
    let mut all = String::new();
    for (index, outcome) in outcomes.iter().enumerate() {
        let state = if outcome.is_success() { "ok" } else { "failed" };
        let text = cut(&outcome.to_text(), share);
        let name = ctx.tool_name(&outcome.tool).unwrap_or_else(|| outcome.tool.clone());
        let name = name.escape_debug();
        all.push_str(&format!("## {}. {name}: {state}\n{}\n\n", index + 1, text.trim_end_matches('\n')));
    }
    all.trim_end().to_owned()
}

/// The outcome for a program, no longer than its share of the text.
fn result(outcome: &Outcome, share: usize) -> Value {
    let mut outcome = outcome.clone();
    let mut attached = Vec::new();
    if let Ok(output) = &mut outcome.result {
        output.text = cut(&output.text, share);
        let attachments = std::mem::take(&mut output.attachments).into_iter();
        attached
            .extend(attachments.map(|one| json!({"mediaType": one.media_type, "filename": one.filename})));
    }
    let mut json = outcome.to_json();
    if !attached.is_empty() {
        json["attachments"] = attached.into();
    }
    json
}

fn cut(text: &str, share: usize) -> String {
    let shown = &text[..text.floor_char_boundary(share.min(text.len()))];
    match text.len() - shown.len() {
        0 => text.to_owned(),
        left_out => {
            format!("{}\n[… {left_out} bytes left out; make this call alone]", shown.trim_end_matches('\n'))
        }
    }
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
