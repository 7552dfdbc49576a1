//! A call that asks something takes effect once, whatever its client answers, repeats or loses.

mod generated;
mod wires;

use super::{Connection, fixtures, meta, text, until};
use crate::load::stretched;
use crate::{Home, project};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// A home where some calls ask, and with two servers whose tool asks midway: `pay` by requests, `later` as 2026-07-28 does.
fn home() -> Home {
    let home = Home::new();
    let script = project().join("crates/toolpost/tests/it/mcp/charging.py").display().to_string();
    let ledger = home.path("ledger").display().to_string();
    home.write("ledger", "");
    home.write("repo/log", "");
    let rule = |action: &str, resource: &str| {
        format!("[[rule]]\neffect = 'ask'\naction = '{action}'\nresource = '{resource}'\n")
    };
    let server = |name: &str, more: &str| {
        format!("[mcpServers.{name}]\ncommand = 'python3'\nargs = ['{script}', '{ledger}'{more}]\n")
    };
    let text = format!(
        "policy = 'privileged'\n{}{}{}{}{}",
        rule("bash", "echo asked*"),
        rule("write", "/asked/**"),
        rule("write", "/gone/**"),
        server("pay", ""),
        server("later", ", 'modern'"),
    );
    home.write(".config/toolpost/config.toml", text);
    home
}

fn lines(home: &Home, file: &str) -> Vec<String> {
    std::fs::read_to_string(home.path(file)).unwrap().lines().map(str::to_owned).collect()
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"answer": "once"}})
}

fn bash(line: &str) -> Value {
    json!({"tool": "bash", "args": {"command": line}})
}

fn charge(id: &str, questions: usize) -> Value {
    json!({"tool": "mcp__pay__charge", "args": {"id": id, "questions": questions}})
}

fn batch(calls: &[Value]) -> Value {
    json!({"name": "batch", "arguments": {"calls": calls}})
}

/// The parameters of a request that stands for itself.
fn modern(call: &Value) -> Value {
    let mut params = call.clone();
    params["_meta"] = meta(json!({"elicitation": {"form": {}}}));
    params
}

/// The same request with the answer of this function to each question.
fn answered(call: &Value, asked: &Value, answer: impl Fn(&str) -> Option<Value>) -> Value {
    let mut params = modern(call);
    let questions = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    let responses = questions
        .iter()
        .filter_map(|(key, request)| Some((key.clone(), answer(request["params"]["message"].as_str()?)?)));
    params["inputResponses"] = responses.collect::<Map<String, Value>>().into();
    params["requestState"] = asked["result"]["requestState"].clone();
    params
}

fn count(asked: &Value) -> usize {
    asked["result"]["inputRequests"].as_object().map_or(0, Map::len)
}

/// All questions of a batch come at once, before any of its calls runs; each call runs once, in both eras.
#[test]
fn a_batch_asks_all_at_once_before_anything_runs() {
    let home = home();
    home.write("repo/gone/f", "x");
    let calls = [
        bash("echo once >> log"),
        json!({"tool": "delete", "args": {"filePath": "gone/f"}}),
        bash("echo asked >> log"),
        json!({"tool": "write", "args": {"filePath": "asked/f", "content": "x"}}),
    ];
    let call = batch(&calls);
    let mut connection = Connection::open(&home, &[]);
    let asked = connection.ask(1, "tools/call", modern(&call));
    assert_eq!(count(&asked), 3, "{asked}");
    assert_eq!(lines(&home, "repo/log"), [""; 0], "nothing has run");
    // An answer to some of them asks for the others again.
    let is_bash = |message: &str| message.contains("echo asked");
    let some = answered(&call, &asked, |message| is_bash(message).then(yes));
    let rest = connection.ask(2, "tools/call", some);
    assert_eq!(count(&rest), 2, "{rest}");
    assert_eq!(lines(&home, "repo/log"), [""; 0], "nothing has run");
    let no =
        |message: &str| Some(if message.contains("gone") { json!({"action": "decline"}) } else { yes() });
    let last = answered(&call, &rest, no);
    let done = connection.ask(3, "tools/call", last.clone());
    assert_eq!(lines(&home, "repo/log"), ["once", "asked"], "{done}");
    assert!(text(&done).contains("the user said no") && home.path("repo/gone/f").exists(), "{done}");
    std::fs::remove_file(home.path("repo/asked/f")).unwrap();
    // The same answer again, and that of the round before, get the same result, and do nothing.
    for (id, params) in [(4, last), (5, answered(&call, &asked, |_| Some(yes())))] {
        let again = connection.ask(id, "tools/call", params);
        assert_eq!(again["result"], done["result"]);
    }
    assert!(!home.path("repo/asked/f").exists());

    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({"elicitation": {}}));
    connection.request(1, "tools/call", call);
    let mut questions: Vec<Value> = (0..3).map(|_| connection.next()).collect();
    assert_eq!(lines(&home, "repo/log").len(), 2, "nothing has run");
    questions.reverse();
    for question in questions {
        assert_eq!(question["method"], "elicitation/create", "{question}");
        for _ in 0..2 {
            connection.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": yes()}));
        }
    }
    let done = connection.next();
    assert!(text(&done).starts_with("## 1. bash: ok") && !home.path("repo/gone/f").exists(), "{done}");
    assert_eq!(lines(&home, "repo/log"), ["once", "asked", "once", "asked"]);
}

/// A tool that asks in its middle is called once, and goes on after each answer.
#[test]
fn a_tool_that_asks_midway_is_called_once() {
    for questions in [1, 3] {
        let home = home();
        let call = batch(&[bash("echo before >> log"), charge("a", questions), bash("echo after >> log")]);
        let mut connection = Connection::open(&home, &[]);
        let mut answer = connection.ask(0, "tools/call", modern(&call));
        for round in 0..questions {
            assert_eq!(lines(&home, "repo/log"), ["before"], "{round}");
            assert_eq!(lines(&home, "ledger"), ["begin a"], "{round}");
            answer = connection.ask(round + 1, "tools/call", answered(&call, &answer, |_| Some(yes())));
        }
        assert!(text(&answer).contains("charged a"), "{answer}");
        assert_eq!(
            (lines(&home, "repo/log"), lines(&home, "ledger")),
            (vec!["before".to_owned(), "after".to_owned()], vec!["begin a".to_owned(), "a".to_owned()],)
        );
    }
}

/// One yes answers one question, also where several calls ask the same.
#[test]
fn one_yes_answers_one_of_several_questions_that_are_the_same() {
    let home = home();
    let ask = json!({"tool": "test_streaming_elicitation", "args": {}});
    let call = batch(&[ask.clone(), ask]);
    let mut connection = Connection::of(home.command_of(&fixtures::program(&home), ["mcp"]));
    let mut asked = connection.ask(1, "tools/call", modern(&call));
    let mut questions = Vec::new();
    while questions.len() < 2 {
        assert_eq!(count(&asked), 1, "{asked}");
        questions.push(asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone());
        let name = format!("N{}", questions.len());
        let answer = json!({"action": "accept", "content": {"name": name}});
        asked = connection.ask(
            questions.len() + 1,
            "tools/call",
            answered(&call, &asked, |_| Some(answer.clone())),
        );
    }
    assert!(text(&asked).contains("Hello, N1!") && text(&asked).contains("Hello, N2!"), "{asked}");
    assert_ne!(questions[0], questions[1]);

    // Two calls that are the same have a state each.
    let call = json!({"name": "bash", "arguments": {"command": "echo asked >> log"}});
    let mut connection = Connection::open(&home, &[]);
    let first = connection.ask(1, "tools/call", modern(&call));
    let second = connection.ask(2, "tools/call", modern(&call));
    for id in [3, 4] {
        let done = connection.ask(id, "tools/call", answered(&call, &first, |_| Some(yes())));
        assert_eq!(done["result"]["isError"], false, "{done}");
        assert_eq!(lines(&home, "repo/log"), ["asked"]);
    }
    let no =
        connection.ask(5, "tools/call", answered(&call, &second, |_| Some(json!({"action": "decline"}))));
    assert!(text(&no).contains("the user said no"), "{no}");
    assert_eq!(lines(&home, "repo/log"), ["asked"]);
}

/// Where the call is not there any more, the answer says what was done, and runs nothing.
#[test]
fn an_answer_to_a_call_that_is_gone_says_what_was_done() {
    let home = home();
    let call = batch(&[bash("echo before >> log"), charge("a", 1), bash("echo after >> log")]);
    let asks_first = batch(&[bash("echo x >> log"), bash("echo asked >> log")]);
    let mut connection = Connection::open(&home, &[]);
    let midway = connection.ask(1, "tools/call", modern(&call));
    let before = connection.ask(2, "tools/call", modern(&asks_first));
    drop(connection);
    let mut connection = Connection::open(&home, &[]);
    let told = connection.ask(1, "tools/call", answered(&call, &midway, |_| Some(yes())));
    assert_eq!(told["result"]["isError"], true, "{told}");
    for part in [
        "Nothing was run again",
        "- `bash` {\"command\":\"echo before >> log\"}: done",
        "- `mcp__pay__charge` {\"id\":\"a\",\"questions\":1}: begun, and its end is not known",
        "- `bash` {\"command\":\"echo after >> log\"}: not done",
    ] {
        assert!(text(&told).contains(part), "{part}: {told}");
    }
    let told = connection.ask(2, "tools/call", answered(&asks_first, &before, |_| Some(yes())));
    assert!(text(&told).contains("- `bash` {\"command\":\"echo x >> log\"}: not done"), "{told}");
    assert_eq!(
        (lines(&home, "repo/log"), lines(&home, "ledger")),
        (vec!["before".to_owned()], vec!["begin a".to_owned()])
    );
    // Without its key, a state is one that nothing is known of.
    std::fs::remove_file(home.path("data/toolpost/mcp-state-key")).unwrap();
    let mut connection = Connection::open(&home, &[]);
    let refused = connection.ask(1, "tools/call", answered(&call, &midway, |_| Some(yes())));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("nothing was run"), "{refused}");
    assert_eq!(lines(&home, "repo/log"), ["before"]);
}

/// A log that does not have the call says nothing of it; a call that another server has is not said to have ended.
#[test]
fn what_is_not_known_of_a_call_is_not_made_up() {
    let home = home();
    let call = json!({"name": "bash", "arguments": {"command": "echo asked >> log"}});
    let mut first = Connection::open(&home, &[]);
    let asked = first.ask(1, "tools/call", modern(&call));
    let mut second = Connection::open(&home, &[]);
    let told = second.ask(1, "tools/call", answered(&call, &asked, |_| Some(yes())));
    assert!(text(&told).contains("may still wait there"), "{told}");
    assert!(text(&told).contains("nothing of it was done so far"), "{told}");
    let done = first.ask(2, "tools/call", answered(&call, &asked, |_| Some(yes())));
    assert_eq!((done["result"]["isError"].as_bool(), lines(&home, "repo/log").len()), (Some(false), 1));
    let mut other = Connection::open(&home, &["--store", "memory"]);
    let told = other.ask(1, "tools/call", answered(&call, &asked, |_| Some(yes())));
    assert!(text(&told).contains("what it did before is not known"), "{told}");
    assert_eq!(lines(&home, "repo/log").len(), 1);
}

/// Questions come in the order of the calls, and say of which call they are. A member that is null counts as left out.
#[test]
fn questions_of_a_batch_come_in_order() {
    let home = home();
    let calls: Vec<Value> = (0..12).map(|number| bash(&format!("echo asked {number} >> log"))).collect();
    let mut params = modern(&batch(&calls));
    params["requestState"] = Value::Null;
    params["inputResponses"] = Value::Null;
    let asked = Connection::open(&home, &[]).ask(1, "tools/call", params);
    let questions = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    let mut keys: Vec<&String> = questions.keys().collect();
    keys.sort();
    for (number, key) in keys.into_iter().enumerate() {
        let message = questions[key]["params"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("echo asked {number} ")), "{number}: {message}");
        assert!(message.contains(&format!("call {} of 12", number + 1)), "{message}");
    }
}

/// An answer whose `requestState` was lost makes no second call: it is refused, and the call goes on with the whole answer.
#[test]
fn an_answer_without_its_state_runs_nothing() {
    let home = home();
    let mut connection = Connection::open(&home, &[]);
    for (number, call) in
        [batch(&[bash("echo before >> log"), charge("a", 1)]), batch(&[bash("echo asked >> log")])]
            .into_iter()
            .enumerate()
    {
        let asked = connection.ask(10 * number, "tools/call", modern(&call));
        let whole = answered(&call, &asked, |_| Some(yes()));
        for (place, state) in [None, Some(Value::Null)].into_iter().enumerate() {
            let mut stray = whole.clone();
            match state {
                Some(state) => stray["requestState"] = state,
                None => _ = stray.as_object_mut().unwrap().remove("requestState"),
            }
            let told = connection.ask(10 * number + place + 1, "tools/call", stray);
            assert_eq!(told["error"]["code"], -32602, "{told}");
            assert!(told["error"]["message"].as_str().unwrap().contains("nothing was run"), "{told}");
        }
        let done = connection.ask(10 * number + 5, "tools/call", whole);
        assert_eq!(done["result"]["isError"], false, "{done}");
    }
    assert_eq!(lines(&home, "repo/log"), ["before", "asked"]);
    assert_eq!(lines(&home, "ledger"), ["begin a", "a"]);
}

/// At most 1,000 calls wait. One more ends the one that has waited longest, and its answer is told so and runs nothing.
#[test]
fn calls_that_wait_are_bounded_in_number() {
    const MOST: usize = 1_000;
    let home = home();
    let mut connection = Connection::open(&home, &[]);
    let call = |number: usize| json!({"name": "write", "arguments": {"filePath": format!("asked/{number}"), "content": "x"}});
    let asked: Vec<Value> =
        (0..=MOST).map(|number| connection.ask(number, "tools/call", modern(&call(number)))).collect();
    assert!(asked.iter().all(|asked| count(asked) == 1), "{:?}", asked.last());
    let told = connection.ask(MOST + 1, "tools/call", answered(&call(0), &asked[0], |_| Some(yes())));
    assert!(text(&told).contains("too many calls were waiting"), "{told}");
    assert!(!home.path("repo/asked/0").exists());
    for number in [1, MOST] {
        let whole = answered(&call(number), &asked[number], |_| Some(yes()));
        let done = connection.ask(MOST + 1 + number, "tools/call", whole);
        assert_eq!(done["result"]["isError"], false, "{done}");
        assert!(home.path(&format!("repo/asked/{number}")).exists());
    }
}

/// A call does not wait for ever, in either era, and its wait does not count against its time.
#[test]
fn a_wait_for_an_answer_is_bounded_and_costs_no_time() {
    let home = home();
    let call = batch(&[bash("echo before >> log"), charge("a", 1)]);
    let start = |variable: &str, value: &str| {
        let mut command = home.command(["mcp"]);
        command.env(variable, value);
        Connection::of(command)
    };
    let mut connection = start("TOOLPOST_ANSWER_WAIT", "500ms");
    let asked = connection.ask(1, "tools/call", modern(&call));
    until("the call is cancelled", || lines(&home, "ledger").contains(&"cancelled".to_owned()));
    let late = connection.ask(2, "tools/call", answered(&call, &asked, |_| Some(yes())));
    assert!(text(&late).contains("its answer did not come in time"), "{late}");
    assert!(text(&late).contains("echo before >> log\"}: done"), "{late}");
    let mut connection =
        start("TOOLPOST_ANSWER_WAIT", "500ms").greeted("2025-11-25", json!({"elicitation": {}}));
    connection.request(
        1,
        "tools/call",
        json!({"name": "bash", "arguments": {"command": "echo asked >> log"}}),
    );
    assert_eq!(connection.next()["method"], "elicitation/create");
    let late = connection.next();
    assert!(text(&late).contains("no answer was given"), "{late}");
    assert_eq!(lines(&home, "repo/log"), ["before"]);

    // Longer than the time of the call; meanwhile others are answered, and change the same files.
    let mut connection = start("TOOLPOST_TIMEOUT", "2s");
    let asked = connection.ask(1, "tools/call", modern(&call));
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(2_500) {
        let other = connection.ask(
            2,
            "tools/call",
            modern(&json!({"name": "read", "arguments": {"filePath": "README.md"}})),
        );
        assert_eq!(other["result"]["isError"], false, "{other}");
        std::thread::sleep(Duration::from_millis(250));
    }
    let done = connection.ask(3, "tools/call", answered(&call, &asked, |_| Some(yes())));
    assert!(text(&done).contains("charged a"), "{done}");
}

/// A client that leaves takes its calls with it.
#[test]
fn calls_that_wait_end_with_their_session() {
    let home = home();
    let call = json!({"name": "mcp__pay__charge", "arguments": {"id": "a", "questions": 1}});
    let mut connection = Connection::open(&home, &[]);
    let asked = connection.ask(1, "tools/call", modern(&call));
    assert_eq!(count(&asked), 1, "{asked}");
    let (took, status, _) = connection.close();
    assert!(took < stretched(Duration::from_millis(1_500)) && status == 0, "{took:?} {status}");
    assert_eq!(lines(&home, "ledger")[0], "begin a");
    assert!(!lines(&home, "ledger").contains(&"a".to_owned()));
}

/// A task that asks is one call too, and is known after the server has ended.
#[test]
fn a_task_that_asks_runs_once() {
    let home = home();
    let call = batch(&[bash("sleep 5.2; echo before >> log"), charge("a", 1)]);
    let follower =
        || meta(json!({"elicitation": {"form": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}}));
    let mut connection = Connection::open(&home, &[]);
    let mut params = call.clone();
    params["_meta"] = follower();
    let task = connection.ask(1, "tools/call", params)["result"]["taskId"].clone();
    let state = |connection: &mut Connection| {
        connection.ask("get", "tasks/get", json!({"taskId": task, "_meta": follower()}))
    };
    let mut asked = Value::Null;
    until("the task asks", || {
        asked = state(&mut connection);
        asked["result"]["status"] == "input_required"
    });
    let questions = asked["result"]["inputRequests"].as_object().unwrap();
    let responses: Map<String, Value> = questions.keys().map(|key| (key.clone(), yes())).collect();
    for id in [2, 3] {
        let params = json!({"taskId": task, "inputResponses": responses, "_meta": follower()});
        connection.ask(id, "tasks/update", params);
    }
    until("the task ends", || state(&mut connection)["result"]["status"] == "completed");
    assert_eq!(
        (lines(&home, "repo/log"), lines(&home, "ledger")),
        (vec!["before".to_owned()], vec!["begin a".to_owned(), "a".to_owned()])
    );
    connection.close();
    let mut connection = Connection::open(&home, &[]);
    let gone = state(&mut connection);
    let said = gone["error"]["message"].as_str().unwrap();
    assert!(said.contains("no task") && said.contains(": done"), "{gone}");
}
