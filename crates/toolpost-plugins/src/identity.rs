//! What this client says of itself: in the handshake, or with every modern request.

use serde_json::{Map, Value, json};
use toolpost_mcp::{Revision, meta};

/// The parameters of a request as this revision wants them.
pub(crate) fn with_meta(revision: Revision, mut params: Map<String, Value>) -> Map<String, Value> {
    if revision.is_modern() {
        let capabilities = json!({"elicitation": {"form": {}}});
        params.insert("_meta".to_owned(), meta::of_request(capabilities, client_info()));
    }
    params
}

/// The parameters of the handshake.
pub(crate) fn hello() -> Map<String, Value> {
    let fields = [
        ("protocolVersion".to_owned(), Revision::LEGACY.name().into()),
        ("capabilities".to_owned(), json!({"elicitation": {}})),
        ("clientInfo".to_owned(), client_info()),
    ];
    fields.into_iter().collect()
}

fn client_info() -> Value {
    json!({"name": "toolpost", "version": env!("CARGO_PKG_VERSION")})
}
