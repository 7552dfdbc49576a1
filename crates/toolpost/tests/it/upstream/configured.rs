//! Servers that the configuration describes, as people use them: by the executable alone.

use super::TOOLPOST;
use crate::load::stretched;
use crate::mcp::Connection;
use crate::{Home, project};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

const USER: &str = ".config/toolpost/config.toml";

fn echo() -> String {
    project().join("crates/toolpost-plugins/tests/data/server.py").display().to_string()
}

/// A program that says so on its own, a toolpost of another folder, and one that does not start.
fn configured(home: &Home) {
    home.write("other/b.txt", "from the other folder\n");
    let text = format!(
        "[mcpServers.py]\ncommand = 'python3'\nargs = ['{}', 'good']\n\
         [mcpServers.other]\ncommand = '{TOOLPOST}'\nargs = ['mcp', '--workspace', '{}']\n\
         [mcpServers.bad]\ncommand = 'sh'\nargs = ['-c', 'echo no luck >&2; exit 3']\n",
        echo(),
        home.path("other").display()
    );
    home.write(USER, text);
}

/// Unwanted tools are named by their own names, by those under which they are offered, and by patterns. A name that is nearly
/// that of a tool costs the server.
#[test]
fn guarantee_45_a_misspelt_name_of_an_unwanted_tool_is_no_permission() {
    for (unwanted, expected) in [
        ("echo", "TOOL_NOT_FOUND"),
        ("ech*", "TOOL_NOT_FOUND"),
        ("mcp__py__echo", "TOOL_NOT_FOUND"),
        ("py/echo", "TOOL_NOT_FOUND"),
        (" echo ", "TOOL_NOT_FOUND"),
        ("Echo", "did you mean `echo`"),
        ("ehco", "did you mean `echo`"),
        ("py/ecco", "did you mean `echo`"),
        ("echo, other", "write one name in each text"),
        ("^echo$", "write one name in each text"),
        ("echo(*)", "write one name in each text"),
        ("unlike_any", "hello"),
    ] {
        let home = Home::new();
        let text = format!(
            "[mcpServers.py]\ncommand = 'python3'\nargs = ['{}', 'good']\nexcludeTools = ['{unwanted}']\n",
            echo()
        );
        home.write(USER, text);
        let ran = home.run(&["call", "py/echo", "said=hello", "--json"]);
        assert!(ran.stdout.contains(expected), "{unwanted}: {} {}", ran.stdout, ran.stderr);
    }
}

#[test]
fn tools_of_configured_servers_are_listed_called_and_refused() {
    let home = Home::new();
    configured(&home);
    let ran = home.run(&["tools"]);
    for name in ["read ", "mcp__py__echo", "mcp__other__read"] {
        assert!(ran.stdout.contains(name), "{name}: {}", ran.stdout);
    }
    assert!(ran.stderr.contains("`bad`") && ran.stderr.contains("no luck"), "{}", ran.stderr);
    assert!(ran.stderr.contains("not offered under this policy: mcp__other__write"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("mcp__other__batch"), "what calls others may change something");
    for name in ["py/echo", "mcp__py__echo", "mcp_py_echo", "py_echo"] {
        let ran = home.run(&["call", name, "said=hello"]);
        assert_eq!((ran.status, ran.stdout.trim()), (0, "hello"), "{name}: {}", ran.stderr);
    }
    let ran = home.run(&["call", "other/read", "filePath=b.txt"]);
    assert_eq!(ran.stdout.trim(), "1: from the other folder", "{}", ran.stderr);
    assert_eq!(home.run(&["call", "other/write", "filePath=c.txt", "content=x"]).status, 3);
    let ran = home.run(&["call", "other/write", "filePath=c.txt", "content=x", "--policy", "privileged"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(home.path("other/c.txt").exists());
    let ran = home.run(&["call", "bad/x"]);
    assert!(ran.status == 1 && ran.stderr.contains("no luck"), "{}", ran.stderr);
    // Nobody waits for servers who does not need them, or is left with them.
    assert_eq!(home.run(&["call", "read", "filePath=README.md"]).status, 0);
    // Their keepers end them, in their own time, once this process has gone.
    crate::mcp::until("no server is left", || !crate::mcp::is_running(home.path("").to_str().unwrap()));
}

#[test]
fn what_a_server_says_of_its_tools_counts_where_the_user_chose_it() {
    let home = Home::new();
    let entry =
        |more: &str| format!("[mcpServers.py]\ncommand = 'python3'\nargs = ['{}', 'good']\n{more}", echo());
    home.write(USER, entry("hints = 'ignored'\n"));
    assert_eq!(home.run(&["call", "py/echo", "said=a"]).status, 3);
    home.write(USER, entry("hints = 'believed'\n"));
    assert_eq!(home.run(&["call", "py/echo", "said=a"]).status, 0);
    home.write(USER, entry("hints = 'maybe'\n"));
    let page = home.run(&["doctor"]).stdout;
    assert!(page.contains("its `hints` are `maybe`; write `believed` or `ignored`"), "{page}");
    // A workspace cannot say it, also once its file is trusted.
    home.write(USER, "");
    home.write("repo/.toolpost/config.toml", entry("hints = 'believed'\n"));
    let ran = home.run(&["call", "py/echo", "said=a"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("1 MCP server waits until you trust them"),
        "{}",
        ran.stderr
    );
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    assert_eq!(home.run(&["call", "py/echo", "said=a"]).status, 3);
    let ran = home.run(&["call", "py/echo", "said=a", "--allow-rule", "py/echo: *"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "a"), "{}", ran.stderr);
}

#[test]
fn a_toolpost_that_names_itself_starts_itself_once() {
    let home = Home::new();
    home.write(USER, format!("[mcpServers.me]\ncommand = '{TOOLPOST}'\nargs = ['mcp']\n"));
    let ran = home.run(&["tools"]);
    assert!(ran.stdout.contains("mcp__me__read") && !ran.stdout.contains("mcp__me__mcp"), "{}", ran.stdout);
}

#[test]
fn clients_of_ours_are_offered_the_tools_of_servers() {
    let home = Home::new();
    configured(&home);
    let mut server = home
        .command(["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut send = |message: Value| writeln!(input, "{message}").unwrap();
    let mut answer = |id: u64| -> Value {
        loop {
            let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if message["id"] == json!(id) {
                return message["result"].clone();
            }
        }
    };
    send(
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
                "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
    );
    answer(1);
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let call = json!({"name": "mcp__py__echo", "arguments": {"said": "through two"}});
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}));
    assert_eq!(answer(2)["content"][0]["text"], "through two");
    send(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}));
    let list = answer(3)["tools"].to_string();
    assert!(list.contains("\"mcp__py__echo\"") && list.contains("\"read\""), "{list}");
    drop(input);
    assert!(server.wait().unwrap().success());
    // Their keepers end them, in their own time, once this process has gone.
    crate::mcp::until("no server is left", || !crate::mcp::is_running(home.path("").to_str().unwrap()));
}

/// Starts `toolpost mcp`, greets it, and asks these methods one after another. How long the greeting took, and the answers.
fn greeted(home: &Home, methods: &[&str]) -> (Duration, Vec<Value>) {
    let began = Instant::now();
    let mut child = home
        .command_of(std::path::Path::new(TOOLPOST), vec!["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: usize, method: &str, params: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(child.stdin.as_mut().unwrap(), "{request}").unwrap();
        lines
            .by_ref()
            .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
            .find(|message| message["id"] == id)
            .unwrap()
    };
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let mut answers = vec![ask(0, "initialize", hello)];
    let took = began.elapsed();
    for (number, method) in methods.iter().enumerate() {
        answers.push(ask(number + 1, method, json!({})));
    }
    drop(child.stdin.take());
    child.wait().unwrap();
    (took, answers)
}

fn instructions(answers: &[Value]) -> &str {
    answers[0]["result"]["instructions"].as_str().unwrap()
}

#[test]
fn what_a_server_wants_a_model_to_know_is_told_once_it_is_known() {
    let home = Home::new();
    let state = home.path("state");
    let text = format!(
        "listWait = '600s'\n[mcpServers.py]\ncommand = 'python3'\nargs = ['{}', 'changes', '{}']\n",
        echo(),
        state.display()
    );
    home.write(USER, text);
    // The greeting waits for no server; the first list does.
    let (_, first) = greeted(&home, &["tools/list"]);
    assert!(!instructions(&first).contains("mcp__py__"), "{}", instructions(&first));
    let (_, second) = greeted(&home, &["tools/list"]);
    let told = instructions(&second);
    assert!(told.contains("mcp__py__* says of them: Say hello first."), "{told}");
}

#[test]
fn a_greeting_waits_for_no_server_whatever_it_does() {
    for mode in ["never-answers", "dies-at-start", "noise-then-dies", "silent-at-new-words"] {
        let home = Home::new();
        let text = format!(
            "listWait = '600s'\n[mcpServers.py]\ncommand = 'python3'\nargs = ['{}', '{mode}']\n",
            echo()
        );
        home.write(USER, text);
        // The wait would be ten minutes, or the time of the server's start.
        let (took, answers) = greeted(&home, &["ping"]);
        assert!(took < stretched(Duration::from_secs(2)), "{mode}: {took:?}");
        assert_eq!(answers[1]["result"], json!({}), "{mode}");
    }
}

#[test]
fn a_list_keeps_what_it_has_shown_when_others_arrive_later() {
    let home = Home::new();
    // The first of the two is more important, comes later, and takes all the room that there is.
    let text = format!(
        "listWait = '1ms'\nlisted = '1 tools'\n[mcpServers.a]\ncommand = 'python3'\nargs = ['{0}', 'slow-list', '1.5']\n\
         [mcpServers.b]\ncommand = 'python3'\nargs = ['{0}', 'good']\n",
        echo()
    );
    home.write(USER, text);
    let mut connection = Connection::legacy(&home, &[], "2024-11-05", json!({}));
    let mut number = 0;
    let mut ask = |method: &str, params: Value| -> Value {
        number += 1;
        connection.ask_among_notices(number, method, params)
    };
    let has = |list: &Value, name: &str| list["result"]["tools"].to_string().contains(name);
    let began = Instant::now();
    while !has(&ask("tools/list", json!({})), "\"mcp__b__echo\"") {
        assert!(began.elapsed() < stretched(Duration::from_secs(20)), "the quick server is listed");
        std::thread::sleep(Duration::from_millis(20));
    }
    // A call waits until the server of its tool is there.
    let called = ask("tools/call", json!({"name": "mcp__a__echo", "arguments": {"said": "late"}}));
    assert_eq!(called["result"]["content"][0]["text"], "late", "{called}");
    let list = ask("tools/list", json!({}));
    assert!(has(&list, "\"mcp__b__echo\"") && !has(&list, "\"mcp__a__echo\""), "{list}");
    // Who has seen nothing yet sees the more important one.
    let (_, answers) = greeted(&home, &["tools/list"]);
    assert!(has(&answers[1], "\"mcp__a__echo\"") && !has(&answers[1], "\"mcp__b__echo\""), "{}", answers[1]);
}
