//! The vfs pack: the virtual files of the session, which every agent of it shares.
//!
//! They are no files of the workspace: rules about files say nothing of them, and the file tools do not see them unless
//! the workspace itself is made of them. The protected list holds for their names all the same: they may become files.

mod vfs_delete;
mod vfs_list;
mod vfs_read;
mod vfs_write;

pub use vfs_delete::VfsDelete;
pub use vfs_list::VfsList;
pub use vfs_read::VfsRead;
pub use vfs_write::VfsWrite;

use crate::stored::with_store;
use toolpost_core::access::ResourceKind;
use toolpost_core::capability::Need;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::{Profile, is_protected};
use toolpost_core::store::{FileVersion, Store};
use toolpost_core::text::nearest;
use toolpost_core::{Access, Capability, Code, Context, Pack, Spec, ToolError};

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "vfs",
        "Virtual files of the session, with versions, shared by its agents.",
        RiskProfile::Fixed(Profile::Standard),
        &["files", "store"],
    )
    .with(VfsRead)
    .with(VfsWrite)
    .with(VfsList)
    .with(VfsDelete)
}

/// What the tools of this pack have in common.
fn spec(name: &str, description: &str) -> Spec {
    Spec::new(name, "1.0.0", description).needs(Need::Store).about(ResourceKind::Stored)
}

/// What a tool does to a virtual file. A protected name asks as it does in every workspace: the file may be exported to where
/// something runs it, and the file tools ask for it where the workspace is made of virtual files.
fn accesses(action: Capability, path: &str) -> Vec<Access> {
    let stored = Access::stored(action, path);
    let name = path.strip_prefix("./").unwrap_or(path).trim_start_matches('/');
    match is_protected(action, name) {
        true => vec![stored, Access::path(action, name)],
        false => vec![stored],
    }
}

/// Does something with the virtual files of the session.
async fn with_files<T: Send + 'static>(
    ctx: &Context,
    work: impl FnOnce(&dyn Store, &str) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let session = ctx.session().to_owned();
    with_store(ctx, move |store| work(store, &session)).await
}

/// The newest version of a file; none where there is no such file.
fn newest(store: &dyn Store, session: &str, path: &str) -> Result<Option<FileVersion>, ToolError> {
    let versions = store.file_versions(session, path)?;
    Ok(versions.into_iter().next_back().filter(|newest| newest.hash.is_some()))
}

/// There is no such file; the nearest are offered.
fn missing(store: &dyn Store, session: &str, path: &str) -> ToolError {
    let known = store.files(session, "").unwrap_or_default();
    let near = nearest(path, known.iter().map(|file| file.path.as_str()), 3);
    let hint = match near.as_slice() {
        [] if known.is_empty() => "the session has none".to_owned(),
        [] => "list them to see which there are".to_owned(),
        near => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            format!("nearest: {}", near.join(", "))
        }
    };
    ToolError::new(Code::FileNotFound, format!("no virtual file `{path}`; {hint}"))
        .with("path", path)
        .with("nearest", near)
}

/// Refuses what the store would refuse, for a dry run.
fn check_version(newest: Option<&FileVersion>, path: &str, expected: Option<u64>) -> Result<(), ToolError> {
    let found = newest.map_or(0, |newest| newest.version);
    match expected.filter(|expected| *expected != found) {
        None => Ok(()),
        Some(expected) => {
            let message = format!("`{path}` has version {found} now, not {expected}; read it again first");
            Err(ToolError::new(Code::StaleFile, message).with("path", path).with("version", found))
        }
    }
}
