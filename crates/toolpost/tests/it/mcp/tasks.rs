//! Long calls of clients that can follow tasks.

use super::{Connection, is_running, meta, text, until};
use crate::Home;
use crate::load::stretched;
use serde_json::{Value, json};
use std::time::Duration;

fn follower() -> Value {
    meta(json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}))
}

/// A command that has become a task.
fn begun(connection: &mut Connection, command: &str) -> Value {
    let params = json!({"name": "bash", "arguments": {"command": command}, "_meta": follower()});
    let answer = connection.ask("begin", "tools/call", params);
    assert_eq!(
        (&answer["result"]["resultType"], &answer["result"]["status"]),
        (&json!("task"), &json!("working")),
        "{answer}"
    );
    answer["result"]["taskId"].clone()
}

fn state(connection: &mut Connection, task: &Value) -> Value {
    connection.ask("get", "tasks/get", json!({"taskId": task, "_meta": follower()}))["result"].take()
}

#[test]
fn a_long_command_becomes_a_task_and_ends_as_one() {
    let home = Home::new();
    let mut connection = Connection::open(&home, &["--policy", "privileged"]);
    let quick = json!({"name": "bash", "arguments": {"command": "echo quick"}, "_meta": follower()});
    assert!(text(&connection.ask(1, "tools/call", quick)).contains("quick"));
    let task = begun(&mut connection, "sleep 6; echo at last");
    assert_eq!(state(&mut connection, &task)["status"], "working");
    std::thread::sleep(Duration::from_secs(2));
    let ended = state(&mut connection, &task);
    assert_eq!(ended["status"], "completed", "{ended}");
    assert!(ended["result"]["content"][0]["text"].as_str().unwrap().contains("at last"), "{ended}");
    // Who does not follow tasks gets none, and cannot ask after those of others.
    let answer = connection.ask(2, "tasks/get", json!({"taskId": task, "_meta": meta(json!({}))}));
    assert_eq!(answer["error"]["code"], -32021);
    let answer = connection.ask(3, "tasks/get", json!({"taskId": "x", "_meta": follower()}));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn a_task_that_is_cancelled_stops_and_none_outlives_the_server() {
    let home = Home::new();
    let mut connection = Connection::open(&home, &["--policy", "privileged"]);
    let task = begun(&mut connection, "sleep 3600.8301");
    assert!(is_running("sleep\x003600.8301"));
    connection.ask("end", "tasks/cancel", json!({"taskId": task, "_meta": follower()}));
    until("the command ends", || !is_running("sleep\x003600.8301"));
    assert_eq!(state(&mut connection, &task)["status"], "cancelled");
    begun(&mut connection, "sleep 3600.8302");
    let (took, status, _) = connection.close();
    assert!(took < stretched(Duration::from_secs(5)) && status == 0, "{took:?} {status}");
    until("the command ends", || !is_running("sleep\x003600.8302"));
}
