//! Agents that clients start: what they are told of them, who is asked, how they end, and how they go on.

use super::{Connection, is_running, text, until};
use crate::delegated::home;
use crate::tree::events;
use serde_json::{Value, json};

fn client(home: &crate::Home, flags: &[&str]) -> Connection {
    Connection::legacy(home, flags, "2025-11-25", json!({"elicitation": {}}))
}

fn arguments(agent: &str, prompt: &str, id: Option<&str>) -> Value {
    let mut all = json!({"description": "a part", "subagent_type": agent, "prompt": prompt});
    if let Some(id) = id {
        all["session_id"] = id.into();
    }
    all
}

/// The id that the answer names last.
fn id_of(answer: &Value) -> String {
    text(answer).rsplit_once("session_id: ").unwrap_or_else(|| panic!("{answer}")).1.to_owned()
}

#[test]
fn clients_are_told_of_the_agents_and_go_on_with_them_in_another_process() {
    let home = home(&[("helper", "tools: []"), ("writer", "tools: [write]")]);
    let mut first = client(&home, &[]);
    let list = first.ask(1, "tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let named = |name: &str| tools.iter().find(|tool| tool["name"] == name);
    for (tool, argument) in [("task", "subagent_type"), ("spawn_agent", "agentType")] {
        let tool = named(tool).unwrap_or_else(|| panic!("{list}"));
        assert_eq!(
            tool["inputSchema"]["properties"][argument]["enum"],
            json!(["helper", "writer"]),
            "{tool}"
        );
        assert!(tool["description"].as_str().unwrap().contains("- helper: About helper."), "{tool}");
    }
    assert!(named("signal_parent").is_none(), "{list}");
    let begun = first.call(2, "task", arguments("helper", "one", None));
    let id = id_of(&begun);
    let more = first.call(3, "task", arguments("helper", "two", Some(&id)));
    assert!(text(&more).starts_with("one|two"), "{more}");
    first.close();
    let mut second = client(&home, &[]);
    let more = second.call(1, "task", arguments("helper", "three", Some(&id)));
    assert!(text(&more).starts_with("one|two|three") && id_of(&more) == id, "{more}");
    // What has gone on elsewhere since is no hindrance for the rest.
    let other = second.call(
        2,
        "task",
        arguments("writer", "call write {\"filePath\":\"a\",\"content\":\"b\"}", None),
    );
    assert!(home.path("repo/a").exists(), "{other}");
}

#[test]
fn a_server_writes_on_when_another_goes_on_with_what_it_began() {
    let home = home(&[("helper", "tools: []")]);
    let (mut one, mut two) = (client(&home, &[]), client(&home, &[]));
    let id = id_of(&one.call(1, "task", arguments("helper", "one", None)));
    let more = two.call(1, "task", arguments("helper", "two", Some(&id)));
    assert!(text(&more).starts_with("one|two"), "{more}");
    let written = one.call(2, "write", json!({"filePath": "a.txt", "content": "x"}));
    assert_eq!(written["result"]["isError"], false, "{written}");
    let more = one.call(3, "task", arguments("helper", "three", Some(&id)));
    assert!(text(&more).starts_with("one|two|three"), "{more}");
}

#[test]
fn the_client_is_asked_and_told_what_the_agent_does() {
    let home = home(&[("writer", "tools: [write]")]);
    let config = std::fs::read_to_string(home.path(".config/toolpost/config.toml")).unwrap();
    home.write(".config/toolpost/config.toml", format!("ask = [\"write\"]\n{config}"));
    let mut client = client(&home, &[]);
    let prompt = "call write {\"filePath\":\"made.txt\",\"content\":\"x\"}";
    let params = json!({"name": "task", "arguments": arguments("writer", prompt, None), "_meta": {"progressToken": "t"}});
    client.request(1, "tools/call", params);
    let mut told = Vec::new();
    loop {
        let message = client.next();
        match message["method"].as_str() {
            Some("notifications/progress") => {
                told.push(message["params"]["message"].as_str().unwrap().to_owned())
            }
            Some("elicitation/create") => {
                assert!(message["params"]["message"].as_str().unwrap().contains("made.txt"), "{message}");
                let answer = json!({"action": "accept", "content": {"answer": "once"}});
                client.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
            }
            _ => break assert!(text(&message).contains("came: "), "{message}"),
        }
    }
    assert!(home.path("repo/made.txt").exists());
    assert!(
        told.iter().any(|line| line == "a part") && told.iter().any(|line| line == "writer: write"),
        "{told:?}"
    );
}

#[test]
fn a_cancelled_call_ends_its_agent_and_a_killed_server_leaves_one_that_goes_on() {
    let home = home(&[("runner", "tools: [bash]")]);
    let ended =
        |home: &crate::Home| events(home).iter().filter(|event| event["fact"]["fact"] == "ended").count();
    let prompt = |marker: &str| format!("call bash {{\"command\":\"exec sleep {marker}\"}}");
    let mut cancelled = client(&home, &["--allow", "exec"]);
    cancelled.request(
        1,
        "tools/call",
        json!({"name": "task", "arguments": arguments("runner", &prompt("301.125"), None)}),
    );
    until("the command runs", || is_running("301.125"));
    cancelled
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    until("the command ends", || !is_running("301.125"));
    until("the agent ends", || ended(&home) == 1);
    let begun = events(&home).into_iter().find(|event| event["fact"]["fact"] == "started").unwrap();
    let id = format!("{}/{}", begun["session"].as_str().unwrap(), begun["activation"].as_str().unwrap());
    let more = cancelled.call(2, "task", arguments("runner", "now", Some(&id)));
    assert!(text(&more).contains("|now"), "{more}");
    drop(cancelled);
    let mut killed = client(&home, &["--allow", "exec"]);
    killed.request(
        1,
        "tools/call",
        json!({"name": "task", "arguments": arguments("runner", &prompt("302.125"), Some(&id))}),
    );
    until("the command runs", || is_running("302.125"));
    // Somebody else has to wait.
    let mut other = client(&home, &["--allow", "exec"]);
    let held = other.call(1, "task", arguments("runner", "x", Some(&id)));
    assert!(text(&held).contains("is held by"), "{held}");
    killed.kill();
    until("the command ends", || !is_running("302.125"));
    let more = other.call(2, "task", arguments("runner", "again", Some(&id)));
    assert!(text(&more).contains("|again"), "{more}");
    other.close();
    assert_eq!(home.run(&["sessions", "replay", &id]).status, 0);
}

#[test]
fn at_most_eight_agents_of_a_server_are_at_work_at_once() {
    let home = home(&[(
        "slow",
        "tools: [bash]\nscript: [ { call: bash, args: { command: \"sleep 0.4\" } }, { say: ok } ]",
    )]);
    let mut client = client(&home, &["--allow", "exec"]);
    for id in 0..12 {
        client.request(id, "tools/call", json!({"name": "task", "arguments": arguments("slow", "x", None)}));
    }
    for _ in 0..12 {
        let answer = client.next();
        assert!(text(&answer).starts_with("ok"), "{answer}");
    }
    client.close();
    let (mut running, mut most) = (0_i32, 0);
    for event in events(&home) {
        running += match event["fact"]["fact"].as_str() {
            Some("started") => 1,
            Some("ended") => -1,
            _ => 0,
        };
        most = most.max(running);
    }
    assert!((2..=8).contains(&most), "{most} at once");
}
