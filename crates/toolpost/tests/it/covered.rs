//! Trust covers what is started: every workspace file on a command line, by its content, at the moment of the start.

use crate::Home;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};

/// One program of a workspace, and one change that must make it wait again.
struct Case {
    name: &'static str,
    /// Files before the change: path, content. A content `-> target` is a link.
    files: &'static [(&'static str, &'static str)],
    /// The entry in `.mcp.json`; `ROOT` stands for the workspace, `HOME` for the home directory.
    entry: Value,
    /// The file that changes, and its new content; none: it is removed.
    change: (&'static str, Option<&'static str>),
    /// What the reason must name.
    named: &'static str,
}

/// A shell script that leaves the canary behind.
const SCRIPT: &str = "touch CANARY; exit 1\n";
const OTHER: &str = "touch CANARY; exit 2\n";

fn case(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    entry: Value,
    change: (&'static str, Option<&'static str>),
    named: &'static str,
) -> Case {
    Case { name, files, entry, change, named }
}

fn put(home: &Home, path: &str, content: &str) {
    let place = home.path(&format!("repo/{path}"));
    let _ = std::fs::remove_file(&place);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    let root = home.path("repo").display().to_string();
    let filled = content.replace("CANARY", &home.path("canary").display().to_string()).replace("ROOT", &root);
    match filled.strip_prefix("-> ") {
        Some(target) => symlink(target, &place).unwrap(),
        None => {
            std::fs::write(&place, filled).unwrap();
            std::fs::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
}

/// How the server `s` stands, and why.
fn state(home: &Home) -> (String, String) {
    let (_, page) = home.json(&["doctor"]);
    let all = page["servers"].as_array().unwrap();
    let one = all.iter().find(|one| one["name"] == "s").unwrap();
    let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
    (text("state"), text("why"))
}

/// Calls the server's tool with every right; whether the program ran.
fn runs(home: &Home) -> bool {
    let canary = home.path("canary");
    let _ = std::fs::remove_file(&canary);
    home.run(&["call", "s/x", "--policy", "privileged"]);
    canary.exists()
}

fn check(case: &Case) {
    let home = Home::new();
    for (path, content) in case.files {
        put(&home, path, content);
    }
    let root = home.path("repo").display().to_string();
    let entry =
        case.entry.to_string().replace("ROOT", &root).replace("HOME", home.path("").to_str().unwrap());
    home.write("repo/.mcp.json", format!("{{\"mcpServers\":{{\"s\":{entry}}}}}"));
    assert_eq!(state(&home).0, "untrusted", "{}", case.name);
    assert!(!runs(&home), "{}: it ran before it was trusted", case.name);
    let page = home.run(&["trust"]);
    if case.files.iter().any(|(path, _)| *path == case.named) {
        assert!(page.stdout.contains(case.named), "{}: not shown: {}", case.name, page.stdout);
    }
    let ran = home.run(&["trust", "--yes"]);
    assert_eq!(ran.status, 0, "{}: {}", case.name, ran.stderr);
    assert_eq!(state(&home), ("trusted".to_owned(), String::new()), "{}", case.name);
    match case.change {
        (path, Some(content)) => put(&home, path, content),
        (path, None) => std::fs::remove_file(home.path(&format!("repo/{path}"))).unwrap(),
    }
    let (now, why) = state(&home);
    assert_eq!(now, "untrusted", "{}: a change of `{}` was not noticed", case.name, case.change.0);
    let named = format!("`{}`", case.named);
    assert!(why.contains(&named) && why.contains("`toolpost trust`"), "{}: {why}", case.name);
    assert!(!runs(&home), "{}: it ran after `{}` had changed", case.name, case.change.0);
    assert_eq!(home.run(&["trust", "--yes"]).status, 0, "{}", case.name);
    assert_eq!(state(&home).0, "trusted", "{}: trusted again", case.name);
}

/// An entry of these words.
fn line(words: &[&str]) -> Value {
    json!({"command": words[0], "args": words[1..]})
}

#[test]
fn guarantee_41_every_workspace_file_of_a_command_line_is_covered() {
    let one: &[(&str, &str)] = &[("x.sh", SCRIPT)];
    let deep: &[(&str, &str)] = &[("tools/x.sh", SCRIPT)];
    let js: &[(&str, &str)] = &[("x.js", "1")];
    let changed = ("x.sh", Some(OTHER));
    let changed_js = ("x.js", Some("2"));
    let cases = [
        case("program, relative", one, line(&["./x.sh"]), changed, "x.sh"),
        case("program, absolute", one, line(&["ROOT/x.sh"]), changed, "x.sh"),
        case(
            "program, roundabout",
            deep,
            line(&["tools/../tools/./x.sh"]),
            ("tools/x.sh", Some(OTHER)),
            "tools/x.sh",
        ),
        case("argument", one, line(&["sh", "x.sh"]), changed, "x.sh"),
        case("argument, absolute", one, line(&["sh", "ROOT/x.sh"]), changed, "x.sh"),
        case("argument, doubled slashes", one, line(&["sh", "ROOT//./x.sh"]), changed, "x.sh"),
        case("argument, through /proc", one, line(&["sh", "/proc/self/cwd/x.sh"]), changed, "x.sh"),
        case("third argument", one, line(&["env", "A=1", "sh", "x.sh"]), changed, "x.sh"),
        case("removed", one, line(&["sh", "x.sh"]), ("x.sh", None), "x.sh"),
        case("appeared", &[], line(&["sh", "x.sh"]), ("x.sh", Some(SCRIPT)), "x.sh"),
        case("file becomes a link", one, line(&["sh", "x.sh"]), ("x.sh", Some("-> README.md")), "x.sh"),
        case("target of a link", &[("l", "-> x.sh"), ("x.sh", SCRIPT)], line(&["sh", "l"]), changed, "x.sh"),
        case(
            "the link itself",
            &[("l", "-> x.sh"), ("x.sh", SCRIPT), ("y.sh", SCRIPT)],
            line(&["sh", "l"]),
            ("l", Some("-> y.sh")),
            "l",
        ),
        case(
            "a folder that is a link",
            &[("t", "-> tools"), ("tools/x.sh", SCRIPT), ("other/x.sh", SCRIPT)],
            line(&["sh", "t/x.sh"]),
            ("t", Some("-> other")),
            "t",
        ),
        case(
            "a chain of links",
            &[("a", "-> b"), ("b", "-> ROOT/x.sh"), ("x.sh", SCRIPT)],
            line(&["./a"]),
            changed,
            "x.sh",
        ),
        case("a dangling link", &[("l", "-> x.sh")], line(&["sh", "l"]), ("x.sh", Some(SCRIPT)), "x.sh"),
        case("--flag=path", one, line(&["sh", "--config=x.sh"]), changed, "x.sh"),
        case("-rpath", js, line(&["node", "-r./x.js", "-e", "1"]), changed_js, "x.js"),
        case("@file", js, line(&["tool", "@x.js"]), changed_js, "x.js"),
        case("file URL", js, line(&["node", "--import=file://ROOT/x%2ejs"]), changed_js, "x.js"),
        case("a list", js, line(&["tool", "--plugins=a:./x.js,b"]), changed_js, "x.js"),
        case("words of -c", one, line(&["sh", "-c", "cd . && ./x.sh"]), changed, "x.sh"),
        case(
            "quoted words of -c",
            &[("a b.sh", SCRIPT)],
            line(&["sh", "-c", "sh 'a b.sh'; true"]),
            ("a b.sh", Some(OTHER)),
            "a b.sh",
        ),
        case(
            "escaped words of -c",
            &[("a b.sh", SCRIPT)],
            line(&["sh", "-c", "sh a\\ b.sh"]),
            ("a b.sh", Some(OTHER)),
            "a b.sh",
        ),
        case(
            "cd in -c",
            deep,
            line(&["sh", "-c", "cd tools; sh x.sh"]),
            ("tools/x.sh", Some(OTHER)),
            "tools/x.sh",
        ),
        case("$PWD in -c", one, line(&["sh", "-c", "\"$PWD/x.sh\""]), changed, "x.sh"),
        case("$(…) in -c", one, line(&["sh", "-c", "sh \"$(pwd)/x.sh\""]), changed, "x.sh"),
        case(
            "cwd",
            deep,
            json!({"command": "sh", "args": ["x.sh"], "cwd": "tools"}),
            ("tools/x.sh", Some(OTHER)),
            "tools/x.sh",
        ),
        case(
            "cwd that is a link",
            &[("t", "-> tools"), ("tools/x.sh", SCRIPT), ("other/x.sh", SCRIPT)],
            json!({"command": "sh", "args": ["x.sh"], "cwd": "t"}),
            ("t", Some("-> other")),
            "t",
        ),
        case(
            "program from cwd",
            deep,
            json!({"command": "./x.sh", "cwd": "ROOT/tools"}),
            ("tools/x.sh", Some(OTHER)),
            "tools/x.sh",
        ),
        case(
            "NODE_OPTIONS",
            js,
            json!({"command": "node", "env": {"NODE_OPTIONS": "--require ./x.js"}}),
            changed_js,
            "x.js",
        ),
        case(
            "PYTHONSTARTUP",
            js,
            json!({"command": "python3", "env": {"PYTHONSTARTUP": "ROOT/x.js"}}),
            changed_js,
            "x.js",
        ),
        case(
            "BASH_ENV",
            one,
            json!({"command": "bash", "args": ["-c", ":"], "env": {"BASH_ENV": "x.sh"}}),
            changed,
            "x.sh",
        ),
        case(
            "LD_PRELOAD",
            js,
            json!({"command": "true", "env": {"LD_PRELOAD": "./x.js:other.so"}}),
            changed_js,
            "x.js",
        ),
        case(
            "PATH",
            &[("bin/tool", SCRIPT)],
            json!({"command": "tool", "env": {"PATH": "ROOT/bin:/usr/bin:/bin"}}),
            ("bin/tool", Some(OTHER)),
            "bin/tool",
        ),
        case(
            "PATH, found there later",
            &[("bin/y", "")],
            json!({"command": "sh", "args": ["-c", ":"], "env": {"PATH": "ROOT/bin:/usr/bin:/bin"}}),
            ("bin/sh", Some(SCRIPT)),
            "bin/sh",
        ),
        case(
            "PATH, a word of -c",
            &[("bin/y", SCRIPT)],
            json!({"command": "/bin/sh", "args": ["-c", "y; true"], "env": {"PATH": "ROOT/bin:/usr/bin:/bin"}}),
            ("bin/y", Some(OTHER)),
            "bin/y",
        ),
        case("a default of a variable", one, line(&["sh", "${NOT_SET:-x.sh}"]), changed, "x.sh"),
        case("workspaceFolder", one, line(&["sh", "${workspaceFolder}/x.sh"]), changed, "x.sh"),
        case(
            "node .",
            &[("package.json", "{\"main\": \"lib/m\"}"), ("lib/m.js", "1")],
            line(&["node", "."]),
            ("lib/m.js", Some("2")),
            "lib/m.js",
        ),
        case(
            "node ., package.json",
            &[("package.json", "{\"main\": \"a.js\"}"), ("a.js", "1"), ("b.js", "1")],
            line(&["node", "."]),
            ("package.json", Some("{\"main\": \"b.js\"}")),
            "package.json",
        ),
        case("node without extension", js, line(&["node", "x"]), changed_js, "x.js"),
        case(
            "npx ./pkg",
            &[("pkg/package.json", "{\"bin\": {\"p\": \"cli.js\"}}"), ("pkg/cli.js", "1")],
            line(&["npx", "-y", "./pkg"]),
            ("pkg/cli.js", Some("2")),
            "pkg/cli.js",
        ),
        case(
            "npx of what is installed",
            &[("node_modules/.bin/p", "1")],
            line(&["npx", "-y", "p@1.0.0"]),
            ("node_modules/.bin/p", Some("2")),
            "node_modules/.bin/p",
        ),
        case(
            "npm start",
            &[("package.json", "{\"scripts\": {\"start\": \"a\"}}")],
            line(&["npm", "start"]),
            ("package.json", Some("{\"scripts\": {\"start\": \"b\"}}")),
            "package.json",
        ),
        case(
            "uv run",
            &[("server.py", "1")],
            line(&["uv", "run", "server.py"]),
            ("server.py", Some("2")),
            "server.py",
        ),
        case(
            "uv --directory",
            &[("py/server.py", "1")],
            line(&["uv", "--directory", "py", "run", "server.py"]),
            ("py/server.py", Some("2")),
            "py/server.py",
        ),
        case(
            "python -m",
            &[("pkg/mod.py", "1")],
            line(&["python3", "-m", "pkg.mod"]),
            ("pkg/mod.py", Some("2")),
            "pkg/mod.py",
        ),
        case(
            "python of a folder",
            &[("app/__main__.py", "1")],
            line(&["python3", "app"]),
            ("app/__main__.py", Some("2")),
            "app/__main__.py",
        ),
        case(
            "python -c",
            &[("a.py", "1")],
            line(&["python3", "-c", "exec(open('a.py').read())"]),
            ("a.py", Some("2")),
            "a.py",
        ),
        case(
            "docker -f",
            &[("c.yml", "1")],
            line(&["docker", "compose", "-f", "c.yml", "run", "s"]),
            ("c.yml", Some("2")),
            "c.yml",
        ),
    ];
    assert!(cases.len() >= 30, "{}", cases.len());
    cases.iter().for_each(check);
}

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
