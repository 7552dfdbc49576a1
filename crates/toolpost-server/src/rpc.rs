//! JSON-RPC as MCP uses it: one message in, one message out. Knows nothing of methods.

use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The longest message that is taken: a line on standard input, a body over HTTP.
pub(crate) const LONGEST: usize = 16 << 20;

/// A message from the client.
#[derive(Debug)]
pub(crate) enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification {
        /// What it is about.
        method: String,
        /// More of it.
        params: Map<String, Value>,
    },
    /// Answers a request of ours.
    Answer {
        /// The number of our request; none that we gave where it is missing.
        id: Option<u64>,
        /// What it says.
        result: Result<Value, Value>,
    },
    /// Is none; this is to be said about it.
    Invalid {
        /// Its id, as far as it has one.
        id: Value,
        /// What is wrong with it.
        error: RpcError,
    },
}

/// A request from the client.
#[derive(Debug)]
pub(crate) struct Request {
    /// A text or a number, to be given back.
    pub(crate) id: Value,
    /// What is wanted.
    pub(crate) method: String,
    /// More of it.
    pub(crate) params: Map<String, Value>,
}

/// An answer that is none: the message was wrong, not what a tool did with it.
#[derive(Debug, Clone)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    /// The HTTP status that goes with it.
    pub(crate) status: u16,
}

impl RpcError {
    fn new(code: i32, status: u16, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None, status }
    }

    /// No JSON.
    pub(crate) fn parse(message: impl Into<String>) -> RpcError {
        RpcError::new(-32700, 400, message)
    }

    /// JSON, but no request.
    pub(crate) fn invalid_request(message: impl Into<String>) -> RpcError {
        RpcError::new(-32600, 400, message)
    }

    /// Nothing of that name is served.
    pub(crate) fn no_method(method: &str) -> RpcError {
        let shown: String = method.chars().take(80).collect();
        RpcError::new(-32601, 404, format!("there is no method `{shown}` here"))
    }

    /// The parameters make no sense.
    pub(crate) fn params(message: impl Into<String>) -> RpcError {
        RpcError::new(-32602, 200, message)
    }

    /// The headers of a request say something else than its body.
    pub(crate) fn header_mismatch(message: impl Into<String>) -> RpcError {
        RpcError::new(-32020, 400, message)
    }

    /// The client cannot do what the request needs.
    pub(crate) fn missing_capability(capability: &str) -> RpcError {
        let message = format!("this needs a client that declares `{capability}`, and yours does not");
        let mut error = RpcError::new(-32021, 400, message);
        error.data = Some(json!({"requiredCapabilities": {capability: {}}}));
        error
    }

    /// The client has not declared an extension that the request is part of.
    pub(crate) fn missing_extension(extension: &str) -> RpcError {
        let message =
            format!("this needs a client that declares the extension `{extension}`, and yours does not");
        let mut error = RpcError::new(-32021, 400, message);
        error.data = Some(json!({"requiredCapabilities": {"extensions": {extension: {}}}}));
        error
    }

    /// The revision is not spoken here.
    pub(crate) fn unsupported_version(requested: &str, supported: &[&str]) -> RpcError {
        let shown: String = requested.chars().take(80).collect();
        let message = format!("revision `{shown}` is not spoken here; there are {}", supported.join(", "));
        let mut error = RpcError::new(-32022, 400, message);
        error.data = Some(json!({"supported": supported, "requested": requested}));
        error
    }

    /// Something that should work did not.
    pub(crate) fn internal(message: impl Into<String>) -> RpcError {
        RpcError::new(-32603, 500, message)
    }

    #[must_use]
    pub(crate) fn with_data(mut self, data: Value) -> RpcError {
        self.data = Some(data);
        self
    }

    #[must_use]
    pub(crate) fn with_status(mut self, status: u16) -> RpcError {
        self.status = status;
        self
    }
}

/// Reads one message.
pub(crate) fn parse(bytes: &[u8]) -> Message {
    let invalid = |id, error| Message::Invalid { id, error };
    let mut message = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            let error = RpcError::invalid_request("batches are not taken; send one message at a time");
            return invalid(Value::Null, error);
        }
        Ok(_) => return invalid(Value::Null, RpcError::invalid_request("a message is a JSON object")),
        Err(error) => return invalid(Value::Null, RpcError::parse(format!("this is no JSON: {error}"))),
    };
    let id = message.remove("id");
    let known = id.clone().filter(is_id).unwrap_or(Value::Null);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(known, RpcError::invalid_request("a message says \"jsonrpc\": \"2.0\""));
    }
    match message.remove("method") {
        Some(Value::String(method)) => {
            let params = match message.remove("params") {
                None => Map::new(),
                Some(Value::Object(params)) => params,
                Some(_) => return invalid(known, RpcError::params("params are an object").with_status(400)),
            };
            match id {
                None => Message::Notification { method, params },
                Some(id) if is_id(&id) => Message::Request(Request { id, method, params }),
                Some(_) => {
                    invalid(Value::Null, RpcError::invalid_request("an id is a text or a whole number"))
                }
            }
        }
        Some(_) => invalid(known, RpcError::invalid_request("a method is a text")),
        None => {
            let id = id.as_ref().and_then(Value::as_u64);
            match (message.remove("result"), message.remove("error")) {
                (Some(result), None) => Message::Answer { id, result: Ok(result) },
                (None, Some(error)) => Message::Answer { id, result: Err(error) },
                _ => {
                    invalid(known, RpcError::invalid_request("a message has a method, a result or an error"))
                }
            }
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

/// The answer to a request.
pub(crate) fn answer(id: &Value, result: &Result<Value, RpcError>) -> String {
    let mut text = String::with_capacity(256);
    // Writing into a string cannot fail.
    let _ = write!(text, r#"{{"jsonrpc":"2.0","id":{id},"#);
    match result {
        Ok(result) => push(&mut text, "\"result\":", result),
        Err(error) => {
            let _ = write!(text, r#""error":{{"code":{},"message":"#, error.code);
            push(&mut text, "", &error.message);
            if let Some(data) = &error.data {
                push(&mut text, ",\"data\":", data);
            }
            text.push('}');
        }
    }
    text.push('}');
    text
}

/// A message that wants no answer.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// A request of ours.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn push(text: &mut String, before: &str, value: &impl Serialize) {
    text.push_str(before);
    // Values have string keys only, so that writing them as JSON cannot fail.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: i32, id: Value) {
        match parse(text.as_bytes()) {
            Message::Invalid { id: found, error } => assert_eq!((error.code, found), (code, id), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        check("", -32700, Value::Null);
        check("{", -32700, Value::Null);
        check(&"[".repeat(100_000), -32700, Value::Null);
        check("[]", -32600, Value::Null);
        check("7", -32600, Value::Null);
        check(r#"{"id":1,"method":"ping"}"#, -32600, json!(1));
        check(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null);
        check(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null);
        check(r#"{"jsonrpc":"2.0","id":"a","method":7}"#, -32600, json!("a"));
        check(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}"#, -32602, json!("a"));
        check(r#"{"jsonrpc":"2.0","id":"a"}"#, -32600, json!("a"));
    }

    #[test]
    fn answers_are_one_line_of_json() {
        let text = answer(&json!("a\nb"), &Err(RpcError::params("x\ny").with_data(json!({"uri": "z"}))));
        let expected =
            r#"{"jsonrpc":"2.0","id":"a\nb","error":{"code":-32602,"message":"x\ny","data":{"uri":"z"}}}"#;
        assert_eq!(text, expected);
        assert_eq!(answer(&json!(1), &Ok(json!({}))), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    }
}
