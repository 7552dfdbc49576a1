//! The built-in tools: one module a pack, one file a tool, its text in a `.txt` beside it.
//!
//! A tool here knows nothing of permission, retries or records; those are the executor's.

pub mod filesystem;
pub mod meta;

use toolpost_core::{Registry, ToolError};

/// Adds every built-in tool, with the other names they are known by.
pub fn register_all(registry: &Registry) -> Result<(), ToolError> {
    filesystem::register(registry)?;
    meta::register(registry)
}
