//! `toolpost doctor`: what it shows, what it calls broken, and that it says how to mend it.

use crate::Home;
use crate::terminal::typed_on_a_terminal;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const USER: &str = ".config/toolpost/config.toml";

#[test]
fn a_fresh_machine_is_well() {
    let home = Home::new();
    let summary = home.run(&["doctor"]).stdout;
    assert!(summary.starts_with("All is well; worth knowing  (toolpost 0.1.0 on Linux "), "{summary}");
    assert!(summary.lines().count() <= 24, "{summary}");
    for words in [
        "  rights      read granted, trace granted, write granted, exec absent, network absent",
        "  servers     none are described",
        "toolpost doctor --all",
    ] {
        assert!(summary.contains(words), "{words}: {summary}");
    }
    let ran = home.run(&["doctor", "--all"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    for words in [
        "toolpost 0.1.0 on Linux ",
        "(the enclosing repository); no path leaves it (openat2 works)",
        "write         granted       built-in",
        "nothing that would start or widen anything",
        "tokens",
        ".git/hooks, .git/config",
        "(made when it is first needed)",
        "All is well; worth knowing",
        "→ write an example with `toolpost init`",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(!home.path("data").exists(), "it only looks");
}

#[test]
fn it_prints_the_whole_closed_list() {
    let home = Home::new();
    let page = home.run(&["doctor", "--all"]).stdout;
    let report = home.json(&["doctor"]).1;
    for row in toolpost_core::policy::protected() {
        assert!(page.contains(row.pattern) && page.contains(row.why), "{}", row.pattern);
    }
    assert_eq!(report["protected"].as_array().unwrap().len(), toolpost_core::policy::protected().len());
}

#[test]
fn prices_are_those_of_tools_lint() {
    let home = Home::new();
    let report = home.json(&["doctor"]).1;
    let linted = home.json(&["tools", "lint"]).1;
    assert_eq!(report["tools"]["totalTokens"], linted["totalTokens"]);
    assert!(report["tools"]["totalTokens"].as_u64().unwrap() > 0);
    // What the policy withholds is shown so, and costs nothing.
    let report = home.json(&["doctor", "--policy", "read-only"]).1;
    let linted = home.json(&["tools", "lint", "--policy", "read-only"]).1;
    assert_eq!(report["tools"]["totalTokens"], linted["totalTokens"]);
}

#[test]
fn rules_that_can_never_match_are_named() {
    let home = Home::new();
    home.write(USER, "[[rule]]\neffect = 'deny'\naction = 'raed'\n\n[[rule]]\neffect = 'ask'\naction = 'read'\nresource = '~/x'\n");
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.status, 1, "nothing runs before they are corrected");
    let user = home.path(USER).display().to_string();
    for words in [
        format!("{user}:1: `raed` is neither a tool nor a capability"),
        format!("{user}:5: `~/x` begins with `~`"),
    ] {
        assert!(ran.stdout.contains(&words), "{words}: {}", ran.stdout);
    }
    let report = home.json(&["doctor"]).1;
    assert_eq!(report["configuration"]["ruleWarnings"].as_array().unwrap().len(), 2);
    assert_eq!(report["configuration"]["rules"][1]["line"], 5);
    let findings = report["findings"].to_string();
    assert!(findings.contains("`raed` is neither a tool") && findings.contains("`~/x` begins"), "{findings}");
    // Tools that only runs have, or only with a model, are tools.
    home.write(USER, "[[rule]]\neffect = 'deny'\naction = 'spawn_agent'\n\n[[rule]]\neffect = 'ask'\naction = 'capture_screenshot'\n");
    let report = home.json(&["doctor"]).1;
    assert_eq!(report["configuration"]["ruleWarnings"].as_array().unwrap().len(), 0, "{report}");
}

#[test]
fn a_rule_with_a_misspelt_tool_is_reported_at_every_start() {
    let home = Home::new();
    let said =
        "`bsh` is neither a tool nor a capability, so the rule `bsh: ls` does nothing; did you mean `bash`";
    let ran = home.run(&["call", "list", "--allow-rule", "bsh: ls"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, format!("note: --allow-rule: {said}\n").as_str()));
    home.write(USER, "[[rule]]\neffect = 'deny'\naction = 'bsh'\nresource = 'ls'\n");
    for command in [&["call", "list"][..], &["tools"], &["policy", "show"]] {
        let ran = home.run(command);
        assert!(ran.stderr.contains(&format!("config.toml:1: {said}")), "{command:?}: {}", ran.stderr);
    }
    // Names that a host, a server or an agent may know, and patterns.
    for rule in [
        "Bash: ls",
        "spawn_agent: *",
        "mcp__a__b: *",
        "github/list: *",
        "read_docs: *",
        "ba*: ls",
        "run_shell_command: ls",
    ] {
        let home = Home::new();
        let ran = home.run(&["call", "list", "--allow-rule", rule]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{rule}");
    }
}

#[test]
fn what_is_broken_is_said_with_the_fix_and_the_status_is_one() {
    // A configuration with a mistake; the rest is shown all the same.
    let home = Home::new();
    home.write(USER, "policy = 'all'\n");
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout.contains("To fix") && ran.stdout.contains("config.toml:1:10: no risk profile `all`"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.starts_with("To fix  (toolpost ") && ran.stdout.contains("  tools "),
        "{}",
        ran.stdout
    );
    // A data directory that is no folder.
    let home = Home::new();
    home.write("data/toolpost", "");
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout.contains("cannot be written")
            && ran.stdout.contains("→ change its owner, or set XDG_DATA_HOME")
    );
    // One that others can write to.
    let home = Home::new();
    home.write("data/toolpost/x", "");
    std::fs::set_permissions(home.path("data/toolpost"), PermissionsExt::from_mode(0o777)).unwrap();
    let (status, report) = home.json(&["doctor"]);
    assert_eq!((status, report["ok"].as_bool()), (1, Some(false)));
    assert!(report["findings"][0]["fix"].as_str().unwrap().starts_with("run `chmod 700"), "{report}");
    // A workspace that is not there.
    let ran = Home::new().run(&["doctor", "--workspace", "/nowhere"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("does not exist; give a folder with `--workspace DIR`"), "{}", ran.stdout);
    // No home at all.
    let home = Home::new();
    let mut command = home.command(["doctor"]);
    command.env_remove("HOME").env_remove("XDG_DATA_HOME");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("→ set HOME, or XDG_DATA_HOME"));
}

#[test]
fn a_configuration_that_others_can_change_is_noted() {
    let home = Home::new();
    home.write(USER, "policy = 'read-only'\n");
    std::fs::set_permissions(home.path(USER), PermissionsExt::from_mode(0o666)).unwrap();
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.status, 0);
    assert!(
        ran.stdout.contains("others can change") && ran.stdout.contains("→ run `chmod go-w"),
        "{}",
        ran.stdout
    );
}

#[test]
fn colours_are_for_terminals() {
    let home = Home::new();
    let (status, seen) = typed_on_a_terminal(home.command(["doctor"]), "");
    assert_eq!(status, 0);
    assert!(seen.contains("\x1b[33mnote"), "{seen:?}");
    assert!(!home.run(&["doctor"]).stdout.contains('\x1b'));
    let mut command = home.command(["doctor"]);
    command.env("NO_COLOR", "1");
    assert!(!typed_on_a_terminal(command, "").1.contains('\x1b'));
}

#[test]
fn keys_of_json_are_spelled_alike() {
    fn check(command: &[&str], value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                // Paths and names of tools are keys too.
                let is_word = key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
                assert!(!is_word || !key.contains('_'), "{command:?}: {key}");
                check(command, value);
            }),
            Value::Array(items) => items.iter().for_each(|item| check(command, item)),
            _ => {}
        }
    }
    let home = Home::new();
    home.write("repo/.toolpost/config.toml", "policy = 'privileged'\n");
    home.run(&["call", "write", "a.txt", "content=x"]);
    for command in [
        &["doctor"][..],
        &["trust", "--list"],
        &["packs"],
        &["agents"],
        &["sessions"],
        &["stats"],
        &["undo", "--dry-run"],
        &["tasks"],
        &["vfs", "list"],
        &["policy", "show"],
        &["gc"],
    ] {
        check(command, &home.json(command).1);
    }
}

/// A server at an address that answers every request in this way.
fn refusing(status: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(50) {
            let mut stream = stream.unwrap();
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = std::io::Write::write_all(&mut stream, answer.as_bytes());
        }
    });
    url
}

#[test]
fn servers_are_started_and_what_is_wrong_with_them_comes_first() {
    let script = crate::project().join("crates/toolpost-plugins/tests/data/server.py");
    let program = |mode: &str| format!("command = 'python3'\nargs = ['{}', '{mode}']\n", script.display());
    let crash = "command = 'sh'\nargs = ['-c', 'echo no luck >&2; exit 3']\n".to_owned();
    let at = |status: &'static str| format!("url = '{}'\n", refusing(status));
    let hang = format!("{}startTimeout = '1s'\n", program("never-answers"));
    for (entry, words) in [
        (crash, "no luck"),
        (program("dies-at-start"), "the API key is missing"),
        (program("noise-then-dies"), "the MCP server `s`"),
        (at("401 Unauthorized"), "401"),
        (at("403 Forbidden"), "403"),
        (at("500 Oh no"), "500"),
        ("command = '/no/such/program'\n".to_owned(), "/no/such/program"),
        (hang, "was not ready after"),
    ] {
        let home = Home::new();
        home.write(USER, format!("[mcpServers.good]\n{}[mcpServers.s]\n{entry}", program("good")));
        let ran = home.run(&["doctor"]);
        assert_eq!(ran.status, 1, "{entry}: {}", ran.stdout);
        assert!(!ran.stdout.contains("All is well"), "{entry}: {}", ran.stdout);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert!(lines[0].starts_with("To fix") && lines.len() <= 24, "{entry}: {}", ran.stdout);
        assert!(lines[1].contains("broken") && lines[1].contains(words), "{entry}: {}", ran.stdout);
        assert!(
            ran.stdout.contains("  servers     good (13 tools), s (did not start)"),
            "{entry}: {}",
            ran.stdout
        );
        let (status, report) = home.json(&["doctor"]);
        let start = |index: usize| report["servers"][index]["start"].clone();
        assert_eq!(
            (status, &start(0)["tools"], &start(1)["state"]),
            (1, &13.into(), &"failed".into()),
            "{report}"
        );
    }
}

#[test]
fn only_servers_that_a_session_would_start_are_started() {
    let home = Home::new();
    let marks = |name: &str| home.path(name);
    let entry = |mark: &str| format!("command = 'touch'\nargs = ['{}']\n", marks(mark).display());
    // Under the default policy no tool of a server that is not believed may run.
    home.write(USER, format!("[mcpServers.refused]\nhints = 'ignored'\n{}", entry("refused")));
    home.write("repo/.toolpost/config.toml", format!("[mcpServers.brought]\n{}", entry("brought")));
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.status, 0, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("brought (untrusted), refused (not started under this policy)"),
        "{}",
        ran.stdout
    );
    assert!(!marks("refused").exists() && !marks("brought").exists());
}
