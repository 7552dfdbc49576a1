//! `vfs_write`: the next version of a virtual file.

use super::{check_version, newest, spec, with_files};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::outcome::PlannedChange;
use toolpost_core::store::FileChange;
use toolpost_core::{Access, Capability, Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The file's path, such as `notes/plan.md`.
    path: String,
    /// The whole new content.
    content: String,
    /// The version that you have read; the write is refused if there is a newer one. 0 for a new file.
    expected_version: Option<u64>,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The file.
    path: String,
    /// Its version now.
    version: u64,
    /// Size in bytes.
    size: u64,
}

/// The tool.
pub struct VfsWrite;

impl Tool for VfsWrite {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("vfs_write", include_str!("vfs_write.txt"))
            .requires(Capability::Write)
            .own_dry_run()
            .argument_alias("filePath", "path")
            .argument_alias("version", "expectedVersion")
    }

    fn accesses(&self, args: &Args, _: Vec<Access>) -> Vec<Access> {
        super::accesses(Capability::Write, &args.path)
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let by = ctx.by();
        with_files(ctx, move |store, _| {
            let size = args.content.len() as u64;
            let change = FileChange {
                path: args.path.clone(),
                content: Some(args.content.into_bytes()),
                expected: args.expected_version,
                mode: None,
            };
            let version = store.change_files(&by, vec![change])?.first().copied().unwrap_or_default();
            let text = format!("`{}` is written: version {version}, {size} bytes", args.path);
            Ok(Output::new(args.path.clone(), text, Data { path: args.path, version, size }))
        })
        .await
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let inner = ctx.clone();
        with_files(ctx, move |store, session| {
            let before = newest(store, session, &args.path)?;
            check_version(before.as_ref(), &args.path, args.expected_version)?;
            let size = args.content.len() as u64;
            inner.would_change(PlannedChange {
                path: format!("vfs:{}", args.path),
                kind: if before.is_some() { "change" } else { "create" }.to_owned(),
                bytes_before: before.as_ref().map(|before| before.size),
                bytes_after: Some(size),
            });
            let last = store.file_versions(session, &args.path)?.last().map_or(0, |last| last.version);
            let version = last + 1;
            let text = format!("`{}` would be written: version {version}, {size} bytes", args.path);
            Ok(Output::new(args.path.clone(), text, Data { path: args.path, version, size }))
        })
        .await
    }
}
