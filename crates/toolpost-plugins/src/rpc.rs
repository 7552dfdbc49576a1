//! JSON-RPC as a client of MCP meets it. Knows nothing of methods or transports.

use serde_json::{Map, Value, json};
use std::fmt;

/// What a server sent.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// Answers a request of ours; no number that we gave where the id is none.
    Answer { id: Option<u64>, result: Result<Value, Refusal> },
    /// Wants an answer.
    Request { id: Value, method: String, params: Map<String, Value> },
    /// Wants none.
    Notification { method: String, params: Map<String, Value> },
}

/// An answer that is an error of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

impl Refusal {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), data: Value::Null }
    }

    fn read(error: &Value) -> Refusal {
        Refusal {
            code: error["code"].as_i64().unwrap_or(0),
            message: error["message"].as_str().unwrap_or("it gave no reason").to_owned(),
            data: error["data"].clone(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The server answered with an error of the protocol.
    Refused(Refusal),
    /// The server cannot be spoken to any more, for this reason.
    Gone(String),
    /// The server has forgotten us, and has done nothing.
    Expired,
    /// An HTTP status that is no answer, with what was said there.
    Status { status: u16, text: String },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Refused(refusal) => write!(f, "it answered: {refusal}"),
            Fault::Gone(why) => f.write_str(why),
            Fault::Expired => f.write_str("its session has ended"),
            Fault::Status { status, text } if text.is_empty() => {
                write!(f, "it answered with status {status}")
            }
            Fault::Status { status, text } => write!(f, "it answered with status {status}: {text}"),
        }
    }
}

/// What the shortest message costs, in bytes, where a flood is measured: looking at it is work too.
pub(crate) const OVERHEAD: usize = 256;

/// So many parts a message may have: a byte of text can become a hundred in memory.
const MOST_PARTS: usize = 1 << 20;

/// What is said of a message that [`is_bloated`].
pub(crate) const BLOATED: &str = "it sent a message of more than a million parts";

/// Whether a text would take far more memory as a message than it does as a text.
pub(crate) fn is_bloated(bytes: &[u8]) -> bool {
    bytes.len() > MOST_PARTS && memchr::memchr_iter(b',', bytes).count() > MOST_PARTS
}

/// The messages of a text: one, or several in a batch as 2025-03-26 allows. None if it is no message.
pub(crate) fn parse(bytes: &[u8]) -> Option<Vec<Incoming>> {
    match serde_json::from_slice::<Value>(bytes).ok()? {
        Value::Array(items) => items.into_iter().map(message).collect(),
        one => Some(vec![message(one)?]),
    }
}

fn message(value: Value) -> Option<Incoming> {
    let Value::Object(mut fields) = value else { return None };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return None;
    }
    let id = fields.remove("id");
    if let Some(method) = fields.remove("method") {
        let Value::String(method) = method else { return None };
        let params = match fields.remove("params") {
            Some(Value::Object(params)) => params,
            _ => Map::new(),
        };
        return Some(match id {
            Some(id) if !id.is_null() => Incoming::Request { id, method, params },
            _ => Incoming::Notification { method, params },
        });
    }
    // Some servers write the number that they were given as a text.
    let id = id.and_then(|id| id.as_u64().or_else(|| id.as_str()?.parse().ok()));
    match (fields.remove("result"), fields.remove("error")) {
        (Some(result), None) => Some(Incoming::Answer { id, result: Ok(result) }),
        (_, Some(error)) => Some(Incoming::Answer { id, result: Err(Refusal::read(&error)) }),
        (None, None) => None,
    }
}

pub(crate) fn request(id: u64, method: &str, params: &Map<String, Value>) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

pub(crate) fn answer(id: &Value, result: &Result<Value, Refusal>) -> String {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(refusal) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": refusal.code, "message": refusal.message}})
        }
    }
    .to_string()
}

/// Takes a field out of what a server sent, which may be no object at all.
pub(crate) fn take(value: &mut Value, field: &str) -> Value {
    value.get_mut(field).map(Value::take).unwrap_or_default()
}

/// What a server is told that asks for something we do not do.
pub(crate) fn unsupported(method: &str) -> Refusal {
    let shown: String = method.chars().take(80).collect();
    Refusal::new(-32601, format!("this client does not do `{shown}`"))
}

/// Asks for progress, under the number of the request.
pub(crate) fn add_progress_token(params: &mut Map<String, Value>, id: u64) {
    let meta = params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(meta) = meta {
        meta.insert("progressToken".to_owned(), id.into());
    }
}

/// The number of the request that progress is about.
pub(crate) fn progress_token(params: &Map<String, Value>) -> Option<u64> {
    let token = params.get("progressToken")?;
    token.as_u64().or_else(|| token.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart_and_everything_else_is_none() {
        let one = |text: &str| parse(text.as_bytes());
        let ok = Incoming::Answer { id: Some(3), result: Ok(json!({})) };
        assert_eq!(one(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#), Some(vec![ok]));
        let text = one(r#"{"jsonrpc":"2.0","id":"3","error":{"code":-1,"message":"no"}}"#);
        let no = Incoming::Answer { id: Some(3), result: Err(Refusal::new(-1, "no")) };
        assert_eq!(text, Some(vec![no]));
        let asked = one(r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#);
        assert_eq!(asked.map(|all| all.len()), Some(2));
        for odd in ["", "hello", "7", "{}", r#"{"jsonrpc":"2.0"}"#, r#"{"id":1,"result":{}}"#, "[1]"] {
            assert_eq!(one(odd), None, "{odd}");
        }
    }
}
