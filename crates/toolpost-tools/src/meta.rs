//! The meta pack: tools on tools.

mod batch;
mod tool_search;

pub use batch::Batch;
pub use tool_search::ToolSearch;

use toolpost_core::Pack;
use toolpost_core::pack::RiskProfile;

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "meta",
        "Tools on tools; what they call decides what they can cause.",
        RiskProfile::Dynamic,
        &["tools"],
    )
    .with(Batch)
    .with(ToolSearch)
}
