//! `delete`: one file, link or empty folder removed; with `recursive`, a folder with everything in it.
//!
//! Links are removed, not followed. That a root stays is the workspace's part.

mod tree;

use super::diff::Diff;
use super::text::{self, Text};
use crate::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::access::ResourceKind;
use toolpost_core::host::Seen;
use toolpost_core::outcome::PlannedChange;
use toolpost_core::workspace::{Kind, OldContent};
use toolpost_core::{Access, Capability, Code, Context, Output, Spec, Tool, ToolError, WorkspacePath};

/// A dry run shows what would be gone up to this size.
const SHOWN_BYTES: u64 = 1_000_000;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// File or folder to delete, absolute or from the workspace root.
    file_path: WorkspacePath,
    /// Delete a folder with everything in it; the user is asked first.
    #[serde(default)]
    recursive: bool,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// What was removed.
    path: String,
    /// `file`, `folder` or `link`.
    kind: String,
    /// Size of the file in bytes; absent where its content is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Files, links and folders removed with a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<u64>,
    /// What would be gone, in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// The tool.
pub struct Delete;

impl Tool for Delete {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("delete", "1.0.0", include_str!("delete.txt"))
            .requires(Capability::Write)
            .about(ResourceKind::Path)
            .argument_alias("path", "filePath")
            .argument_alias("file", "filePath")
    }

    fn accesses(&self, args: &Args, usual: Vec<Access>) -> Vec<Access> {
        match args.recursive {
            true => usual.into_iter().map(Access::with_consent).collect(),
            false => usual,
        }
    }

    fn refusal(&self, args: &Args) -> Option<ToolError> {
        let path = args.file_path.as_str();
        // Where a path goes up again, only the name that it leads to tells.
        match path.split('/').any(|part| part == "..") {
            true => None,
            false => of_git(path),
        }
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        ctx.blocking_in_pool(move |ctx| delete(ctx, &args)).await
    }
}

fn delete(ctx: &Context, args: &Args) -> Result<Output<Data>, ToolError> {
    let name = real_name(ctx, &args.file_path)?;
    if let Some(refusal) = of_git(&name) {
        return Err(refusal);
    }
    let (kind, size) = match ctx.workspace().stat(&args.file_path) {
        Ok(stat) if stat.name != name => ("link", None),
        Ok(stat) if stat.kind == Kind::Folder => ("folder", None),
        Ok(stat) => ("file", Some(stat.size)),
        // A link that leads nowhere, or out of the workspace: it can go, what it names is not touched.
        Err(error) if error.details().contains_key("link") || error.code() == Code::PathEscape => {
            ("link", None)
        }
        Err(error) => match is_link(ctx, &name) {
            true => ("link", None),
            false => return Err(error),
        },
    };
    if kind == "folder" && args.recursive {
        return tree::remove(ctx, &args.file_path, name);
    }
    let content = match size {
        Some(_) => Some(ctx.workspace().replaced(&args.file_path)?.content),
        None => None,
    };
    let (size, diff, withheld) = match (content, size) {
        (Some(OldContent::Withheld(why)), _) => (None, None, Some(why)),
        (Some(OldContent::Readable(file)), Some(size)) if ctx.is_dry_run() && size <= SHOWN_BYTES => {
            let bytes = text::head(file, SHOWN_BYTES)?;
            let text = Text::decode(&bytes, &name).ok();
            (Some(size), text.map(|text| Diff::between(&name, Some(&text.text), None)), None)
        }
        _ => (size, None, None),
    };
    ctx.workspace().remove(&args.file_path).map_err(|error| match ctx.spelled("recursive", true) {
        Some(recursive) if kind == "folder" && error.message().contains("is not empty") => {
            error.with_advice(&format!("{recursive} deletes a folder with everything in it"))
        }
        _ => error,
    })?;
    // The overlay of a dry run notes files alone.
    if ctx.is_dry_run() && kind != "file" {
        let change = PlannedChange {
            path: name.clone(),
            kind: "delete".to_owned(),
            bytes_before: None,
            bytes_after: None,
        };
        ctx.would_change(change);
    }
    if let Some(seen) = ctx.extra().get::<Seen>().filter(|_| !ctx.is_dry_run()) {
        seen.forget(&name);
    }
    ctx.forget_version(&name);
    let shown = one_line(&name);
    let mut text = match (kind, size) {
        ("file", Some(size)) => format!("{shown}: removed, {size} bytes"),
        ("file", None) => format!("{shown}: removed"),
        ("folder", _) => format!("{shown}: removed, an empty folder"),
        _ => format!("{shown}: removed, a link; what it leads to stays"),
    };
    if let Some(why) = &withheld {
        text.push_str(&format!("\n(its size and content are not shown: {})", why.message()));
    }
    if let Some(diff) = &diff {
        text.push('\n');
        text.push_str(&diff.shown());
    }
    let diff = diff.map(|diff| diff.text);
    let data = Data { path: name.clone(), kind: kind.to_owned(), size, removed: None, diff };
    Ok(Output::new(name, text, data))
}

/// The refusal to delete what is git's own.
fn of_git(name: &str) -> Option<ToolError> {
    let part = name.split('/').find(|part| part.eq_ignore_ascii_case(".git"))?;
    let message = match name.ends_with(part) {
        true => format!("`{name}` is git's own and is not deleted; use git itself"),
        false => format!("`{name}` is inside `{part}`, where nothing is deleted; use git itself"),
    };
    Some(ToolError::new(Code::ProtectedFile, message).with("path", name))
}

/// The name of the thing itself: links above it are followed, it is not.
fn real_name(ctx: &Context, path: &WorkspacePath) -> Result<String, ToolError> {
    let spelled = ctx.workspace().name(path)?;
    let Some((folder, last)) = spelled.rsplit_once('/') else { return Ok(spelled) };
    if folder.is_empty() {
        return Ok(spelled);
    }
    match ctx.workspace().stat(&WorkspacePath::new(folder)) {
        Ok(stat) if stat.name == "." => Ok(last.to_owned()),
        Ok(stat) => Ok(format!("{}/{last}", stat.name)),
        // There is nothing there to remove, and removing says so.
        Err(error) if error.code() == Code::FileNotFound => Ok(spelled),
        Err(error) => Err(error),
    }
}

/// Whether the thing itself is a link, whatever it leads to.
fn is_link(ctx: &Context, name: &str) -> bool {
    let (folder, last) = name.rsplit_once('/').unwrap_or((".", name));
    let Ok(mut entries) = ctx.workspace().entries(&WorkspacePath::new(folder)) else { return false };
    entries
        .any(|entry| entry.is_ok_and(|entry| entry.name == last && entry.exact && entry.kind == Kind::Link))
}
