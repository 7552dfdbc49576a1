//! The keys of `_meta`, and progress tokens.

use crate::Revision;
use serde_json::{Map, Value, json};

/// The revision of a modern request.
pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client of a modern request can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client of a modern request is.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Who the server of a modern result is.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// From which level on a modern request wants log messages.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The subscription that a notification belongs to.
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// The name of the extension that turns long calls into tasks.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The `_meta` of a modern request: who asks, and what that client can do.
pub fn of_request(capabilities: Value, client: Value) -> Value {
    json!({VERSION: Revision::MODERN.name(), CLIENT_CAPABILITIES: capabilities, CLIENT_INFO: client})
}

/// Asks for progress notifications, under the number of the request.
pub fn add_progress_token(params: &mut Map<String, Value>, id: u64) {
    let meta = params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(meta) = meta {
        meta.insert("progressToken".to_owned(), id.into());
    }
}

/// The number of the request that a progress notification belongs to. Some servers write it as a string.
pub fn progress_token(params: &Map<String, Value>) -> Option<u64> {
    let token = params.get("progressToken")?;
    token.as_u64().or_else(|| token.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_token_comes_back() {
        let mut params = Map::from_iter([("_meta".to_owned(), of_request(json!({}), json!({})))]);
        add_progress_token(&mut params, 7);
        let meta = params["_meta"].as_object().unwrap();
        assert_eq!((meta[VERSION].as_str(), progress_token(meta)), (Some("2026-07-28"), Some(7)));
        let text = Map::from_iter([("progressToken".to_owned(), json!("8"))]);
        assert_eq!(progress_token(&text), Some(8));
    }
}
