//! `vfs_delete`: a version of a virtual file in which it is not there.

use super::{check_version, missing, newest, spec, with_files};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolpost_core::outcome::PlannedChange;
use toolpost_core::store::FileChange;
use toolpost_core::{Access, Capability, Code, Context, Output, Spec, Tool, ToolError};

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// The file's path.
    path: String,
    /// The version that you have read; nothing is deleted if there is a newer one.
    #[schemars(range(min = 1))]
    expected_version: Option<u64>,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// The file.
    path: String,
    /// The version in which it is gone.
    version: u64,
}

/// The tool.
pub struct VfsDelete;

impl Tool for VfsDelete {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        spec("vfs_delete", include_str!("vfs_delete.txt"))
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
        with_files(ctx, move |store, session| {
            let change = FileChange {
                path: args.path.clone(),
                content: None,
                expected: args.expected_version,
                mode: None,
            };
            let changed = store.change_files(&by, vec![change]).map_err(|error| match error.code() {
                Code::FileNotFound => missing(store, session, &args.path),
                _ => error,
            });
            let version = changed?.first().copied().unwrap_or_default();
            let text = format!("`{}` is deleted: version {version}; older versions can be read", args.path);
            Ok(Output::new(args.path.clone(), text, Data { path: args.path, version }))
        })
        .await
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let inner = ctx.clone();
        with_files(ctx, move |store, session| {
            let before = newest(store, session, &args.path)?;
            check_version(before.as_ref(), &args.path, args.expected_version)?;
            let before = before.ok_or_else(|| missing(store, session, &args.path))?;
            inner.would_change(PlannedChange {
                path: format!("vfs:{}", args.path),
                kind: "delete".to_owned(),
                bytes_before: Some(before.size),
                bytes_after: None,
            });
            let version = before.version + 1;
            let text = format!("`{}` would be deleted: version {version}", args.path);
            Ok(Output::new(args.path.clone(), text, Data { path: args.path, version }))
        })
        .await
    }
}
