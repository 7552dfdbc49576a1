//! Clients that behave badly, and the end of the server: no crash, no lost answer, no orphan.

use super::{Connection, is_running, text, until};
use crate::Home;
use crate::load::stretched;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

/// The server still does its work.
fn check_alive(connection: &mut Connection) {
    let answer = connection.call("alive", "read", json!({"filePath": "README.md", "limit": 1}));
    assert!(text(&answer).starts_with("1: # fixture"), "{answer}");
}

fn check_refused(garbage: &[u8], code: i64, id: Value) {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    connection.raw(garbage);
    connection.raw(b"\n");
    let answer = connection.next();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
    check_alive(&mut connection);
    assert_eq!(connection.close().1, 0);
}

#[test]
fn garbage_is_answered_and_forgotten() {
    check_refused(b"hello", -32700, Value::Null);
    check_refused(b"{\"jsonrpc\":\"2.0\",", -32700, Value::Null);
    check_refused(b"\xff\xfe\x00\x01", -32700, Value::Null);
    check_refused(b"[1,2,3]", -32600, Value::Null);
    check_refused(br#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, -32600, json!(4));
    check_refused(br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, Value::Null);
    check_refused(br#"{"jsonrpc":"2.0","id":4,"method":"ping","params":"x"}"#, -32602, json!(4));
}

#[test]
fn deep_nesting_is_refused() {
    check_refused("[".repeat(1_000_000).as_bytes(), -32700, Value::Null);
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "1".to_owned() + &"}".repeat(100_000));
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{{"name":"read","arguments":{deep}}}}}"#
    );
    check_refused(call.as_bytes(), -32700, Value::Null);
}

#[test]
fn a_line_of_32_megabytes_is_skipped_and_told() {
    check_refused(&vec![b'x'; 32 << 20], -32600, Value::Null);
    let content = "y".repeat(32 << 20);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "write", "arguments": {"filePath": "big", "content": content}}});
    check_refused(call.to_string().as_bytes(), -32600, Value::Null);
}

#[test]
fn a_large_message_that_is_allowed_is_taken() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    let content = "z".repeat(8 << 20);
    let answer = connection.call(1, "write", json!({"filePath": "big", "content": content}));
    assert_eq!(answer["result"]["isError"], false, "{}", text(&answer));
    assert_eq!(std::fs::metadata(home.path("repo/big")).unwrap().len(), 8 << 20);
}

#[test]
fn answers_to_questions_never_asked_say_nothing() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    connection.send(json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
    connection.send(json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}}));
    let cancelled = json!({"requestId": "nothing runs under this"});
    connection.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
    connection.send(json!({"jsonrpc": "2.0", "method": "notifications/unheard_of"}));
    connection.raw(b"\n\r\n  \n");
    check_alive(&mut connection);
}

#[test]
fn an_id_that_is_in_use_is_refused() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &["--policy", "privileged"], "2025-11-25", json!({}));
    connection.request(
        1,
        "tools/call",
        json!({"name": "bash", "arguments": {"command": "sleep 0.5; echo done"}}),
    );
    connection.request(1, "ping", json!({}));
    assert_eq!(connection.next()["error"]["code"], -32600);
    assert!(text(&connection.next()).contains("done"));
}

#[test]
fn an_idle_server_ends_at_once() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    check_alive(&mut connection);
    let (took, status, talk) = connection.close();
    assert!(took < stretched(Duration::from_millis(100)), "{took:?}");
    assert_eq!((status, talk.as_str()), (0, ""));
    let (took, status, _) = Connection::open(&home, &[]).close();
    assert!(took < stretched(Duration::from_millis(500)) && status == 0, "{took:?}, with its start");
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &["--policy", "privileged"], "2025-11-25", json!({}));
    for id in 0..50 {
        connection.request(id, "tools/call", json!({"name": "read", "arguments": {"filePath": "README.md"}}));
    }
    connection.request(
        50,
        "tools/call",
        json!({"name": "bash", "arguments": {"command": "sleep 0.7; echo late"}}),
    );
    // The last line has no end.
    connection.raw(br#"{"jsonrpc":"2.0","id":51,"method":"ping"}"#);
    drop(connection.stdin.take());
    let mut ids: Vec<u64> = (0..52).map(|_| connection.next()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..52).collect::<Vec<_>>());
    assert_eq!(connection.wait().1, 0);
}

#[test]
fn what_takes_longer_than_two_seconds_is_cancelled_at_the_end() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &["--policy", "privileged"], "2025-11-25", json!({}));
    let command = "echo 8101 > begun; sleep 3600.8101; touch made";
    connection.request(1, "tools/call", json!({"name": "bash", "arguments": {"command": command}}));
    until("the command begins", || is_running("sleep\x003600.8101"));
    drop(connection.stdin.take());
    let (took, status, _) = connection.wait();
    assert!((1_900..4_000).contains(&took.as_millis()) && status == 0, "{took:?} {status}");
    until("the command ends", || !is_running("sleep\x003600.8101"));
}

#[test]
fn a_client_that_leaves_in_the_middle_takes_its_calls_along() {
    let home = Home::new();
    let mut command = home.command(["mcp", "--policy", "privileged"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let meta = super::meta(json!({}));
    let arguments = json!({"command": "sleep 3600.8102"});
    let params = json!({"name": "bash", "arguments": arguments, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    std::io::Write::write_all(&mut stdin, format!("{call}\n").as_bytes()).unwrap();
    until("the command begins", || is_running("sleep\x003600.8102"));
    // It takes no answers any more, and then asks for one.
    drop(child.stdout.take());
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": meta}});
    std::io::Write::write_all(&mut stdin, format!("{ping}\n").as_bytes()).unwrap();
    until("the server ends", || child.try_wait().unwrap().is_some());
    until("the command ends", || !is_running("sleep\x003600.8102"));
}

#[test]
fn a_signal_ends_the_server_and_all_it_runs() {
    for (signal, marker) in [(Signal::TERM, "3600.8103"), (Signal::INT, "3600.8104")] {
        let home = Home::new();
        let mut connection = Connection::legacy(&home, &["--policy", "privileged"], "2025-11-25", json!({}));
        let command = format!("sleep {marker}");
        connection.request(1, "tools/call", json!({"name": "bash", "arguments": {"command": command}}));
        until("the command begins", || is_running(&format!("sleep\0{marker}")));
        connection.signal(signal);
        let (took, status, _) = connection.wait();
        assert!(took < stretched(Duration::from_secs(3)) && status == 0, "{took:?} {status}");
        until("the command ends", || !is_running(&format!("sleep\0{marker}")));
    }
}

#[test]
fn background_commands_live_as_long_as_the_server_and_are_listed_at_its_end() {
    let home = Home::new();
    let flags = ["--policy", "privileged", "--structured"];
    let mut connection = Connection::legacy(&home, &flags, "2025-11-25", json!({}));
    let answer =
        connection.call(1, "bash", json!({"command": "echo hi; sleep 3600.8105", "background": true}));
    let id =
        answer["result"]["structuredContent"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    until("the command begins", || is_running("sleep\x003600.8105"));
    let answer = connection.call(2, "bash_output", json!({"id": id}));
    assert!(text(&answer).contains("hi"), "{answer}");
    let (_, status, talk) = connection.close();
    assert_eq!(status, 0);
    assert!(talk.contains(&format!("{id} is ended with the server: echo hi; sleep 3600.8105")), "{talk}");
    until("the command ends", || !is_running("sleep\x003600.8105"));
}

#[test]
fn a_client_that_does_not_read_loses_nothing() {
    let home = Home::new();
    home.write("repo/long", "a line that is neither short nor long\n".repeat(1_500));
    let mut command = home.command(["mcp"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let stdout = child.stdout.take().unwrap();
    let meta = super::meta(json!({}));
    // Forty megabytes of answers, more than the server holds; it then stops to take requests, so that they are sent
    // from beside.
    let sending = std::thread::spawn(move || {
        for id in 0..700 {
            let params = json!({"name": "read", "arguments": {"filePath": "long"}, "_meta": meta});
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            std::io::Write::write_all(&mut stdin, format!("{call}\n").as_bytes()).unwrap();
        }
    });
    std::thread::sleep(Duration::from_secs(1));
    let lines = std::io::BufRead::lines(std::io::BufReader::new(stdout));
    let answers = lines
        .filter(|line| !serde_json::from_str::<Value>(line.as_ref().unwrap()).unwrap()["result"].is_null());
    assert_eq!(answers.count(), 700);
    sending.join().unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_do_as_input_and_output() {
    let home = Home::new();
    let meta = super::meta(json!({}));
    let call = |id: u64| {
        let params = json!({"name": "read", "arguments": {"filePath": "README.md"}, "_meta": meta});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    };
    home.write("in", (0..5_000).map(call).collect::<String>());
    let mut command = home.command(["mcp"]);
    command.stdin(std::fs::File::open(home.path("in")).unwrap());
    command.stdout(std::fs::File::create(home.path("out")).unwrap());
    assert!(command.status().unwrap().success());
    let answers = std::fs::read_to_string(home.path("out")).unwrap();
    assert_eq!(answers.lines().filter(|line| line.contains("\"isError\":false")).count(), 5_000);
}

#[test]
fn sockets_do_as_input_and_output() {
    use std::io::{BufRead, BufReader, Write};
    let home = Home::new();
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = home.command(["mcp"]);
    command.stdin(std::os::fd::OwnedFd::from(theirs.try_clone().unwrap()));
    command.stdout(std::os::fd::OwnedFd::from(theirs));
    let mut child = command.spawn().unwrap();
    drop(command);
    let params = json!({"_meta": super::meta(json!({}))});
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
    ours.write_all(format!("{list}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(ours.try_clone().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("apply_patch"), "{answer}");
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(child.wait().unwrap().success());
}
