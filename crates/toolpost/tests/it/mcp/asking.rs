//! What the policy asks about: a form before the call goes on, or before it is made again.

use super::{Connection, meta, text};
use crate::Home;
use serde_json::{Value, json};

/// A file that something else will run later: writing it asks.
const ARGUMENTS: fn() -> Value = || json!({"filePath": ".mcp.json", "content": "{}"});

fn check_legacy(answer: Value, is_written: bool, said: &str) {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({"elicitation": {}}));
    connection.request(1, "tools/call", json!({"name": "write", "arguments": ARGUMENTS()}));
    let question = connection.next();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert!(question["params"]["message"].as_str().unwrap().contains(".mcp.json"), "{question}");
    assert_eq!(question["params"]["requestedSchema"]["required"], json!(["answer"]));
    connection.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    let result = connection.next();
    assert!(text(&result).contains(said), "{result}");
    assert_eq!(result["result"]["isError"], !is_written, "{result}");
    assert_eq!(home.path("repo/.mcp.json").exists(), is_written);
}

#[test]
fn a_legacy_client_is_asked_by_a_form() {
    check_legacy(json!({"action": "accept", "content": {"answer": "once"}}), true, "");
    check_legacy(json!({"action": "decline"}), false, "the user said no");
    check_legacy(
        json!({"action": "accept", "content": {"answer": "no", "reason": "not today"}}),
        false,
        "not today",
    );
    check_legacy(json!({"action": "cancel"}), false, "no answer was given");
    check_legacy(json!("nonsense"), false, "no answer was given");
}

#[test]
fn an_answer_for_the_session_is_remembered_in_it() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-06-18", json!({"elicitation": {}}));
    connection.request(1, "tools/call", json!({"name": "write", "arguments": ARGUMENTS()}));
    let question = connection.next();
    let words = &question["params"]["requestedSchema"]["properties"]["answer"]["enum"];
    assert!(words.as_array().unwrap().contains(&json!("session")), "{question}");
    let answer = json!({"action": "accept", "content": {"answer": "session"}});
    connection.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    assert_eq!(connection.next()["result"]["isError"], false);
    let again = json!({"filePath": ".mcp.json", "content": "{ }"});
    assert_eq!(connection.call(2, "write", again)["result"]["isError"], false);
    let mut other = Connection::legacy(&home, &[], "2025-06-18", json!({}));
    assert_eq!(other.call(1, "write", ARGUMENTS())["result"]["isError"], true);
}

#[test]
fn who_cannot_be_asked_is_told_what_would_allow_it() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    let answer = connection.call(1, "write", ARGUMENTS());
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).contains("no person can be asked"), "{answer}");
    let params = json!({"name": "write", "arguments": ARGUMENTS(), "_meta": meta(json!({"elicitation": {"url": {}}}))});
    let answer = connection.ask(2, "tools/call", params);
    assert!(text(&answer).contains("no person can be asked"), "{answer}");
    assert!(!home.path("repo/.mcp.json").exists());
}

#[test]
fn a_question_that_is_cancelled_is_answered_by_nobody() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({"elicitation": {}}));
    connection.request(1, "tools/call", json!({"name": "write", "arguments": ARGUMENTS()}));
    let question = connection.next();
    let cancelled = json!({"requestId": 1});
    connection.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
    let answer = json!({"action": "accept", "content": {"answer": "once"}});
    connection.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    connection.silence(std::time::Duration::from_millis(300));
    assert!(!home.path("repo/.mcp.json").exists());
}

struct Modern {
    home: Home,
    connection: Connection,
    key: String,
    state: Value,
}

/// A modern client that was told what is asked.
fn modern() -> Modern {
    let home = Home::new();
    let mut connection = Connection::open(&home, &[]);
    let params = json!({"name": "write", "arguments": ARGUMENTS(), "_meta": meta(json!({"elicitation": {"form": {}}}))});
    let answer = connection.ask(1, "tools/call", params);
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert!(!home.path("repo/.mcp.json").exists());
    let requests = answer["result"]["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!((requests.len(), &request["method"]), (1, &json!("elicitation/create")));
    let (key, state) = (key.clone(), answer["result"]["requestState"].clone());
    Modern { home, connection, key, state }
}

impl Modern {
    fn again(&mut self, arguments: Value, response: Value, state: Option<&Value>) -> Value {
        let mut params = json!({
            "name": "write", "arguments": arguments, "_meta": meta(json!({"elicitation": {"form": {}}})),
            "inputResponses": {&self.key: response},
        });
        if let Some(state) = state {
            params["requestState"] = state.clone();
        }
        self.connection.ask("again", "tools/call", params)
    }

    fn is_written(&self) -> bool {
        self.home.path("repo/.mcp.json").exists()
    }
}

#[test]
fn a_modern_client_makes_the_call_again_with_the_answer() {
    let yes = || json!({"action": "accept", "content": {"answer": "once"}});
    let mut client = modern();
    let state = client.state.clone();
    let answer = client.again(ARGUMENTS(), yes(), Some(&state));
    assert_eq!(
        (&answer["result"]["resultType"], &answer["result"]["isError"]),
        (&json!("complete"), &json!(false)),
        "{answer}"
    );
    assert!(client.is_written());
    // A yes for once is for once: sent again, it gets the same result, and nothing is written.
    std::fs::remove_file(client.home.path("repo/.mcp.json")).unwrap();
    let again = client.again(ARGUMENTS(), yes(), Some(&state));
    assert_eq!(again["result"], answer["result"]);
    assert!(!client.is_written());

    let mut client = modern();
    let state = client.state.clone();
    let answer = client.again(ARGUMENTS(), json!({"action": "decline"}), Some(&state));
    assert!(text(&answer).contains("the user said no") && !client.is_written(), "{answer}");
}

#[test]
fn an_answer_counts_for_its_own_question_only() {
    let yes = || json!({"action": "accept", "content": {"answer": "once"}});
    // Without the state, it is the answer of no call.
    let mut client = modern();
    let answer = client.again(ARGUMENTS(), yes(), None);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(!client.is_written());
    // Other arguments are another call.
    let mut client = modern();
    let state = client.state.clone();
    let other = json!({"filePath": ".mcp.json", "content": "{\"evil\":1}"});
    assert_eq!(client.again(other, yes(), Some(&state))["error"]["code"], -32602);
    assert!(!client.is_written());
    // A state that was touched is none, nor is one of another server.
    let mut client = modern();
    let touched = json!(format!("{}x", client.state.as_str().unwrap()));
    assert_eq!(client.again(ARGUMENTS(), yes(), Some(&touched))["error"]["code"], -32602);
    let foreign = modern().state.clone();
    assert_eq!(client.again(ARGUMENTS(), yes(), Some(&foreign))["error"]["code"], -32602);
    // What is no answer is asked for again.
    let state = client.state.clone();
    let answer = client.again(ARGUMENTS(), json!({"action": "maybe"}), Some(&state));
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert!(!client.is_written());
}

/// Each call of a batch is asked about for itself, also where the questions read alike, and its form shows what it does.
#[test]
fn an_answer_counts_for_one_call_of_a_batch() {
    let write =
        |content: &str| json!({"tool": "write", "args": {"filePath": ".mcp.json", "content": content}});
    let bash = |args: Value| json!({"tool": "bash", "args": args});
    for (calls, shown) in [
        ([write("NICE"), write("EVIL")], ["NICE", "EVIL"]),
        ([write("SAME"), write("SAME")], ["SAME", "SAME"]),
        (
            [
                bash(json!({"command": "echo NICE > .mcp.json"})),
                bash(json!({"command": "echo EVIL > .mcp.json"})),
            ],
            ["command: echo NICE > .mcp.json", "command: echo EVIL > .mcp.json"],
        ),
        (
            [
                bash(json!({"command": "cat > .mcp.json", "stdin": "1"})),
                bash(json!({"command": "cat > .mcp.json", "stdin": "evil"})),
            ],
            ["input: 1 bytes", "input: 4 bytes"],
        ),
        (
            [
                bash(json!({"command": "echo x > .mcp.json"})),
                bash(json!({"command": "echo x > ../.mcp.json", "workdir": "src"})),
            ],
            ["repo\nsandbox: strict", "repo/src\nsandbox: strict"],
        ),
    ] {
        let home = Home::new();
        let mut connection = Connection::open(&home, &["--allow", "exec"]);
        let mut forms: Vec<String> = Vec::new();
        let mut more = json!({});
        let last = loop {
            let mut params = json!({
                "name": "batch", "arguments": {"calls": calls}, "_meta": meta(json!({"elicitation": {"form": {}}})),
            });
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let answer = connection.ask(format!("call {}", forms.len()), "tools/call", params);
            if answer["result"]["resultType"] != "input_required" {
                break answer;
            }
            let mut responses = serde_json::Map::new();
            for (key, request) in answer["result"]["inputRequests"].as_object().unwrap() {
                forms.push(request["params"]["message"].as_str().unwrap().to_owned());
                // The first form is agreed to, and no other.
                let word = if forms.len() == 1 { "once" } else { "no" };
                responses.insert(key.clone(), json!({"action": "accept", "content": {"answer": word}}));
            }
            more = json!({"requestState": answer["result"]["requestState"], "inputResponses": responses});
        };
        assert_eq!(forms.len(), 2, "{calls:?}: {forms:?}");
        for part in shown {
            assert!(forms.iter().any(|form| form.contains(part)), "{part}: {forms:?}");
        }
        assert!(text(&last).contains("the user said no"), "{last}");
    }
}
