//! The search pack: files by their names, lines by their content.

mod glob;
mod grep;
mod name_pattern;
mod newest;
mod watch;

pub use glob::Glob;
pub use grep::Grep;

use toolpost_core::Pack;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "search",
        "Finding files by name and lines by content.",
        RiskProfile::Fixed(Profile::ReadOnly),
        &["files", "search"],
    )
    .with(Glob)
    .with(Grep)
}
