//! `vfs_read`: one virtual file as numbered lines, like `read`.

use super::{missing, spec, with_files};
use crate::filesystem::read_stored;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::store::{Store, StoredFile};
use toolpost_core::tool::OutputBudget;
use toolpost_core::{Access, Capability, Code, Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The file's path, such as `notes/plan.md`.
    path: String,
    /// An older version; otherwise the newest.
    #[schemars(range(min = 1))]
    version: Option<u64>,
    /// First line wanted, counting from 1.
    #[serde(default = "first_line")]
    offset: u64,
    /// Number of lines wanted.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1))]
    limit: u64,
}

fn first_line() -> u64 {
    1
}

fn usual_limit() -> u64 {
    2_000
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The file.
    path: String,
    /// The version that was read.
    version: u64,
    /// Size in bytes.
    size: u64,
    /// SHA-256 of the content.
    hash: String,
    /// First line shown.
    start_line: u64,
    /// Lines shown.
    lines: u64,
    /// Lines in the file, where it was read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    /// Where to go on, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
}

/// The tool.
pub struct VfsRead;

impl Tool for VfsRead {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("vfs_read", include_str!("vfs_read.txt"))
            .requires(Capability::Read)
            .idempotent()
            .parallel_safe()
            // Pages by lines itself, like `read`.
            .budget(OutputBudget { bytes: 50_000, lines: 20_000 })
            .argument_alias("filePath", "path")
    }

    fn accesses(&self, args: &Args, _: Vec<Access>) -> Vec<Access> {
        super::accesses(Capability::Read, &args.path)
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let inner = ctx.clone();
        with_files(ctx, move |store, session| {
            let file = store.file(session, &args.path, args.version)?;
            let file = file.ok_or_else(|| no_version(store, session, &args))?;
            shown(&inner, file, &args)
        })
        .await
    }
}

fn shown(ctx: &Context, file: StoredFile, args: &Args) -> Result<Output<Data>, ToolError> {
    let about = file.about.clone();
    let output = read_stored(ctx, file, args.offset, args.limit)?;
    let page = output.data;
    let data = Data {
        path: about.path.clone(),
        version: about.version,
        size: about.size,
        hash: about.hash.unwrap_or_default(),
        start_line: page.start_line,
        lines: page.lines,
        total_lines: page.total_lines,
        next_offset: page.next_offset,
    };
    let mut text = output.text;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("(version {})", about.version));
    let shown = Output::new(about.path, text, data);
    Ok(output.attachments.into_iter().fold(shown, Output::attach))
}

fn no_version(store: &dyn Store, session: &str, args: &Args) -> ToolError {
    let path = args.path.as_str();
    let versions = store.file_versions(session, path).unwrap_or_default();
    let (Some(asked), Some(newest)) = (args.version, versions.last()) else {
        return missing(store, session, path);
    };
    let why = match versions.iter().any(|one| one.version == asked) {
        true => format!("`{path}` was deleted in version {asked}; read the version before it"),
        false => format!("`{path}` has no version {asked}; its newest is {}", newest.version),
    };
    ToolError::new(Code::FileNotFound, why).with("path", path).with("version", newest.version)
}
