//! `vfs_list`: which virtual files there are.

use super::{spec, with_files};
use crate::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::{Access, Capability, Context, Output, Spec, Tool, ToolError};

/// Files that are shown at once.
const MOST: usize = 1_000;

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Only files whose paths begin so, such as `notes/`.
    #[serde(default)]
    prefix: String,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// The files that are shown, in the order of their paths.
    files: Vec<Row>,
    /// Files there are.
    total: usize,
}

/// One file.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// Its path.
    path: String,
    /// Its newest version.
    version: u64,
    /// Size in bytes.
    size: u64,
}

/// The tool.
pub struct VfsList;

impl Tool for VfsList {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("vfs_list", include_str!("vfs_list.txt"))
            .requires(Capability::Read)
            .idempotent()
            .parallel_safe()
            .argument_alias("path", "prefix")
    }

    fn accesses(&self, args: &Args, usual: Vec<Access>) -> Vec<Access> {
        match args.prefix.is_empty() {
            true => usual,
            false => vec![Access::stored(Capability::Read, &args.prefix)],
        }
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        with_files(ctx, move |store, session| {
            let found = store.files(session, &args.prefix)?;
            let total = found.len();
            let rows = found.into_iter().take(MOST);
            let files: Vec<Row> =
                rows.map(|file| Row { path: file.path, version: file.version, size: file.size }).collect();
            Ok(Output::new(
                format!("{total} virtual files"),
                text(&args.prefix, &files, total),
                Data { files, total },
            ))
        })
        .await
    }
}

fn text(prefix: &str, files: &[Row], total: usize) -> String {
    if files.is_empty() && prefix.is_empty() {
        return "The session has no virtual files yet.".to_owned();
    }
    if files.is_empty() {
        return format!(
            "No virtual file begins with `{}`; leave the prefix out to see all.",
            one_line(prefix)
        );
    }
    let row =
        |file: &Row| format!("{} (version {}, {} bytes)", one_line(&file.path), file.version, file.size);
    let mut lines: Vec<String> = files.iter().map(row).collect();
    if total > files.len() {
        lines.push(format!("[{} more; name a longer prefix to see them]", total - files.len()));
    }
    lines.join("\n")
}
