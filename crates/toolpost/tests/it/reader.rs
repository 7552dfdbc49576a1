//! Forty tasks for a reader that sees only the list of tools: which tool it picks, and with which arguments.
//!
//! `TOOLPOST_READER=answers.json cargo test -p toolpost --test it reader -- --nocapture` judges the answers of a reader:
//! `{"claude": [{"id": 1, "tool": "Read", "arguments": {…}}, …], …}`, a list for each dialect that it has read. The file
//! that is printed by `TOOLPOST_READER_LIST=claude` is what the reader is to see.

use crate::Home;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const DIALECTS: [&str; 5] = ["toolpost", "long", "claude", "gemini", "codex"];

/// How many of the forty a reader has to get right in each dialect.
const ENOUGH: usize = 38;

fn tasks() -> Vec<Value> {
    serde_json::from_str(include_str!("reader/tasks.json")).unwrap()
}

/// The schemas of the arguments by the names of the tools that a dialect offers.
fn offered(dialect: &str) -> BTreeMap<String, Value> {
    let home = Home::new();
    let (_, listed) = home.json(&["tools", "--policy", "privileged", "--dialect", dialect]);
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["inputSchema"].clone())).collect()
}

/// Why an answer to a task is wrong; nothing if it is right.
fn judge(task: &Value, dialect: &str, tools: &BTreeMap<String, Value>, answer: &Value) -> Result<(), String> {
    let name = answer["tool"].as_str().unwrap_or_default();
    let none = json!({});
    let arguments = answer.get("arguments").unwrap_or(&none);
    let schema = tools.get(name).ok_or_else(|| format!("there is no tool `{name}`"))?;
    let validator = jsonschema::validator_for(schema).unwrap();
    if let Some(error) = validator.iter_errors(arguments).next() {
        return Err(format!("`{}`: {error}", error.instance_path()));
    }
    let given = arguments.as_object().unwrap();
    let mut reasons = Vec::new();
    for expected in task["expected"][dialect].as_array().unwrap() {
        if expected["tool"] != name {
            reasons.push(format!("expected {}", expected["tool"]));
            continue;
        }
        match differs(expected["args"].as_object().unwrap(), given, schema) {
            None => return Ok(()),
            Some(why) => reasons.push(why),
        }
    }
    Err(reasons.join("; or "))
}

/// How the arguments differ from those expected. An argument that nobody asked for may have its default, and the purpose
/// of a command may always be given.
fn differs(expected: &Map<String, Value>, given: &Map<String, Value>, schema: &Value) -> Option<String> {
    for (name, wanted) in expected {
        if !fits(wanted, given.get(name)) {
            return Some(format!("`{name}` should be {wanted}, is {:?}", given.get(name)));
        }
    }
    let further = given.iter().filter(|(name, _)| !expected.contains_key(*name));
    for (name, value) in further {
        if name != "description" && schema["properties"][name].get("default") != Some(value) {
            return Some(format!("`{name}` was not asked for: {value}"));
        }
    }
    None
}

/// Whether a value is the one wanted: itself, or what an object with one of the keys `$any`, `$maybe`, `$path`, `$re`, `$min`, `$len` says.
fn fits(wanted: &Value, given: Option<&Value>) -> bool {
    let Some(rule) = wanted.as_object().filter(|rule| rule.keys().any(|key| key.starts_with('$'))) else {
        return given == Some(wanted);
    };
    let text = given.and_then(Value::as_str);
    rule.iter().all(|(key, value)| match key.as_str() {
        "$any" => value.as_array().unwrap().iter().any(|one| given == Some(one)),
        "$maybe" => given.is_none_or(|given| fits(value, Some(given))),
        "$path" => {
            let path = value.as_str().unwrap();
            let is_root = path == "." && text.is_some_and(|text| text.is_empty() || text.starts_with('/'));
            text.is_some_and(|text| {
                let text = text.trim_start_matches("./").trim_end_matches('/');
                text == path || text.starts_with('/') && text.ends_with(&format!("/{path}")) || is_root
            })
        }
        "$re" => {
            let pattern = jsonschema::validator_for(&json!({"type": "string", "pattern": value})).unwrap();
            given.is_some_and(|given| pattern.is_valid(given))
        }
        "$min" => given.and_then(Value::as_u64) >= value.as_u64(),
        "$len" => given.and_then(Value::as_array).map(|items| items.len() as u64) == value.as_u64(),
        "$each" => given.and_then(Value::as_array).is_some_and(|items| {
            items.iter().all(|item| {
                value.as_object().unwrap().iter().all(|(name, wanted)| fits(wanted, item.get(name)))
            })
        }),
        other => panic!("`{other}` says nothing about a value"),
    })
}

#[test]
fn every_expected_answer_can_be_given() {
    let tasks = tasks();
    assert_eq!(tasks.len(), 40);
    for dialect in DIALECTS {
        let tools = offered(dialect);
        for task in &tasks {
            for expected in task["expected"][dialect].as_array().unwrap() {
                let name = expected["tool"].as_str().unwrap();
                let place = format!("{dialect}, task {}: {name}", task["id"]);
                let schema = tools.get(name).unwrap_or_else(|| panic!("{place} is not offered"));
                for argument in expected["args"].as_object().unwrap().keys() {
                    assert!(schema["properties"].get(argument).is_some(), "{place} has no `{argument}`");
                }
            }
        }
    }
}

#[test]
fn right_and_wrong_answers_are_told_apart() {
    let tasks = tasks();
    let tools = offered("claude");
    let check = |id: usize, tool: &str, arguments: Value, is_right: bool| {
        let answer = json!({"tool": tool, "arguments": arguments});
        let verdict = judge(&tasks[id - 1], "claude", &tools, &answer);
        assert_eq!(verdict.is_ok(), is_right, "{id}: {answer} {verdict:?}");
    };
    check(1, "Read", json!({"file_path": "src/server.ts"}), true);
    check(1, "Read", json!({"file_path": "/home/me/src/server.ts", "offset": 1}), true);
    check(1, "Read", json!({"file_path": "server.ts"}), false);
    check(1, "Read", json!({"filePath": "src/server.ts"}), false);
    check(1, "read", json!({"filePath": "src/server.ts"}), false);
    check(2, "Read", json!({"file_path": "src/server.ts", "offset": 200, "limit": 51}), true);
    check(2, "Read", json!({"file_path": "src/server.ts", "offset": 199, "limit": 51}), false);
    check(2, "Read", json!({"file_path": "src/server.ts", "offset": "200", "limit": 51}), false);
    check(7, "Write", json!({"file_path": "notes.txt", "content": "hello\n"}), true);
    check(7, "Write", json!({"file_path": "notes.txt", "content": "Hello\n"}), false);
    check(14, "LS", json!({}), true);
    check(14, "LS", json!({"path": "src"}), false);
    check(31, "Bash", json!({"command": "npm test", "description": "Runs the tests"}), true);
    check(31, "Bash", json!({"command": "npm test", "run_in_background": true}), false);
    let read = |name: &str| json!({"tool": "Read", "args": {"file_path": name}});
    check(38, "batch", json!({"calls": [read("a.txt"), read("b.txt"), read("c.txt")]}), true);
    check(38, "batch", json!({"calls": [read("a.txt"), read("b.txt")]}), false);
}

#[test]
fn a_reader_picks_the_right_tool() {
    if let Some(dialect) = std::env::var_os("TOOLPOST_READER_LIST") {
        let home = Home::new();
        let dialect = dialect.to_str().unwrap();
        let (_, listed) = home.json(&["tools", "--policy", "privileged", "--dialect", dialect]);
        let shown = listed["tools"].as_array().unwrap().iter().map(|tool| {
            json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
        });
        println!("{}", Value::from_iter(shown));
        tasks().iter().for_each(|task| println!("{}. {}", task["id"], task["task"].as_str().unwrap()));
    }
    let Some(file) = std::env::var_os("TOOLPOST_READER") else { return };
    let answers: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let tasks = tasks();
    for (dialect, answers) in answers.as_object().unwrap() {
        let tools = offered(dialect);
        let mut right = 0;
        for task in &tasks {
            let answer = answers.as_array().unwrap().iter().find(|answer| answer["id"] == task["id"]);
            match judge(task, dialect, &tools, answer.unwrap_or(&Value::Null)) {
                Ok(()) => right += 1,
                Err(why) => println!("{dialect} {}: {}\n  {answer:?}\n  {why}", task["id"], task["task"]),
            }
        }
        println!("{dialect}: {right} of {} right", tasks.len());
        assert!(right >= ENOUGH, "{dialect}: {right}");
    }
}
