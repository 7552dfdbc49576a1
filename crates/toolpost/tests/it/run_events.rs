//! The lines of `--output stream-json`: they are as their schema in the reference says, and each says whose it is.

use crate::chat::piped;
use crate::run_faults::{END, home, piece};
use crate::{Home, project};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The schema of the reference; with nothing allowed in a line that it does not have.
fn schema() -> jsonschema::Validator {
    let text = std::fs::read_to_string(project().join("docs/reference/run-events.schema.json")).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    let close = |shape: &mut Value| shape["additionalProperties"] = false.into();
    schema["anyOf"].as_array_mut().unwrap().iter_mut().for_each(close);
    schema["$defs"].as_object_mut().unwrap().values_mut().for_each(close);
    jsonschema::validator_for(&schema).unwrap()
}

/// The events of a run, each checked.
fn checked(stdout: &str) -> Vec<Value> {
    let schema = schema();
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        let wrong: Vec<String> = schema.iter_errors(event).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{event}: {wrong:?}");
        let is_owned = event["agent"].is_string() && event["activation"].is_string();
        assert!(is_owned, "it says whose it is: {event}");
    }
    events
}

fn kinds(events: &[Value]) -> BTreeSet<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// The events of an agent of one type.
fn of<'a>(events: &'a [Value], agent: &str, kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["agent"] == agent && event["type"] == kind).collect()
}

/// The end of a stream that asks for these calls: name and arguments as text.
fn calls(calls: &[(&str, &str)]) -> String {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            json!({"index": index, "id": format!("c{index}"), "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    let event = json!({"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]});
    format!("data: {event}\n\ndata: [DONE]\n\n")
}

#[test]
fn a_child_says_what_it_thinks_says_and_calls() {
    let spawn = json!({"agentType": "helper", "prompt": "look", "description": "A look around"}).to_string();
    let thinks = json!({"choices": [{"delta": {"reasoning_content": "where to look"}}]});
    let streams = vec![
        piece("Half of "),
        format!("{}{}", piece("I ask."), calls(&[("spawn_agent", &spawn), ("list", "{\"path\":")])),
        // The name and the space around it are what models write now and then.
        format!(
            "data: {thinks}\n\n{}{}",
            piece("I look."),
            calls(&[("functions.LIST ", "{\"path\": \"src\"}")])
        ),
        format!("{}{END}", piece("There is main.rs.")),
        END.to_owned(),
        format!("{}{END}", piece("All done.")),
    ];
    let home = home(streams, "");
    home.write("repo/helper.md", "---\nname: helper\ndescription: d\ntools: [list]\n---\nLook.\n");
    let boss =
        "---\nname: boss\ndescription: d\nagents: [helper.md]\ntools: [spawn_agent, list]\n---\nAsk.\n";
    home.write("repo/boss.md", boss);
    let config = home.path("mock.toml").display().to_string();
    let args = ["run", "boss.md", "go", "--model", "mock", "--config", &config, "--output", "stream-json"];
    let ran = home.run(&args);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let events = checked(&ran.stdout);
    let text = |agent: &str, kind: &str| -> Vec<String> {
        of(&events, agent, kind).iter().map(|event| event["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(text("helper", "thinking"), ["where to look"], "{}", ran.stdout);
    assert_eq!(text("helper", "text").concat(), "I look.There is main.rs.", "{}", ran.stdout);
    assert_eq!(text("helper", "message"), ["I look.", "There is main.rs."]);
    // The empty answer was asked for once more.
    assert_eq!(text("boss", "message"), ["I ask.", "", "All done."]);
    let called = of(&events, "helper", "tool_use");
    assert_eq!((called.len(), &called[0]["arguments"]), (1, &json!({"path": "src"})), "{called:?}");
    let came = of(&events, "helper", "tool_result");
    assert_eq!((&came[0]["callId"], &came[0]["success"]), (&called[0]["callId"], &true.into()), "{came:?}");
    assert!(came[0]["output"].as_str().unwrap().contains("main.rs"), "{came:?}");
    // What the parent says of its work is seen, and so is what was not run.
    assert_eq!(of(&events, "boss", "progress")[0]["title"], "A look around");
    let refused = of(&events, "boss", "tool_refused");
    let asked = of(&events, "boss", "tool_use");
    assert_eq!((&refused[0]["name"], &refused[0]["callId"]), (&"list".into(), &asked[1]["callId"]));
    let began = of(&events, "helper", "agent");
    assert_eq!(began[0]["callId"], asked[0]["callId"]);
    assert_eq!(of(&events, "helper", "agent_end")[0]["text"], "There is main.rs.");
    assert_eq!(of(&events, "boss", "retry").len(), 1);
    assert_eq!((&events[0]["type"], &events[0]["version"]), (&"init".into(), &1.into()));
    assert_eq!(events.last().unwrap()["type"], "result");
}

#[test]
fn progress_calls_of_calls_and_waiting_are_events() {
    let home = Home::new();
    let child = "tools: [bash]\nscript:\n  - { call: bash, args: { command: \"echo at work; sleep 0.7\" } }\n  - say: x";
    home.write("repo/child.md", format!("---\nname: child\ndescription: d\n{child}\n---\nDo.\n"));
    let boss = "agents: [child.md]\ntools: [spawn_agent, batch, list]\nscript:\n  - { call: batch, args: { calls: [ { tool: list, args: { path: src } } ] }, optional: true }\n  - { call: spawn_agent, args: { agentType: child, prompt: x, wait: false } }\n  - say: over";
    home.write("repo/boss.md", format!("---\nname: boss\ndescription: d\n{boss}\n---\nLead.\n"));
    let ran = home.run(&["run", "boss.md", "--allow", "exec", "--session", "s", "--output", "stream-json"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let events = checked(&ran.stdout);
    assert!(kinds(&events).contains("waiting"), "{:?}", kinds(&events));
    let told = of(&events, "child", "progress");
    assert!(
        told.iter()
            .any(|event| event["metadata"]["output"].as_str().is_some_and(|text| text.contains("at work"))),
        "{told:?}"
    );
    let batch = of(&events, "boss", "tool_use")[0]["callId"].clone();
    let inner: Vec<&Value> =
        of(&events, "boss", "tool_use").into_iter().filter(|event| event["parentCallId"] == batch).collect();
    assert_eq!((inner.len(), &inner[0]["name"]), (1, &"list".into()), "{}", ran.stdout);
    assert!(of(&events, "boss", "tool_result").iter().any(|event| event["callId"] == inner[0]["callId"]));
    // A run that has ended prints its result once more.
    let again = home.run(&["run", "--resume", "s", "--output", "stream-json"]);
    assert_eq!(again.status, 0, "{}{}", again.stdout, again.stderr);
    let printed = checked(&again.stdout);
    let last = events.last().unwrap();
    assert_eq!(kinds(&printed), BTreeSet::from(["init", "result"]));
    for field in ["text", "reason", "activation", "turns", "usage", "calls", "success"] {
        assert_eq!(printed[1][field], last[field], "{field}");
    }
    let text = home.run(&["run", "--resume", "s"]);
    assert_eq!((text.status, text.stdout.as_str()), (0, "over\n"), "{}", text.stderr);
    assert!(text.stderr.contains("has ended (done), and this is its result"), "{}", text.stderr);
}

#[test]
fn a_run_that_had_failed_is_resumed_with_its_reason_and_status() {
    let home = Home::new();
    let script = "---\nname: bad\ndescription: d\nscript:\n  - { call: read, args: { filePath: nowhere.txt } }\n---\nx\n";
    home.write("repo/bad.md", script);
    let first = home.run(&["run", "bad.md", "--session", "s", "--output", "json"]);
    let again = home.run(&["run", "--resume", "s", "--output", "json"]);
    let (first_status, second_status) = (first.status, again.status);
    let (first, again) = (first.json().1, again.json().1);
    assert_eq!((first_status, &first["error"]), (second_status, &again["error"]));
    assert!(again["error"]["message"].as_str().unwrap().contains("nowhere.txt"), "{again}");
}

#[test]
fn a_conversation_that_goes_on_shows_its_last_messages() {
    let home = Home::new();
    home.write(
        "repo/echo.md",
        "---\nname: echo\ndescription: d\nscript:\n  - say: \"you said {{task}}\"\n---\nx\n",
    );
    let input: String = (1..=5).map(|number| format!("message {number}\n")).collect();
    let ran = piped(&home, &["chat", "echo.md", "--session", "s"], &input);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let ran = piped(&home, &["chat", "--resume", "s", "--output", "stream-json"], "six\n");
    let events = checked(&ran.stdout);
    let past: Vec<(&str, &str)> = events
        .iter()
        .filter(|event| event["type"] == "past")
        .map(|event| (event["from"].as_str().unwrap(), event["text"].as_str().unwrap()))
        .collect();
    assert_eq!(past.len(), 6, "{}", ran.stdout);
    assert_eq!(past[4..], [("user", "message 5"), ("agent", "you said message 5")]);
    let ran = piped(&home, &["chat", "--resume", "s"], "seven\n");
    assert_eq!(ran.stdout, "you said seven\n", "{}", ran.stderr);
    assert!(ran.stderr.contains("> message 5\nyou said message 5\n> six\nyou said six\n"), "{}", ran.stderr);
}

#[test]
fn where_no_run_begins_the_one_line_has_nobody() {
    let home = Home::new();
    let ran = home.run(&["run", "nothing.md", "--output", "stream-json"]);
    let line: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(schema().is_valid(&line), "{line}");
    assert_eq!((&line["agent"], &line["activation"]), (&Value::Null, &Value::Null), "{line}");
}
