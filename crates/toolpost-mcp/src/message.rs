//! JSON-RPC messages as MCP uses them: read from bytes, written as one line of text. Knows no methods.
//!
//! A server reads strictly, and tells its client what is wrong with a message ([`Message::parse`]). A client accepts what
//! existing servers send as long as its meaning is clear ([`Message::parse_lenient`]).

use crate::error::RpcError;
use crate::json;
use serde::Serialize;
use serde_json::{Map, Value};

/// A message that was received.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// Expects a reply.
    Request(Request),
    /// Expects no reply.
    Notification {
        /// What it is about.
        method: String,
        /// Its parameters.
        params: Map<String, Value>,
    },
    /// Replies to a request of ours.
    Answer {
        /// The number of our request; none if the id is missing or is not a number that we could have given.
        id: Option<u64>,
        /// The result, or the error.
        result: Result<Value, RpcError>,
    },
}

/// A request that was received.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// A string or a number, to be sent back with the reply.
    pub id: Value,
    /// What is requested.
    pub method: String,
    /// Its parameters.
    pub params: Map<String, Value>,
}

/// Bytes that are not a valid message, and the reply to them.
#[derive(Debug, PartialEq)]
pub struct Invalid {
    /// The id of the message, if it has a valid one; otherwise null.
    pub id: Value,
    /// What is wrong.
    pub error: RpcError,
}

/// How exactly a message must follow the specification.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Strict,
    Lenient,
}

impl Message {
    /// Reads one message by the letter of the specification. Batches, which only revision 2025-03-26 has, are refused.
    pub fn parse(bytes: &[u8]) -> Result<Message, Invalid> {
        let refused = |error| Err(Invalid { id: Value::Null, error });
        match json::read(bytes) {
            Ok(json::Read { value: Value::Array(_), .. }) => {
                refused(RpcError::invalid_request("batches are not taken; send one message at a time"))
            }
            Ok(json::Read { value, repeated: Some(key) }) => {
                let id = value.get("id").filter(|id| is_id(id)).cloned().unwrap_or_default();
                let message = format!("`{key}` is given twice in one object; leave one of the two out");
                Err(Invalid { id, error: RpcError::invalid_request(message) })
            }
            Ok(json::Read { value, repeated: None }) => read(value, Reading::Strict),
            Err(error) => refused(RpcError::parse(format!("invalid JSON: {error}"))),
        }
    }

    /// Reads one message or a batch, and accepts what some servers send against the specification: an id written as a
    /// string, a null id, parameters that are not an object. None if it is not a message even so.
    pub fn parse_lenient(bytes: &[u8]) -> Option<Vec<Message>> {
        match serde_json::from_slice::<Value>(bytes).ok()? {
            Value::Array(items) => items.into_iter().map(|item| read(item, Reading::Lenient).ok()).collect(),
            one => Some(vec![read(one, Reading::Lenient).ok()?]),
        }
    }
}

fn read(value: Value, reading: Reading) -> Result<Message, Invalid> {
    let is_lenient = reading == Reading::Lenient;
    let Value::Object(mut fields) = value else {
        let error = RpcError::invalid_request("a message is a JSON object");
        return Err(Invalid { id: Value::Null, error });
    };
    let id = fields.remove("id");
    let known = id.clone().filter(is_id).unwrap_or(Value::Null);
    let refused =
        |message: &str| Err(Invalid { id: known.clone(), error: RpcError::invalid_request(message) });
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refused("a message says \"jsonrpc\": \"2.0\"");
    }
    match fields.remove("method") {
        Some(Value::String(method)) => {
            let params = match fields.remove("params") {
                None => Map::new(),
                Some(Value::Object(params)) => params,
                Some(_) if is_lenient => Map::new(),
                Some(_) => {
                    let error = RpcError::params("params are an object").with_status(400);
                    return Err(Invalid { id: known, error });
                }
            };
            match id {
                None => Ok(Message::Notification { method, params }),
                Some(Value::Null) if is_lenient => Ok(Message::Notification { method, params }),
                Some(id) if is_lenient || is_id(&id) => Ok(Message::Request(Request { id, method, params })),
                Some(_) => refused("an id is a text or a whole number"),
            }
        }
        Some(_) => refused("a method is a text"),
        None => {
            let as_text = |id: &Value| id.as_str().filter(|_| is_lenient)?.parse().ok();
            let id = id.and_then(|id| id.as_u64().or_else(|| as_text(&id)));
            match (fields.remove("result"), fields.remove("error")) {
                (Some(result), None) => Ok(Message::Answer { id, result: Ok(result) }),
                (result, Some(error)) if is_lenient || result.is_none() => {
                    Ok(Message::Answer { id, result: Err(RpcError::read(&error)) })
                }
                _ => refused("a message has a method, a result or an error"),
            }
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

/// The reply to a request.
pub fn answer(id: &Value, result: &Result<Value, RpcError>) -> String {
    let mut text = Text::with_capacity(128 + result.as_ref().map_or(128, length));
    text.push(r#"{"jsonrpc":"2.0","id":"#, id);
    match result {
        Ok(result) => text.push(",\"result\":", result),
        Err(error) => {
            text.push(r#","error":{"code":"#, &error.code);
            text.push(",\"message\":", &error.message);
            if let Some(data) = &error.data {
                text.push(",\"data\":", data);
            }
            text.0.push(b'}');
        }
    }
    text.end()
}

/// A message that expects no reply.
pub fn notification(method: &str, params: &Value) -> String {
    let mut text = Text::with_capacity(128);
    text.push(r#"{"jsonrpc":"2.0","method":"#, method);
    text.push(",\"params\":", params);
    text.end()
}

/// A request of ours.
pub fn request(id: u64, method: &str, params: &Map<String, Value>) -> String {
    let mut text = Text::with_capacity(256);
    text.push(r#"{"jsonrpc":"2.0","id":"#, &id);
    text.push(",\"method\":", method);
    text.push(",\"params\":", params);
    text.end()
}

/// A message while it is written: an object that is open. It is known to be a text only as a whole, which costs less than piece by
/// piece.
struct Text(Vec<u8>);

impl Text {
    fn with_capacity(bytes: usize) -> Text {
        Text(Vec::with_capacity(bytes))
    }

    fn push(&mut self, before: &str, value: &(impl Serialize + ?Sized)) {
        self.0.extend_from_slice(before.as_bytes());
        // Values have string keys only, so that writing them as JSON cannot fail.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    fn end(mut self) -> String {
        self.0.push(b'}');
        // JSON is always a text.
        String::from_utf8(self.0).unwrap_or_default()
    }
}

/// About how many bytes a value has as JSON, so that its text need not grow often.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + text.len() / 16 + 2,
        Value::Array(items) => items.iter().map(|item| length(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(key, field)| key.len() + length(field) + 4).sum::<usize>() + 2
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// What the shortest message costs, in bytes, where a flood of messages is measured: reading one is work too.
pub const OVERHEAD: usize = 256;

/// Maximum number of values in a message that is read.
const MAX_PARTS: usize = 1 << 20;

/// Whether a text would take far more memory as a message than it does as a text: a byte can become a hundred.
pub fn is_bloated(bytes: &[u8]) -> bool {
    bytes.len() > MAX_PARTS && memchr::memchr_iter(b',', bytes).count() > MAX_PARTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
    use serde_json::json;

    fn refused(text: &str, code: i64, id: Value) {
        match Message::parse(text.as_bytes()) {
            Err(invalid) => assert_eq!((invalid.error.code, invalid.id), (code, id), "{text}"),
            Ok(message) => panic!("{text}: {message:?}"),
        }
    }

    #[test]
    fn a_server_says_what_is_wrong_with_a_message() {
        refused("", PARSE_ERROR, Value::Null);
        refused("{", PARSE_ERROR, Value::Null);
        refused(&"[".repeat(100_000), PARSE_ERROR, Value::Null);
        refused("[]", INVALID_REQUEST, Value::Null);
        refused("7", INVALID_REQUEST, Value::Null);
        refused(r#"{"id":1,"method":"ping"}"#, INVALID_REQUEST, json!(1));
        refused(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST, Value::Null);
        refused(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST, Value::Null);
        refused(r#"{"jsonrpc":"2.0","id":"a","method":7}"#, INVALID_REQUEST, json!("a"));
        refused(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}"#, INVALID_PARAMS, json!("a"));
        refused(r#"{"jsonrpc":"2.0","id":"a"}"#, INVALID_REQUEST, json!("a"));
        refused(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, INVALID_REQUEST, json!(1));
        let twice = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"arguments":{"limit":1,"limit":3}}}"#;
        refused(twice, INVALID_REQUEST, json!(1));
    }

    #[test]
    fn a_client_accepts_what_is_clear_and_nothing_else() {
        let read = |text: &str| Message::parse_lenient(text.as_bytes());
        let answer = |result| Some(vec![Message::Answer { id: Some(3), result }]);
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#), answer(Ok(json!({}))));
        let error = read(r#"{"jsonrpc":"2.0","id":"3","result":1,"error":{"code":-1,"message":"no"}}"#);
        assert_eq!(error, answer(Err(RpcError::new(-1, "no"))));
        let batch = read(r#"[{"jsonrpc":"2.0","id":1.5,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#);
        assert_eq!(batch.map(|all| all.len()), Some(2));
        let notification = read(r#"{"jsonrpc":"2.0","id":null,"method":"x","params":[1]}"#);
        let expected = Message::Notification { method: "x".to_owned(), params: Map::new() };
        assert_eq!(notification, Some(vec![expected]));
        for odd in ["", "hello", "7", "{}", r#"{"jsonrpc":"2.0"}"#, r#"{"id":1,"result":{}}"#, "[1]"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }

    #[test]
    fn an_answer_to_a_server_has_the_number_that_was_given() {
        let number = |text: &str| match Message::parse(text.as_bytes()) {
            Ok(Message::Answer { id, .. }) => id,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(number(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#), Some(3));
        assert_eq!(number(r#"{"jsonrpc":"2.0","id":"3","result":{}}"#), None);
    }

    #[test]
    fn messages_are_one_line_of_json() {
        let text = answer(&json!("a\nb"), &Err(RpcError::params("x\ny").with_data(json!({"uri": "z"}))));
        let expected =
            r#"{"jsonrpc":"2.0","id":"a\nb","error":{"code":-32602,"message":"x\ny","data":{"uri":"z"}}}"#;
        assert_eq!(text, expected);
        assert_eq!(answer(&json!(1), &Ok(json!({}))), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        let told = notification("a\"b", &json!({"x": 1}));
        assert_eq!(told, r#"{"jsonrpc":"2.0","method":"a\"b","params":{"x":1}}"#);
        let asked = request(7, "ping", &Map::new());
        assert_eq!(asked, r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}"#);
    }

    #[test]
    fn only_many_values_are_too_many() {
        assert!(!is_bloated(&vec![b'x'; MAX_PARTS + 1]));
        assert!(is_bloated(&b"1,".repeat(MAX_PARTS + 1)));
    }
}
