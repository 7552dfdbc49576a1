//! Tools from outside the binary: MCP servers whose tools are offered like our own, under our policy.

mod server;

pub use server::{Reach, Server};
