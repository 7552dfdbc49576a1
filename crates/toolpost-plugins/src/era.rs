//! The two eras of the protocol: before 2026-07-28 client and server shake hands, since then every request says all.

use serde_json::{Map, Value, json};

/// The revision in which every request stands for itself.
pub(crate) const MODERN: &str = "2026-07-28";

/// The newest revision with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";

/// The revisions with a handshake that we speak.
const SHAKEN: [&str; 4] = [LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Without a handshake.
    Modern,
    /// After one, in this revision.
    Legacy(&'static str),
}

impl Era {
    /// The revision that a server chose in the handshake, if we speak it.
    pub(crate) fn chosen(version: &str) -> Option<Era> {
        SHAKEN.into_iter().find(|known| *known == version).map(Era::Legacy)
    }

    pub(crate) fn is_modern(self) -> bool {
        self == Era::Modern
    }

    pub(crate) fn version(self) -> &'static str {
        match self {
            Era::Modern => MODERN,
            Era::Legacy(version) => version,
        }
    }

    /// The parameters of a request as this era wants them.
    pub(crate) fn dressed(self, mut params: Map<String, Value>) -> Map<String, Value> {
        if self.is_modern() {
            params.insert(
                "_meta".to_owned(),
                json!({
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
                    "io.modelcontextprotocol/clientInfo": client_info(),
                }),
            );
        }
        params
    }
}

/// The parameters of the handshake.
pub(crate) fn hello() -> Map<String, Value> {
    let fields = [
        ("protocolVersion".to_owned(), LEGACY.into()),
        ("capabilities".to_owned(), json!({"elicitation": {}})),
        ("clientInfo".to_owned(), client_info()),
    ];
    fields.into_iter().collect()
}

fn client_info() -> Value {
    json!({"name": "toolpost", "version": env!("CARGO_PKG_VERSION")})
}
