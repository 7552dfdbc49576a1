//! `spawn_agent`: what it asks of the host, and how it lists the agents there are.

use crate::fake_host::Session;
use crate::{data, shown};
use serde_json::json;

#[tokio::test]
async fn an_order_is_made_of_the_arguments() {
    let session = Session::new("toolpost");
    let outcome = session.call("spawn_agent", json!({"agentType": "finder", "prompt": "find it"})).await;
    assert_eq!(shown(&outcome), "done: find it");
    assert_eq!(data(&outcome), &json!({"agentId": "run", "running": false, "turns": 2, "costUsd": null}));
    let arguments = json!({"agentType": "plain", "prompt": "p", "context": "c\n", "wait": false});
    let outcome = session.call("spawn_agent", arguments).await;
    assert_eq!(shown(&outcome), "started plain (run); you are notified when it has ended");
    let arguments = json!({"agentType": "plain", "prompt": "p", "resultSchema": {"type": "object"}});
    let outcome = session.call("spawn_agent", arguments).await;
    assert_eq!((shown(&outcome).as_str(), &data(&outcome)["result"]), (r#"{"n":1}"#, &json!({"n": 1})));
    let orders = session.host.orders.lock().unwrap();
    assert_eq!(orders[1].prompt, "# Context\n\nc\n\n# Task\n\np");
    assert!(orders[1].is_in_background && !orders[0].is_in_background);
}

#[tokio::test]
async fn the_agents_that_there_are_stand_in_its_description() {
    let session = Session::new("toolpost");
    let definition = session.ready("spawn_agent").await;
    assert!(definition.spec.description.ends_with("Agents:\n- finder: Finds things.\n- plain"));
    assert_eq!(definition.input["properties"]["agentType"]["enum"], json!(["finder", "plain"]));
    let outcome = session.call("spawn_agent", json!({"agentType": "nobody", "prompt": "x"})).await;
    assert!(shown(&outcome).contains("finder"), "{}", shown(&outcome));
    assert!(session.host.orders.lock().unwrap().is_empty());
}
