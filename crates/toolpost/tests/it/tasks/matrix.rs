//! Each cell of the access matrix, through the command line and through MCP.

use super::{call, lines};
use crate::Home;
use crate::mcp::Caller;
use serde_json::{Value, json};

const TOOLS: [&str; 6] =
    ["list_tasks", "get_task", "submit_result", "create_task", "complete_task", "reject_task"];

/// What a role has.
fn has(role: &str) -> &'static [&'static str] {
    match role {
        "worker" => &["list_tasks", "get_task", "submit_result"],
        "orchestrator" => &["list_tasks", "get_task", "create_task", "complete_task", "reject_task"],
        _ => &[],
    }
}

/// Arguments that work where a worker comes first: it submits both tasks that there are.
fn arguments(tool: &str) -> Vec<Value> {
    match tool {
        "list_tasks" => vec![json!({})],
        "get_task" => vec![json!({"taskId": "t1"})],
        "submit_result" => ["t1", "t2"].map(|id| json!({"taskId": id, "result": "done"})).into(),
        "create_task" => vec![json!({"title": "more"})],
        "complete_task" => vec![json!({"taskId": "t1"})],
        _ => vec![json!({"taskId": "t2", "reason": "no"})],
    }
}

fn home() -> Home {
    let home = Home::new();
    lines(&home, &["tasks", "add", "one"]);
    lines(&home, &["tasks", "add", "two"]);
    home
}

/// The tasks as they stand once every role has done what it may.
fn check_tasks(home: &Home) {
    let (_, all) = home.json(&["tasks"]);
    let standing =
        |task: &Value| format!("{} {}", task["title"].as_str().unwrap(), task["status"].as_str().unwrap());
    let standing: Vec<String> = all["tasks"].as_array().unwrap().iter().map(standing).collect();
    assert_eq!(standing, ["one completed", "two deferred", "more ready"]);
}

#[test]
fn the_command_line_keeps_to_the_role() {
    let home = home();
    for role in ["", "worker", "orchestrator"] {
        let flags: &[&str] = if role.is_empty() { &[] } else { &["--role", role] };
        let (_, listed) = home.json(&[&["tools"], flags].concat());
        let offered: Vec<&str> =
            listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        for tool in TOOLS {
            let is_allowed = has(role).contains(&tool);
            assert_eq!(offered.contains(&tool), is_allowed, "{tool} as {role}");
            for args in arguments(tool) {
                let (status, outcome) = home.json(&[&["call", tool, &args.to_string()], flags].concat());
                let expected = if is_allowed { (0, Value::Null) } else { (3, json!("ROLE_FORBIDDEN")) };
                assert_eq!(
                    (status, outcome["error"]["code"].clone()),
                    expected,
                    "{tool} as {role}: {outcome}"
                );
            }
        }
    }
    check_tasks(&home);
    let ran = home.run(&["call", "list_tasks"]);
    assert!(ran.stderr.contains("`--role worker` or `--role orchestrator` sets the role"), "{}", ran.stderr);
    // The variable sets it too; no file does.
    let mut command = home.command(["call", "list_tasks"]);
    assert!(command.env("TOOLPOST_ROLE", "worker").output().unwrap().status.success());
    home.write("repo/.toolpost/config.toml", "role = \"worker\"\n");
    let ran = home.run(&["call", "list_tasks"]);
    assert!(ran.status == 2 && ran.stderr.contains("no file sets `role`"), "{}", ran.stderr);
}

#[test]
fn an_mcp_server_keeps_to_the_role() {
    let home = home();
    for role in ["", "worker", "orchestrator"] {
        let flags: &[&str] = if role.is_empty() { &[] } else { &["--role", role] };
        let mut client = Caller::new(&home, flags);
        let offered = client.tools();
        for tool in TOOLS {
            let is_allowed = has(role).contains(&tool);
            assert_eq!(offered.iter().any(|name| name == tool), is_allowed, "{tool} as {role}");
            for args in arguments(tool) {
                let said = client.call(tool, args);
                assert_eq!(said.contains("ROLE_FORBIDDEN"), !is_allowed, "{tool} as {role}: {said}");
                assert_eq!(said.contains("\"isError\":true"), !is_allowed, "{tool} as {role}: {said}");
            }
        }
    }
    check_tasks(&home);
}

#[test]
fn a_role_adds_only_its_own_tools_to_the_list() {
    let home = Home::new();
    let none = Caller::new(&home, &[]).tools();
    for role in ["worker", "orchestrator"] {
        let mut more = Caller::new(&home, &["--role", role]).tools();
        more.retain(|name| !none.contains(name));
        assert_eq!(more, has(role), "{role}");
    }
    assert!(none.contains(&"todowrite".to_owned()) && none.contains(&"todoread".to_owned()), "{none:?}");
    let outcome = call(&home, "worker", "s", "list_tasks", json!({}));
    assert_eq!(outcome["output"], "There are no tasks.");
}
