//! Why a request to a server has no result.

use serde_json::Value;
use std::fmt;
use toolpost_mcp::RpcError;
use toolpost_mcp::error::METHOD_NOT_FOUND;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The server replied with a protocol error.
    Refused(RpcError),
    /// The server cannot be reached any more, for this reason.
    Gone(String),
    /// The server has forgotten us, and has done nothing.
    Expired,
    /// An HTTP status without a message of the protocol, and the text that came with it.
    Status { status: u16, text: String },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Refused(error) => write!(f, "it answered: {error}"),
            Fault::Gone(why) => f.write_str(why),
            Fault::Expired => f.write_str("its session has ended"),
            Fault::Status { status, text } if text.is_empty() => {
                write!(f, "it answered with status {status}")
            }
            Fault::Status { status, text } => write!(f, "it answered with status {status}: {text}"),
        }
    }
}

impl From<toolpost_http::Error> for Fault {
    fn from(error: toolpost_http::Error) -> Fault {
        Fault::Gone(error.to_string())
    }
}

/// The reason given for a message that [`toolpost_mcp::message::is_bloated`].
pub(crate) const BLOATED: &str = "it sent a message of more than a million parts";

/// Takes a field out of what a server sent, which may not be an object at all.
pub(crate) fn take(value: &mut Value, field: &str) -> Value {
    value.get_mut(field).map(Value::take).unwrap_or_default()
}

/// The reply to a server that requests something that this client does not do.
pub(crate) fn unsupported(method: &str) -> RpcError {
    let shown: String = method.chars().take(80).collect();
    RpcError::new(METHOD_NOT_FOUND, format!("this client does not do `{shown}`"))
}
