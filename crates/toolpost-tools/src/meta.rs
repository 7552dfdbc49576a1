//! The meta pack: tools on tools.

mod batch;

pub use batch::Batch;

use toolpost_core::{Registry, ToolError};

/// Adds the pack's tools.
pub fn register(registry: &Registry) -> Result<(), ToolError> {
    registry.register(Batch)
}
