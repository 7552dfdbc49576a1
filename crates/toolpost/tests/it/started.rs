//! A denied call starts nothing: what can be decided without a server is decided before it is started.

use crate::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const USER: &str = ".config/toolpost/config.toml";

/// A trusted workspace whose server `s` leaves a canary behind when it is started.
fn planted(user: &str) -> Home {
    let home = Home::new();
    let canary = home.path("canary").display().to_string();
    let entry = json!({"mcpServers": {"s": {"command": "touch", "args": [canary]}}});
    home.write("repo/.mcp.json", entry.to_string());
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    home.write(USER, user);
    home
}

fn has_started(home: &Home) -> bool {
    home.path("canary").exists()
}

const DENIES_SERVER: &str = "policy = 'privileged'\n[[rule]]\neffect = 'deny'\naction = 'mcp__s'\n";
const DENIES_TOOL: &str = "policy = 'privileged'\n[[rule]]\neffect = 'deny'\naction = 's/x'\n";
const ASKS: &str = "ask = ['exec', 'network']\n";
const ASKS_BY_RULE: &str = "policy = 'privileged'\n[[rule]]\neffect = 'ask'\naction = 'mcp__s__x'\n";

#[test]
fn guarantee_41_a_denied_call_starts_nothing() {
    for (user, args, status) in [
        ("", &["call", "s/x"][..], 3),
        ("", &["call", "mcp__s__x"], 3),
        ("", &["call", "mcp_s_x", "a=1"], 3),
        ("", &["call", "s_x", "--allow", "exec"], 3),
        ("", &["call", "s/x", "--allow-rule", "s/y: *"], 3),
        ("", &["call", "s/x", "--dry-run"], 3),
        ("", &["call", "s/x", "--check"], 3),
        ("", &["call", "batch", "{\"calls\": [{\"tool\": \"s/x\", \"args\": {}}]}"], 0),
        ("policy = 'privileged'\n", &["call", "s/x", "--dry-run"], 1),
        ("policy = 'privileged'\n", &["call", "unknown/x"], 2),
        (DENIES_SERVER, &["call", "s/x"], 3),
        (DENIES_SERVER, &["call", "s/x", "--check"], 3),
        (DENIES_SERVER, &["tools"], 0),
        (DENIES_TOOL, &["call", "mcp__s__x"], 3),
        (DENIES_TOOL, &["call", "s_x", "--yes"], 3),
        (ASKS, &["call", "s/x"], 3),
        (ASKS, &["call", "s/x", "--check"], 0),
        (ASKS_BY_RULE, &["call", "s/x"], 3),
        ("", &["policy", "explain", "s/x"], 0),
        (DENIES_TOOL, &["policy", "explain", "s/x"], 0),
        (ASKS, &["policy", "explain", "s/x"], 0),
        ("", &["tools"], 0),
        ("", &["tools", "show", "s/x"], 2),
        ("", &["packs"], 0),
        ("", &["doctor"], 0),
    ] {
        let home = planted(user);
        let ran = home.run(args);
        assert!(!has_started(&home), "{user} {args:?} started the server");
        assert_eq!(ran.status, status, "{user} {args:?}: {}{}", ran.stdout, ran.stderr);
    }
    // The same planting does start where the call may be made.
    for (user, args) in [
        ("policy = 'privileged'\n", &["call", "s/x"][..]),
        ("", &["call", "s/x", "--allow-rule", "s/x: *"]),
        ("", &["tools", "--allow-rule", "mcp__s: *"]),
        (ASKS, &["call", "s/x", "--yes"]),
        (ASKS_BY_RULE, &["call", "s/x", "--yes"]),
    ] {
        let home = planted(user);
        let ran = home.run(args);
        assert!(has_started(&home), "{user} {args:?}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_server_of_tools_that_nobody_may_call_is_not_started_for_a_client() {
    for user in ["", DENIES_SERVER] {
        let home = planted(user);
        let mut server = home
            .command(["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = server.stdin.take().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut ask = |id: u64, method: &str, params: Value| -> Value {
            writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
                .unwrap();
            loop {
                let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
                if message["id"] == json!(id) {
                    return message;
                }
            }
        };
        let client = json!({"name": "t", "version": "1"});
        ask(
            1,
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        );
        ask(2, "tools/list", json!({}));
        let answer = ask(3, "tools/call", json!({"name": "mcp__s__x", "arguments": {}})).to_string();
        assert!(answer.contains("PERMISSION_DENIED") || answer.contains("not granted"), "{answer}");
        ask(4, "tools/call", json!({"name": "tool_search", "arguments": {"query": "x"}}));
        drop(input);
        assert!(server.wait().unwrap().success());
        assert!(!has_started(&home), "{user}");
    }
}

#[test]
fn who_agrees_before_the_start_is_not_asked_again() {
    let home = Home::new();
    let script = crate::project().join("crates/toolpost-plugins/tests/data/server.py");
    let text = format!(
        "{ASKS}[mcpServers.py]\ncommand = 'python3'\nargs = ['{}', 'good']\nhints = 'ignored'\n",
        script.display()
    );
    home.write(USER, text);
    let mut is_answered = false;
    let (status, talk) =
        crate::terminal::talking_on_a_terminal(home.command(["call", "py/echo", "said=hello"]), |seen| {
            (seen.contains("your answer:")
                && !std::mem::replace(&mut is_answered, seen.contains("your answer:")))
            .then(|| "y\n".to_owned())
        });
    assert_eq!(status, 0, "{talk}");
    assert_eq!(talk.matches("your answer:").count(), 1, "{talk}");
    assert!(talk.contains("a yes starts it") && talk.contains("hello"), "{talk}");
}

#[test]
fn policy_explain_and_check_show_no_secret() {
    let home = Home::new();
    let secret = "hunter2-very-secret";
    for args in [
        &["policy", "explain", "bash", "command=curl hunter2-very-secret"][..],
        &["policy", "explain", "bash: curl hunter2-very-secret"],
        &["policy", "explain", "bash", "command=curl hunter2-very-secret", "--json"],
        &["policy", "explain", "no-hunter2-very-secret"],
        &["call", "read", "filePath=hunter2-very-secret", "--check"],
        &["call", "read", "filePath=hunter2-very-secret", "--check", "--json"],
        &["call", "bash", "command=curl hunter2-very-secret", "--check"],
    ] {
        let output = home.command(args).env("API_TOKEN", secret).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(!said.is_empty() && !said.contains(secret), "{args:?}: {said}");
    }
}
