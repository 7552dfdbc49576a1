//! `signal_parent`: what the agent above is told.

use crate::fake_host::Session;
use crate::shown;
use serde_json::json;

#[tokio::test]
async fn the_agent_above_is_told() {
    let session = Session::new("toolpost");
    let outcome = session.call("signal_parent", json!({"message": "half", "data": {"n": 1}})).await;
    assert_eq!(shown(&outcome), "told boss");
    assert_eq!(session.host.signals.lock().unwrap().as_slice(), ["half\n\n{\"n\":1}"]);
}
