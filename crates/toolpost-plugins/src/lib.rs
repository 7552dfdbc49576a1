//! Tools from outside the binary: MCP servers whose tools are offered like our own, under our policy.
//!
//! [`Plugins`] holds the servers. None is started before somebody needs it; then it is a child on pipes or an address,
//! spoken to in the era of the protocol that it knows, and its tools are a pack of the registry. Nothing here decides
//! what may run: a call of such a tool goes through the one executor like any other.

mod complaint;
mod connection;
mod fault;
mod form;
mod handshake;
mod http;
mod identity;
mod listed;
mod names;
mod pipe;
mod plugins;
mod recalled;
mod resource;
mod result;
mod running;
mod server;
mod tool;
mod upstream;

pub use names::is_spelled_as_server_tool;
pub use plugins::{Plugins, Settings};
pub use recalled::Lists;
pub use server::{Hints, Reach, Server};
