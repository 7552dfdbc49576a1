//! What `policy explain` and `call --check` say of a call, and that it happens so: as people type it.

use crate::Home;
use serde_json::{Value, json};

/// A repository with a secret, a file that a rule of the user's denies, and programs.
fn home() -> Home {
    let home = Home::new();
    home.write(
        ".config/toolpost/config.toml",
        "[[rule]]\neffect = 'deny'\naction = 'read'\nresource = '/plans/**'\n\
         [[rule]]\neffect = 'deny'\naction = 'read'\nresource = 'secret'\n",
    );
    for file in
        [".env", "secret", "plans/a.txt", "free.txt", "s.py", "Makefile", "script.sh", ".mcp.json.bak"]
    {
        home.write(&format!("repo/{file}"), "text\n");
    }
    home
}

/// The line of the explanation about a file or host.
fn named<'a>(explained: &'a Value, name: &str) -> &'a Value {
    let named = explained["named"].as_array().unwrap();
    named.iter().find(|place| place["name"] == name).unwrap_or_else(|| panic!("no {name}: {explained}"))
}

#[test]
fn a_command_is_explained_as_it_will_run() {
    let home = home();
    let exec = ["--allow", "exec"];
    for (line, effect, name, openness, printed) in [
        ("cat .env", "limited", ".env", ("read", "closed"), "`.env` cannot be read by commands"),
        ("cat plans/a.txt", "limited", "plans/a.txt", ("read", "closed"), "cannot be read by commands"),
        ("cat secret", "limited", "secret", ("read", "closed"), "`secret` cannot be read by commands"),
        ("cat secret; true", "limited", "secret", ("read", "closed"), "`secret` cannot be read by commands"),
        ("cat free.txt", "allow", "free.txt", ("read", "open"), "text"),
        ("touch .envrc", "limited", ".envrc", ("change", "closed"), "`.envrc` was refused"),
        ("curl -s -m 2 http://127.0.0.1:9/", "limited", "127.0.0.1", ("reach", "closed"), "no network"),
        ("touch ../x.txt", "allow", "../x.txt", ("change", "sandbox"), "exit code"),
    ] {
        let text = format!("bash: {line}");
        let explained = home.json(&[&["policy", "explain", &text], &exec[..]].concat()).1;
        assert_eq!(explained["effect"], effect, "{line}: {explained}");
        assert_eq!(named(&explained, name)[openness.0], openness.1, "{line}: {explained}");
        let command = format!("command={line}");
        let same = home.json(&[&["policy", "explain", "bash", &command], &exec[..]].concat()).1;
        assert_eq!(same, explained, "{line}");
        let checked = home.json(&[&["call", "bash", &command, "--check"], &exec[..]].concat()).1;
        assert_eq!(checked["check"]["effect"], effect, "{line}: {checked}");
        assert_eq!(checked["check"]["named"], explained["named"], "{line}");
        let ran = home.run(&[&["call", "bash", &command], &exec[..]].concat());
        assert!(ran.stdout.contains(printed), "{line}: {}", ran.stdout);
    }
    let said = home.run(&["policy", "explain", "bash: cat .env", "--allow", "exec"]).stdout;
    assert!(
        said.starts_with(
            "limited: the call may start, but it can neither read nor change `.env`: it is protected"
        ),
        "{said}"
    );
    assert!(said.contains("--allow-rule 'read: /.env'") && !said.contains("no protected file"), "{said}");
}

#[test]
fn what_a_program_opens_by_itself_is_said_to_be_decided_by_the_sandbox() {
    let home = home();
    for (line, program) in [
        ("make", "make"),
        ("python3 s.py", "python3"),
        ("sh script.sh", "sh"),
        ("./script.sh", "./script.sh"),
        ("env nohup make -s", "make"),
        ("cat free.txt | python3 -", "python3"),
    ] {
        let explained = home.json(&["policy", "explain", &format!("bash: {line}"), "--allow", "exec"]).1;
        let clauses = explained["decidedBySandbox"].to_string();
        assert!(clauses.contains(&format!("`{program}`")), "{line}: {explained}");
        assert!(explained["reason"].as_str().unwrap().contains("only the sandbox decides"), "{explained}");
    }
}

/// Hosts that are named without a scheme are no files.
#[test]
fn hosts_are_named_by_the_programs_that_reach_them() {
    let home = home();
    for line in [
        "curl h.example.com",
        "wget -q h.example.com/x",
        "curl --proxy h.example.com:3128 http://o.example",
        "ssh h.example.com",
        "ssh -J me@h.example.com o.example",
        "ping -c1 h.example.com",
        "dig h.example.com",
        "nc h.example.com 80",
        "psql -h h.example.com -c 'select 1'",
        "mysql --host=h.example.com",
        "openssl s_client -connect h.example.com:443",
        "socat - TCP:h.example.com:80",
    ] {
        let explained = home.json(&["policy", "explain", &format!("bash: {line}"), "--allow", "exec"]).1;
        assert_eq!(explained["effect"], "limited", "{line}: {explained}");
        let place = named(&explained, "h.example.com");
        assert_eq!(place["reach"], "closed", "{line}: {explained}");
    }
}

/// After what may have changed the folder, a relative name is not said to be open.
#[test]
fn a_folder_that_may_have_changed_is_left_to_the_sandbox() {
    let home = home();
    home.write("repo/secret.txt", "harmless\n");
    home.write("repo/plans/secret.txt", "text\n");
    for line in [
        "pushd plans >/dev/null && cat secret.txt",
        "eval \"cd plans\"; cat secret.txt",
        "builtin cd plans; cat secret.txt",
        "command cd plans; cat secret.txt",
        "while cd plans; do cat secret.txt; break; done",
    ] {
        let explained = home.json(&["policy", "explain", &format!("bash: {line}"), "--allow", "exec"]).1;
        let reason = explained["reason"].as_str().unwrap();
        assert!(reason.contains("only the sandbox decides"), "{line}: {explained}");
        assert!(explained["decidedBySandbox"].to_string().contains("secret.txt` are"), "{line}: {explained}");
    }
    for line in ["cd -- plans; cat secret.txt", "cd -P plans; cat secret.txt", "cd plans && cat secret.txt"] {
        let explained = home.json(&["policy", "explain", &format!("bash: {line}"), "--allow", "exec"]).1;
        assert_eq!(explained["effect"], "limited", "{line}: {explained}");
        assert_eq!(named(&explained, "plans/secret.txt")["read"], "closed", "{line}");
    }
}

#[test]
fn links_and_tests_are_explained_as_they_happen() {
    let home = home();
    std::os::unix::fs::symlink(".env", home.path("repo/link")).unwrap();
    for (line, effect, status) in [
        ("test -r .env && echo yes", "limited", 1),
        ("[ -r .env ] && echo yes", "limited", 1),
        ("[[ -w plans/a.txt ]] && echo yes", "limited", 1),
        ("[[ -e free.txt ]] && echo yes", "allow", 0),
        ("mv link other && mv other link", "allow", 0),
        ("rm link", "allow", 0),
    ] {
        let explained = home.json(&["policy", "explain", &format!("bash: {line}"), "--allow", "exec"]).1;
        assert_eq!(explained["effect"], effect, "{line}: {explained}");
        let ran = home.json(&["call", "bash", &format!("command={line}"), "--allow", "exec"]).1;
        assert_eq!(ran["data"]["exitCode"], status, "{line}: {ran}");
    }
}

#[test]
fn a_script_can_ask_for_an_exit_code() {
    let home = home();
    for (args, expected) in [
        (&["read: free.txt"][..], 0),
        (&["read: plans/a.txt"], 3),
        (&["read: .env"], 3),
        (&["read: ../x"], 3),
        (&["bash: ls"], 3),
        (&["bash: ls", "--allow", "exec"], 0),
        (&["bash: make", "--allow", "exec"], 0),
        (&["bash: cat .env", "--allow", "exec"], 3),
        (&["mcp__x__y: 1"], 2),
        (&["mcp__x__y"], 2),
    ] {
        let ran = home.run(&[&["policy", "explain", "--exit-code"], args].concat());
        assert_eq!(ran.status, expected, "{args:?}: {}{}", ran.stdout, ran.stderr);
        let without = home.run(&[&["policy", "explain"], args].concat());
        assert_eq!(without.status, if expected == 2 { 2 } else { 0 }, "{args:?}");
        assert_eq!(expected == 2, ran.stderr.contains("TOOL_NOT_FOUND"), "{args:?}: {}", ran.stderr);
    }
}

/// A server of tools in a few lines of shell.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"words","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"word_count","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"42 words"}]}' ;;
    *) [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id"; continue ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

#[test]
fn a_tool_of_a_server_is_found_by_its_last_name() {
    let home = Home::new();
    home.write("repo/server.sh", SERVER);
    home.write(".config/toolpost/config.toml", "policy = 'privileged'\n");
    let server = json!({"command": "bash", "args": [home.path("repo/server.sh")]});
    let servers = |servers: Value| {
        home.write("repo/.mcp.json", json!({ "mcpServers": servers }).to_string());
        assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    };
    servers(json!({ "words": server }));
    let ran = home.run(&["call", "word_count"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "42 words"), "{}", ran.stderr);
    let explained = home.json(&["policy", "explain", "word_count"]).1;
    assert_eq!(
        (&explained["tool"], &explained["effect"]),
        (&json!("mcp__words__word_count"), &json!("allow"))
    );
    let ran = home.run(&["call", "word_cuont"]);
    assert!(ran.status == 2 && ran.stderr.contains("TOOL_NOT_FOUND"), "{}", ran.stderr);
    servers(json!({ "words": server, "other": server }));
    let ran = home.run(&["call", "word_count"]);
    assert_eq!(ran.status, 2, "{}", ran.stdout);
    let both = "`mcp__other__word_count`, `mcp__words__word_count`";
    assert!(ran.stderr.contains(both) && ran.stderr.contains("several servers"), "{}", ran.stderr);
}
