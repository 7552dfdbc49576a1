//! Who asks: the revision of the protocol and what the client can do. In a handshake it is said once, since
//! 2026-07-28 with every request.

use crate::rpc::RpcError;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The revisions, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// All of them, the newest first.
    pub(crate) const NAMES: [&str; 5] =
        ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

    pub(crate) fn named(name: &str) -> Option<Revision> {
        Some(match name {
            "2024-11-05" => Revision::V2024_11_05,
            "2025-03-26" => Revision::V2025_03_26,
            "2025-06-18" => Revision::V2025_06_18,
            "2025-11-25" => Revision::V2025_11_25,
            "2026-07-28" => Revision::V2026_07_28,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether every request stands for itself.
    pub(crate) fn is_modern(self) -> bool {
        self >= Revision::V2026_07_28
    }
}

/// The keys of a modern request's `_meta`.
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The name of the extension by which long calls become tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The client, as far as it matters for one request.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) revision: Revision,
    capabilities: Arc<Value>,
    /// Whether log messages are wanted.
    pub(crate) wants_log: bool,
}

impl Client {
    /// The client that shakes hands. A revision that we do not know, or one without handshake, is answered with the
    /// newest that has one.
    pub(crate) fn shaking_hands(params: &Map<String, Value>) -> Client {
        let asked = params.get("protocolVersion").and_then(Value::as_str).and_then(Revision::named);
        let revision = asked.filter(|revision| !revision.is_modern()).unwrap_or(Revision::V2025_11_25);
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
        let capabilities = meta.get(CAPABILITIES).filter(|one| one.is_object()).ok_or_else(|| {
            RpcError::params(format!("a request of {version} says `{CAPABILITIES}` in its `_meta`"))
                .with_status(400)
        })?;
        Ok(Some(Client {
            revision,
            capabilities: Arc::new(capabilities.clone()),
            wants_log: meta.contains_key(LOG_LEVEL),
        }))
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.revision.is_modern()
    }

    /// Whether the client declared this.
    pub(crate) fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(Value::is_object)
    }

    /// Whether a long call may become a task that the client asks after.
    pub(crate) fn can_follow_tasks(&self) -> bool {
        self.is_modern()
            && self.capabilities.get("extensions").is_some_and(|extensions| extensions.get(TASKS).is_some())
    }

    /// Whether a person can be asked by a form.
    pub(crate) fn can_fill_forms(&self) -> bool {
        let Some(elicitation) = self.capabilities.get("elicitation").and_then(Value::as_object) else {
            return false;
        };
        // Forms came first: who says nothing has them.
        self.revision >= Revision::V2025_06_18
            && (elicitation.contains_key("form") || !elicitation.contains_key("url"))
    }
}
