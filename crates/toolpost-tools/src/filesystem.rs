//! The filesystem pack: tools on the files of the workspace.

mod apply_patch;
mod delete;
pub(crate) mod diff;
mod edit;
mod ladder;
mod list;
mod omission;
mod read;
mod text;
mod write;

pub use apply_patch::ApplyPatch;
pub use delete::Delete;
pub use edit::Edit;
pub use list::List;
pub use read::Read;
pub use write::Write;

use toolpost_core::Pack;

/// The pack.
pub fn pack() -> Pack {
    Pack::new(crate::manifest("filesystem.json", include_str!("filesystem.json")))
        .with(Read)
        .with(Write)
        .with(Edit)
        .with(ApplyPatch)
        .with(Delete)
        .with(List)
}
