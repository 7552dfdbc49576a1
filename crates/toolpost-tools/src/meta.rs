//! The meta pack: tools on tools.

mod batch;
mod tool_search;

pub use batch::Batch;
pub use tool_search::ToolSearch;

use toolpost_core::Pack;

/// The pack.
pub fn pack() -> Pack {
    Pack::new(crate::manifest("meta.json", include_str!("meta.json"))).with(Batch).with(ToolSearch)
}
