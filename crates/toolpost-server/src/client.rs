//! Who asks: the revision of the protocol and what the client can do. In a handshake it is said once, since
//! 2026-07-28 with every request.

use serde_json::{Map, Value};
use std::sync::Arc;
use toolpost_mcp::meta::{CLIENT_CAPABILITIES, LOG_LEVEL, TASKS, VERSION};
use toolpost_mcp::{Revision, RpcError};

/// The client, as far as it matters for one request.
#[derive(Debug, Clone)]
pub struct Client {
    /// The revision that it speaks.
    pub(crate) revision: Revision,
    capabilities: Arc<Value>,
    /// Whether log messages are wanted.
    pub(crate) wants_log: bool,
}

impl Client {
    /// The client that shakes hands. A revision that we do not know, or one without handshake, is answered with the
    /// newest that has one.
    pub(crate) fn shaking_hands(params: &Map<String, Value>) -> Client {
        let asked = params.get("protocolVersion").and_then(Value::as_str).and_then(Revision::legacy_named);
        let revision = asked.unwrap_or(Revision::LEGACY);
        let capabilities = params.get("capabilities").cloned().unwrap_or_default();
        Client { revision, capabilities: Arc::new(capabilities), wants_log: true }
    }

    /// The client of a request that brings its own `_meta`; none if it does not say a revision there.
    pub(crate) fn of_request(params: &Map<String, Value>) -> Result<Option<Client>, RpcError> {
        let Some(meta) = params.get("_meta").and_then(Value::as_object) else { return Ok(None) };
        let Some(version) = meta.get(VERSION) else { return Ok(None) };
        let version = version.as_str().unwrap_or_default();
        let revision = match Revision::named(version) {
            Some(revision) if revision.is_modern() => revision,
            // The older ones are spoken as well, but only after a handshake.
            _ => return Err(RpcError::unsupported_version(version, &Revision::NAMES[..1])),
        };
        let capabilities = meta.get(CLIENT_CAPABILITIES).filter(|one| one.is_object()).ok_or_else(|| {
            RpcError::params(format!("a request of {version} says `{CLIENT_CAPABILITIES}` in its `_meta`"))
                .with_status(400)
        })?;
        Ok(Some(Client {
            revision,
            capabilities: Arc::new(capabilities.clone()),
            wants_log: meta.contains_key(LOG_LEVEL),
        }))
    }

    /// Whether each of its requests stands for itself.
    pub fn is_modern(&self) -> bool {
        self.revision.is_modern()
    }

    /// Whether the client declared this.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(Value::is_object)
    }

    /// Whether a long call may become a task that the client asks after.
    pub fn can_follow_tasks(&self) -> bool {
        self.is_modern()
            && self.capabilities.get("extensions").is_some_and(|extensions| extensions.get(TASKS).is_some())
    }

    /// Whether a person can be asked by a form.
    pub fn can_fill_forms(&self) -> bool {
        let Some(elicitation) = self.capabilities.get("elicitation").and_then(Value::as_object) else {
            return false;
        };
        // Forms came first: who says nothing has them.
        self.revision >= Revision::V2025_06_18
            && (elicitation.contains_key("form") || !elicitation.contains_key("url"))
    }
}
