//! Protocol errors: the message was wrong, not what a tool did with it.

use serde_json::{Value, json};
use std::fmt;

/// Invalid JSON.
pub const PARSE_ERROR: i64 = -32700;
/// JSON, but not a valid request.
pub const INVALID_REQUEST: i64 = -32600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are invalid.
pub const INVALID_PARAMS: i64 = -32602;
/// Something that should work did not.
pub const INTERNAL_ERROR: i64 = -32603;
/// There is no such resource, in the revisions with a handshake.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// The headers of a request differ from its body.
pub const HEADER_MISMATCH: i64 = -32020;
/// The client has not declared a capability that the request needs.
pub const MISSING_CAPABILITY: i64 = -32021;
/// The revision is not supported.
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// A protocol error, as a server sends it and a client receives it.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// One of the codes of this module, or one that only the other side knows.
    pub code: i64,
    /// What is wrong, for people.
    pub message: String,
    /// More of it, for programs.
    pub data: Option<Value>,
    /// The HTTP status that a server sends with it. An error that was received has 200.
    pub status: u16,
}

impl RpcError {
    /// An error with this code, sent with HTTP status 200.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None, status: 200 }
    }

    /// The `error` of a message that was received.
    pub fn read(error: &Value) -> RpcError {
        let message = error["message"].as_str().unwrap_or("it gave no reason");
        let data = error.get("data").filter(|data| !data.is_null()).cloned();
        RpcError { data, ..RpcError::new(error["code"].as_i64().unwrap_or(0), message) }
    }

    /// Invalid JSON.
    pub fn parse(message: impl Into<String>) -> RpcError {
        RpcError::new(PARSE_ERROR, message).with_status(400)
    }

    /// JSON, but not a valid request.
    pub fn invalid_request(message: impl Into<String>) -> RpcError {
        RpcError::new(INVALID_REQUEST, message).with_status(400)
    }

    /// There is no such method.
    pub fn no_method(method: &str) -> RpcError {
        let shown: String = method.chars().take(80).collect();
        RpcError::new(METHOD_NOT_FOUND, format!("unknown method `{shown}`")).with_status(404)
    }

    /// The parameters are invalid.
    pub fn params(message: impl Into<String>) -> RpcError {
        RpcError::new(INVALID_PARAMS, message)
    }

    /// The headers of a request differ from its body.
    pub fn header_mismatch(message: impl Into<String>) -> RpcError {
        RpcError::new(HEADER_MISMATCH, message).with_status(400)
    }

    /// The client has not declared a capability that the request needs.
    pub fn missing_capability(capability: &str) -> RpcError {
        let message = format!("this needs a client that declares `{capability}`, and yours does not");
        RpcError::new(MISSING_CAPABILITY, message)
            .with_data(json!({"requiredCapabilities": {capability: {}}}))
            .with_status(400)
    }

    /// The client has not declared an extension that the request is part of.
    pub fn missing_extension(extension: &str) -> RpcError {
        let message =
            format!("this needs a client that declares the extension `{extension}`, and yours does not");
        RpcError::new(MISSING_CAPABILITY, message)
            .with_data(json!({"requiredCapabilities": {"extensions": {extension: {}}}}))
            .with_status(400)
    }

    /// The revision is not supported.
    pub fn unsupported_version(requested: &str, supported: &[&str]) -> RpcError {
        let shown: String = requested.chars().take(80).collect();
        let message = format!("revision `{shown}` is not spoken here; there are {}", supported.join(", "));
        RpcError::new(UNSUPPORTED_VERSION, message)
            .with_data(json!({"supported": supported, "requested": requested}))
            .with_status(400)
    }

    /// Something that should work did not.
    pub fn internal(message: impl Into<String>) -> RpcError {
        RpcError::new(INTERNAL_ERROR, message).with_status(500)
    }

    /// The same error with data for programs.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> RpcError {
        self.data = Some(data);
        self
    }

    /// The same error with another HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> RpcError {
        self.status = status;
        self
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}
