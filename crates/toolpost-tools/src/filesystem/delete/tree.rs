//! A folder removed with everything in it: all of it is looked at before any of it goes.

use super::Data;
use crate::one_line;
use toolpost_core::host::Seen;
use toolpost_core::outcome::PlannedChange;
use toolpost_core::workspace::Kind;
use toolpost_core::{Code, Context, Output, ToolError, WorkspacePath};
use toolpost_walk::{WalkOptions, walk};

/// Maximum number of entries that are removed by one call.
const MOST: usize = 100_000;

pub(super) fn remove(ctx: &Context, folder: &WorkspacePath, name: String) -> Result<Output<Data>, ToolError> {
    let options = WalkOptions { hidden: true, no_ignore: true, limit: MOST, ..WalkOptions::default() };
    let should_stop = || ctx.checkpoint().is_err();
    let found = walk(ctx.workspace().as_ref(), folder, &options, &should_stop, &|_| false)?;
    ctx.checkpoint()?;
    let refuse = |code: Code, why: String| {
        let message = format!("`{name}` is not deleted, and nothing in it: {why}");
        Err(ToolError::new(code, message).with("path", name.as_str()))
    };
    if found.left_out > 0 || found.stopped {
        return refuse(
            Code::TooLarge,
            format!("it has more than {MOST} entries; delete its folders one by one"),
        );
    }
    if found.not_utf8 > 0 {
        return refuse(Code::NotAFile, format!("{} names in it are not UTF-8", found.not_utf8));
    }
    if let Some(unreadable) = found.unreadable.first() {
        return refuse(Code::ReadError, format!("`{unreadable}` could not be read"));
    }
    for entry in &found.found {
        if entry.name.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
            return refuse(
                Code::ProtectedFile,
                format!("`{}` is git's own, where nothing is deleted; use git itself", entry.name),
            );
        }
    }
    // The innermost first: that one can be deleted by itself, where somebody agrees.
    let names: Vec<String> = found.found.iter().rev().map(|entry| entry.name.clone()).collect();
    if let Some((inside, refusal)) = ctx.first_change_refused(&names) {
        let mut why = format!("`{inside}` in it may not be: {}", refusal.message());
        if refusal.code() == Code::ProtectedFile {
            why.push_str(&format!("; or delete `{inside}` by itself first, which asks the person"));
        }
        return refuse(refusal.code(), why);
    }
    let mut removed = 0;
    // What is in a folder comes after it, so that it goes before it.
    for entry in found.found.iter().rev() {
        let done = |error: ToolError| match removed {
            0 => error,
            removed => {
                let message = format!(
                    "{removed} of {} entries of `{name}` are deleted, then it stopped: {}",
                    found.found.len(),
                    error.message()
                );
                ToolError::new(error.code(), message).with("path", name.as_str()).with("removed", removed)
            }
        };
        ctx.checkpoint().map_err(done)?;
        ctx.workspace().remove(&WorkspacePath::new(entry.name.as_str())).map_err(done)?;
        gone(ctx, &entry.name, entry.kind);
        removed += 1_u64;
    }
    ctx.workspace().remove(folder)?;
    gone(ctx, &name, Kind::Folder);
    let text = format!("{}: removed, a folder with {removed} entries", one_line(&name));
    let removed = Some(removed);
    let data = Data { path: name.clone(), kind: "folder".to_owned(), size: None, removed, diff: None };
    Ok(Output::new(name, text, data))
}

/// Notes that a name is gone, or in a dry run would be. The overlay of a dry run notes files alone.
fn gone(ctx: &Context, name: &str, kind: Kind) {
    if ctx.is_dry_run() && kind != Kind::File {
        let (path, kind) = (name.to_owned(), "delete".to_owned());
        ctx.would_change(PlannedChange { path, kind, bytes_before: None, bytes_after: None });
    }
    if let Some(seen) = ctx.extra().get::<Seen>().filter(|_| !ctx.is_dry_run()) {
        seen.forget(name);
    }
    ctx.forget_version(name);
}
