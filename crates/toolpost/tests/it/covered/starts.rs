//! What is compared, when, and for whom: formats, variables, formatters, the moment of the start.

use super::{OTHER, SCRIPT, put, runs, state};
use crate::Home;
use serde_json::{Value, json};

#[test]
fn what_is_trusted_runs_and_what_it_imports_is_not_covered() {
    let home = Home::new();
    put(&home, "x.sh", "touch CANARY\n. ./imported.sh\nexit 1\n");
    put(&home, "imported.sh", ":\n");
    home.write("repo/.mcp.json", r#"{"mcpServers": {"s": {"command": "sh", "args": ["x.sh"]}}}"#);
    assert!(!runs(&home));
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    assert!(runs(&home));
    put(&home, "imported.sh", ": changed\n");
    assert_eq!(state(&home).0, "trusted");
    put(&home, "README.md", "another text\n");
    assert!(runs(&home), "a file that is not on the command line changes nothing");
    assert_eq!(home.run(&["trust", "--revoke"]).status, 0);
    assert!(!runs(&home));
}

#[test]
fn every_format_and_the_users_own_configuration_are_covered() {
    let codex = "[mcp_servers.s]\ncommand = 'sh'\nargs = ['x.sh']\n";
    let own = "[mcpServers.s]\ncommand = 'sh'\nargs = ['x.sh']\n";
    let json =
        |table: &str| format!("{{\"{table}\": {{\"s\": {{\"command\": \"sh\", \"args\": [\"x.sh\"]}}}}}}");
    let opencode = r#"{"mcp": {"s": {"type": "local", "command": ["sh", "x.sh"]}}}"#.to_owned();
    for (file, text, from) in [
        (".toolpost/config.toml", own.to_owned(), ""),
        (".cursor/mcp.json", json("mcpServers"), "cursor"),
        (".vscode/mcp.json", json("servers"), "vscode"),
        (".gemini/settings.json", json("mcpServers"), "gemini"),
        (".codex/config.toml", codex.to_owned(), "codex"),
        ("opencode.json", opencode, "opencode"),
        ("HOME", own.to_owned(), ""),
    ] {
        let home = Home::new();
        put(&home, "x.sh", SCRIPT);
        match file {
            "HOME" => home.write(".config/toolpost/config.toml", text),
            file => home.write(&format!("repo/{file}"), text),
        }
        if !from.is_empty() {
            home.write(".config/toolpost/config.toml", format!("mcpFrom = ['{from}']\n"));
        }
        assert!(!runs(&home), "{file}");
        assert_eq!(home.run(&["trust", "--yes"]).status, 0, "{file}");
        assert!(runs(&home), "{file}: {:?}", state(&home));
        put(&home, "x.sh", OTHER);
        assert!(!runs(&home), "{file}");
        let (now, why) = state(&home);
        assert!(now == "untrusted" && why.contains("`x.sh`"), "{file}: {now} {why}");
    }
}

#[test]
fn files_of_variables_are_covered() {
    for (file, text, from) in [
        (
            ".vscode/mcp.json",
            r#"{"servers": {"s": {"command": "sh", "args": ["-c", ":"], "envFile": "${workspaceFolder}/vars"}}}"#,
            "vscode",
        ),
        (
            "opencode.json",
            r#"{"mcp": {"s": {"type": "local", "command": ["sh", "-c", "{file:vars}"]}}}"#,
            "opencode",
        ),
    ] {
        let home = Home::new();
        put(&home, "vars", "A=1\n");
        home.write(&format!("repo/{file}"), text);
        home.write(".config/toolpost/config.toml", format!("mcpFrom = ['{from}']\n"));
        assert_eq!(home.run(&["trust", "--yes"]).status, 0, "{file}");
        assert_eq!(state(&home).0, "trusted", "{file}");
        put(&home, "vars", "A=2\n");
        let (now, why) = state(&home);
        assert!(now == "untrusted" && why.contains("`vars`"), "{file}: {now} {why}");
    }
}

#[test]
fn what_cannot_be_covered_is_never_started() {
    let home = Home::new();
    home.write("repo/.mcp.json", r#"{"mcpServers": {"s": {"command": "sh", "args": ["big"]}}}"#);
    let big = std::fs::File::create(home.path("repo/big")).unwrap();
    big.set_len(20 << 30).unwrap();
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    let (now, why) = state(&home);
    assert!(now == "unusable" && why.contains("`big`") && why.contains("too large"), "{now} {why}");
    let page = home.run(&["trust", "--list"]).stdout;
    assert!(page.contains("is never started") && page.contains("too large"), "{page}");
    assert!(!runs(&home));
}

#[test]
fn a_formatter_of_the_workspace_is_covered() {
    let home = Home::new();
    put(&home, "f.sh", "cat >/dev/null; echo formatted\n");
    home.write("repo/.toolpost/config.toml", "formatters = ['txt: sh f.sh']\n");
    let text = || {
        let ran = home.run(&["call", "write", "filePath=a.txt", "content=raw"]);
        let text = std::fs::read_to_string(home.path("repo/a.txt")).unwrap();
        std::fs::remove_file(home.path("repo/a.txt")).unwrap();
        (text.trim().to_owned(), ran.stdout + &ran.stderr)
    };
    assert_eq!(text().0, "raw");
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    assert_eq!(text().0, "formatted");
    put(&home, "f.sh", "cat >/dev/null; echo changed\n");
    let (now, said) = text();
    assert!(now == "raw" && said.contains("`f.sh`") && said.contains("toolpost trust"), "{now}: {said}");
}

#[test]
fn the_check_is_made_at_the_moment_of_the_start() {
    use std::io::{BufRead, BufReader, Write};
    let home = Home::new();
    // The program ends at once, so that each call starts it anew.
    put(&home, "x.sh", SCRIPT);
    home.write("repo/.mcp.json", r#"{"mcpServers": {"s": {"command": "sh", "args": ["x.sh"]}}}"#);
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    let mut server = home
        .command(["mcp", "--allow-rule", "mcp__other: *", "--allow", "exec", "--allow", "network"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
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
    ask(
        1,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    );
    let call = json!({"name": "mcp__s__x", "arguments": {}});
    // It was started and has ended.
    ask(2, "tools/call", call.clone());
    assert!(home.path("canary").exists());
    std::fs::remove_file(home.path("canary")).unwrap();
    put(&home, "x.sh", OTHER);
    // Until the pause between two starts is over, the old reason is given; then the new one.
    let mut id = 3;
    let answer = loop {
        let answer = ask(id, "tools/call", call.clone()).to_string();
        if answer.contains("x.sh") || home.path("canary").exists() {
            break answer;
        }
        id += 1;
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert!(answer.contains("has changed since you trusted it"), "{answer}");
    assert!(!home.path("canary").exists());
    drop(input);
    assert!(server.wait().unwrap().success());
}

#[test]
fn another_environment_of_the_same_user_needs_no_new_trust() {
    let home = Home::new();
    put(&home, "venv/bin/tool", "touch CANARY; exit 1\n");
    put(&home, "x.sh", SCRIPT);
    home.write(
        "repo/.mcp.json",
        r#"{"mcpServers": {"s": {"command": "sh", "args": ["-c", "tool; sh x.sh"]}}}"#,
    );
    let with = format!("{}:/usr/bin:/bin", home.path("repo/venv/bin").display());
    let trusted = home.command(["trust", "--yes"]).env("PATH", &with).output().unwrap();
    assert!(trusted.status.success());
    // As an editor starts it, without the folder of the terminal.
    assert_eq!(state(&home).0, "trusted");
    assert!(runs(&home));
    put(&home, "x.sh", OTHER);
    assert_eq!(state(&home).0, "untrusted");
}
