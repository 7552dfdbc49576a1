//! Agents: the models that they ask, and the kernel that drives them.
//!
//! [`model`] maps the provider-neutral words of `toolpost_core::model` to the wire formats of providers, sends requests,
//! and knows vendors by a table. Nothing here runs a tool, reads the environment or opens a file: that is done by the
//! executor and by the crate that joins the parts.

pub mod agent_file;
pub mod driver;
pub mod kernel;
pub mod model;
pub mod prompt_tool;
pub mod result;
pub mod tree;

pub use agent_file::AgentFile;
pub use driver::{Driver, LocalDriver, Steps};
