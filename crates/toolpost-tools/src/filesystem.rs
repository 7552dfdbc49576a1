//! The filesystem pack: tools on the files of the workspace.

mod apply_patch;
pub(crate) mod canonical;
mod delete;
mod diagnosed;
pub(crate) mod diff;
mod edit;
mod effort;
mod entities;
mod format;
mod helper;
mod ladder;
mod list;
mod omission;
mod parsed;
mod read;
pub(crate) mod redacted;
mod sequence;
mod text;
mod versions;
mod write;

pub use apply_patch::ApplyPatch;
pub use delete::Delete;
pub use edit::Edit;
pub(crate) use format::place;
pub use format::{Formatted, Formatter};
pub use helper::Helper;
pub use list::List;
pub use read::Read;
pub(crate) use read::attached::{known_binary, media_type};
pub(crate) use read::pdf::pages as pdf_pages;
pub(crate) use read::read_stored;
pub use write::Write;

use std::sync::Arc;
use toolpost_core::Pack;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;

/// What a host says about its file tools.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Reads a PDF and writes its text, the pages apart by form feeds; without, PDFs are attached only.
    pub pdf: Option<Helper>,
    /// Programs that format files after a change.
    pub formatters: Vec<Formatter>,
}

/// The pack.
pub fn pack(settings: &Settings) -> Pack {
    let formatters: Arc<[Formatter]> = settings.formatters.clone().into();
    Pack::compiled_in(
        "filesystem",
        "The files of the workspace.",
        RiskProfile::Fixed(Profile::Standard),
        &["files"],
    )
    .with(Read { pdf: settings.pdf.clone() })
    .with(Formatted::new(Write, Arc::clone(&formatters)))
    .with(Formatted::new(Edit, Arc::clone(&formatters)))
    .with(Formatted::new(ApplyPatch, formatters))
    .with(Delete)
    .with(List)
}
