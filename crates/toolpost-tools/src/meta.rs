//! The meta pack: tools on tools.

mod batch;

pub use batch::Batch;

use toolpost_core::Pack;

/// The pack.
pub fn pack() -> Pack {
    Pack::new(crate::manifest("meta.json", include_str!("meta.json"))).with(Batch)
}
