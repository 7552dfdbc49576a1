//! The vocabulary of toolpost and the one way to run a tool.

mod access;
mod capability;
mod error;
mod future;

pub use access::{Access, Resource};
pub use capability::{Capabilities, Capability, Facts, Need};
pub use error::{Code, ToolError};
pub use future::BoxFuture;
