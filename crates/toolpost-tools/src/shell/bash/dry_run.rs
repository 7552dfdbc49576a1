//! A dry run: the command in a throw-away overlay of the workspace.

mod report;

use super::{Args, Data, Prepared, explain, perform};
use crate::shell::{Confinement, Settings};
use report::Report;
pub(in crate::shell) use report::{Planned, Rest};
use std::path::{Path, PathBuf};
use toolpost_core::outcome::PlannedChange;
use toolpost_core::tool::OutputBudget;
use toolpost_core::{Code, Context, Output, ToolError};
use toolpost_process::Scratch;

/// Where changes are held if the host names no place, or one that cannot hold them.
const ELSEWHERE: [&str; 3] = ["/var/tmp", "/tmp", "/dev/shm"];

/// Runs the command where nothing lasts.
pub(super) async fn run(ctx: &Context, settings: &Settings, args: &Args) -> Result<Output<Data>, ToolError> {
    if settings.confinement == Confinement::None {
        return Err(ToolError::new(
            Code::SandboxUnavailable,
            "a dry run of a command needs the sandbox, which is switched off; leave out `--sandbox none`, or run \
             the command itself",
        ));
    }
    if args.background {
        return Err(ToolError::new(
            Code::ValidationError,
            format!(
                "a dry run tells what a command has done at its end; ask for it without `{}`",
                ctx.argument("background").unwrap_or("background")
            ),
        ));
    }
    let roots: Vec<PathBuf> = ctx.workspace().roots().into_iter().map(PathBuf::from).collect();
    let scratch = scratch(settings, roots.clone()).await?;
    let prepared = Prepared::new(ctx, settings, args, Some(scratch.path())).await?;
    // The other half is for what would change.
    let OutputBudget { bytes, lines } = ctx.output_budget();
    let half = OutputBudget { bytes: bytes / 2, lines: lines / 2 };
    let mut output = perform(ctx, args, prepared, half).await?;
    let room = OutputBudget {
        bytes: bytes.saturating_sub(output.text.len()),
        lines: lines.saturating_sub(output.text.lines().count()),
    };
    let root = ctx.workspace().root().to_owned();
    let report = in_background(move || Report::new(&scratch, &roots, Path::new(&root), room)).await??;
    if !output.text.is_empty() && !output.text.ends_with('\n') {
        output.text.push('\n');
    }
    output.text.push_str(&report.text);
    for planned in &report.named {
        ctx.would_change(PlannedChange {
            path: planned.path.clone(),
            kind: planned.kind.to_owned(),
            bytes_before: planned.bytes_before,
            bytes_after: planned.bytes_after,
        });
    }
    output.data.changes = Some(report.named);
    output.data.more_changes = report.rest;
    Ok(output)
}

async fn scratch(settings: &Settings, roots: Vec<PathBuf>) -> Result<Scratch, ToolError> {
    let bases: Vec<PathBuf> =
        settings.scratch.iter().cloned().chain(ELSEWHERE.iter().map(PathBuf::from)).collect();
    in_background(move || Scratch::new(&bases, &roots)).await?.map_err(|error| explain(&error))
}

async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ToolError::execution(format!("the dry run stopped: {error}")))
}
