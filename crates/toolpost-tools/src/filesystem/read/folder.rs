//! A folder that was asked for as if it were a file: its names, by pages.

use super::{Args, Data};
use toolpost_core::{Context, Kind, Output, ToolError, WalkOptions, walk};

pub(super) async fn names(ctx: &Context, args: &Args) -> Result<Output<Data>, ToolError> {
    let first = args.offset.max(1);
    let skipped = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX).min(ctx.output_budget().lines);
    let options = WalkOptions {
        hidden: true,
        no_ignore: true,
        max_depth: Some(1),
        limit: skipped.saturating_add(limit),
        ..WalkOptions::default()
    };
    let name = ctx.workspace().name(&args.file_path)?;
    let held_back = ctx.held_back();
    let holds = |name: &str| held_back.holds(name);
    let found =
        walk(ctx.workspace().as_ref(), &args.file_path, &options, &|| ctx.checkpoint().is_err(), &holds)
            .await?;
    ctx.checkpoint()?;
    let shown: Vec<String> = found
        .found
        .iter()
        .skip(skipped)
        .map(|entry| {
            let last = entry.name.rsplit('/').next().unwrap_or(&entry.name);
            format!("{last}{}\n", if entry.kind == Kind::Folder { "/" } else { "" })
        })
        .collect();
    let total = found.found.len() as u64 + found.left_out;
    let next = (found.left_out > 0).then(|| first + shown.len() as u64);
    let mut text = format!("{name} is a folder of {total} entries:\n{}", shown.concat());
    if let Some(next) = next {
        text.push_str(&format!("({} more; go on with {})", found.left_out, ctx.spelled("offset", next)));
    }
    if let Some(note) = held_back.note() {
        text.push_str(&format!("({note})"));
    }
    let data = Data {
        path: name.clone(),
        kind: "folder".to_owned(),
        start_line: first,
        lines: shown.len() as u64,
        total_lines: Some(total),
        next_offset: next,
        ..Data::default()
    };
    Ok(Output::new(name, text, data))
}
