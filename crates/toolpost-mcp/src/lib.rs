//! The wire of the Model Context Protocol, for servers and clients alike.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`message`] | JSON-RPC messages: read from bytes, written as text |
//! | [`error`] | [`RpcError`] and the error codes of JSON-RPC and MCP |
//! | [`mod@line`] | messages out of a stream of bytes, one per line |
//! | [`revision`] | the revisions of the protocol and its two eras |
//! | [`meta`] | the keys of `_meta`, and progress tokens |
//! | [`header`] | the HTTP headers of MCP, and how their values are encoded |
//!
//! Everything here is pure: no I/O, no threads, no clock. What a method does is the business of the server or the client.
//!
//! ```
//! use toolpost_mcp::message::{self, Message};
//!
//! let bytes = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
//! let Ok(Message::Request(request)) = Message::parse(bytes) else { panic!("a request") };
//! let reply = message::answer(&request.id, &Ok(serde_json::json!({})));
//! assert_eq!(reply, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
//! ```

pub mod error;
pub mod header;
pub mod json;
pub mod line;
pub mod message;
pub mod meta;
pub mod revision;

pub use error::RpcError;
pub use line::{Line, Lines};
pub use message::{Invalid, Message, Request};
pub use revision::Revision;

/// Maximum length of one message, in bytes: of a line, of an HTTP body, and of an event.
pub const MAX_MESSAGE: usize = 16 << 20;
