//! `task`: the same in the words of other hosts, with a session that can be continued.

use crate::fake_host::Session;
use crate::{data, shown};
use serde_json::json;

#[tokio::test]
async fn a_task_names_the_session_to_continue_it_by() {
    let session = Session::new("toolpost");
    let arguments =
        json!({"description": "d", "prompt": "p", "subagent_type": "finder", "session_id": "run"});
    let outcome = session.call("task", arguments).await;
    assert_eq!(shown(&outcome), "done: p\n\nsession_id: run");
    assert_eq!(data(&outcome)["session_id"], "run");
    assert_eq!(session.host.orders.lock().unwrap()[0].continues.as_deref(), Some("run"));
}

#[tokio::test]
async fn dialects_spell_it_their_way() {
    for (dialect, name, arguments) in [
        (
            "claude",
            "Task",
            json!({"description": "d", "prompt": "p", "subagent_type": "finder", "resume": "run"}),
        ),
        ("gemini", "invoke_agent", json!({"agent_name": "finder", "prompt": "p"})),
    ] {
        let session = Session::new(dialect);
        let outcome = session.call(name, arguments).await;
        assert_eq!((outcome.tool.as_str(), outcome.is_success()), ("task", true), "{}", shown(&outcome));
    }
}
