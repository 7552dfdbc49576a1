//! A folder that was asked for as if it were a file: its names, by pages.

use super::{Args, Data, go_on, past_the_end};
use crate::one_line;
use toolpost_core::workspace::Kind;
use toolpost_core::{Context, Output, ToolError};
use toolpost_walk::{WalkOptions, walk};

/// Bytes kept free for what stands around the names.
const ROOM_FOR_NOTE: usize = 10 * 1024;

pub(super) fn names(ctx: &Context, args: &Args) -> Result<Output<Data>, ToolError> {
    let first = args.offset.max(1);
    let skipped = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let limit = usize::try_from(args.limit()).unwrap_or(usize::MAX).min(ctx.output_budget().lines - 10);
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
        walk(ctx.workspace().as_ref(), &args.file_path, &options, &|| ctx.checkpoint().is_err(), &holds)?;
    ctx.checkpoint()?;
    let total = found.found.len() as u64 + found.left_out;
    if first > 1 && first > total {
        return Err(past_the_end(ctx, &name, "entries", total, first));
    }
    let shown_name = one_line(&name);
    let mut text = format!("{shown_name} is a folder of {total} entries:\n");
    let room = ctx.output_budget().bytes.saturating_sub(ROOM_FOR_NOTE);
    let mut lines = 0;
    for entry in found.found.iter().skip(skipped) {
        let last = entry.name.rsplit('/').next().unwrap_or(&entry.name);
        let mark = if entry.kind == Kind::Folder { "/" } else { "" };
        let line = format!("{}{mark}\n", one_line(last));
        if text.len() + line.len() > room {
            break;
        }
        text.push_str(&line);
        lines += 1;
    }
    let next = Some(first + lines).filter(|next| *next <= total);
    let mut notes = Vec::new();
    if let Some(next) = next {
        notes.push(format!("{} more{}", total - next + 1, go_on(ctx, next)));
    }
    if found.not_utf8 > 0 {
        notes.push(format!("{} names are not UTF-8", found.not_utf8));
    }
    if !notes.is_empty() {
        text.push_str(&format!("({})", notes.join("; ")));
    }
    if let Some(note) = held_back.note() {
        text.push_str(&format!("({note})"));
    }
    let data = Data {
        path: name.clone(),
        kind: "folder".to_owned(),
        start_line: first,
        lines,
        total_lines: Some(total),
        next_offset: next,
        ..Data::default()
    };
    Ok(Output::new(name, text, data))
}
