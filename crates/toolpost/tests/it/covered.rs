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
fn guarantee_41_what_programs_make_of_their_words_is_covered() {
    let cases = [
        case(
            "python -um",
            &[("server.py", "1")],
            line(&["python3", "-um", "server"]),
            ("server.py", Some("2")),
            "server.py",
        ),
        case(
            "env python -um",
            &[("server.py", "1")],
            line(&["env", "python3", "-um", "server"]),
            ("server.py", Some("2")),
            "server.py",
        ),
        case(
            "python -Bm of a package",
            &[("pkg/__init__.py", "1"), ("pkg/server.py", "1")],
            line(&["python3", "-Bm", "pkg.server"]),
            ("pkg/server.py", Some("2")),
            "pkg/server.py",
        ),
        case(
            "python -Bm, __init__",
            &[("pkg/__init__.py", "1"), ("pkg/server.py", "1")],
            line(&["python3", "-Bm", "pkg.server"]),
            ("pkg/__init__.py", Some("2")),
            "pkg/__init__.py",
        ),
        case(
            "python -um, __main__",
            &[("pkg/__main__.py", "1")],
            line(&["python3.12", "-um", "pkg"]),
            ("pkg/__main__.py", Some("2")),
            "pkg/__main__.py",
        ),
        case(
            "python -c import",
            &[("pkg/server.py", "1")],
            line(&["python3", "-c", "from pkg.server import main; main()"]),
            ("pkg/server.py", Some("2")),
            "pkg/server.py",
        ),
        case(
            "PYTHONPATH, sitecustomize",
            &[("lib/sitecustomize.py", "1")],
            json!({"command": "python3", "args": ["-c", "0"], "env": {"PYTHONPATH": "lib"}}),
            ("lib/sitecustomize.py", Some("2")),
            "lib/sitecustomize.py",
        ),
        case(
            "PYTHONPATH, usercustomize later",
            &[("lib/y", "")],
            json!({"command": "python3", "args": ["-c", "0"], "env": {"PYTHONPATH": "/opt:lib"}}),
            ("lib/usercustomize.py", Some("2")),
            "lib/usercustomize.py",
        ),
        case(
            "PYTHONPATH in a line",
            &[("lib/sitecustomize.py", "1")],
            line(&["sh", "-c", "PYTHONPATH=lib python3 -c 0"]),
            ("lib/sitecustomize.py", Some("2")),
            "lib/sitecustomize.py",
        ),
        case(
            "node --require=",
            &[("hook.js", "1")],
            line(&["node", "--require=./hook", "-e", "0"]),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "node --require= in -c",
            &[("hook.js", "1")],
            line(&["sh", "-c", "node --require=./hook -e 0"]),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "node -r joined",
            &[("hook.js", "1")],
            line(&["node", "-r./hook", "-e", "0"]),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "NODE_OPTIONS -r",
            &[("hook.js", "1")],
            json!({"command": "node", "args": ["-e", "0"], "env": {"NODE_OPTIONS": "-r ./hook"}}),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "NODE_OPTIONS --require=",
            &[("hook.js", "1")],
            json!({"command": "node", "args": ["-e", "0"], "env": {"NODE_OPTIONS": "--require=./hook"}}),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "NODE_OPTIONS --import=",
            &[("hook.js", "1")],
            json!({"command": "node", "args": ["-e", "0"], "env": {"NODE_OPTIONS": "--import=./hook"}}),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "NODE_OPTIONS --loader=",
            &[("hook.js", "1")],
            json!({"command": "node", "args": ["-e", "0"], "env": {"NODE_OPTIONS": "--loader=./hook"}}),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "NODE_OPTIONS in a line",
            &[("hook.js", "1")],
            line(&["sh", "-c", "NODE_OPTIONS='-r ./hook' node -e 0"]),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "node -e require",
            &[("server.js", "1")],
            line(&["node", "-e", "require('./server')"]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "node -e require in -c",
            &[("server.js", "1")],
            line(&["sh", "-c", "node -e \"require('./server')\""]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "perl -M",
            &[("lib/Server.pm", "1")],
            line(&["perl", "-Ilib", "-MServer", "-e", "0"]),
            ("lib/Server.pm", Some("2")),
            "lib/Server.pm",
        ),
        case(
            "perl -M of A::B, bundled",
            &[("lib/A/B.pm", "1")],
            line(&["perl", "-wIlib", "-MA::B=x", "-e", "0"]),
            ("lib/A/B.pm", Some("2")),
            "lib/A/B.pm",
        ),
        case(
            "PERL5OPT",
            &[("lib/Server.pm", "1")],
            json!({"command": "perl", "args": ["-e", "0"], "env": {"PERL5OPT": "-MServer", "PERL5LIB": "lib"}}),
            ("lib/Server.pm", Some("2")),
            "lib/Server.pm",
        ),
        case(
            "perl -e use",
            &[("lib/Server.pm", "1")],
            line(&["perl", "-Ilib", "-e", "use Server; run()"]),
            ("lib/Server.pm", Some("2")),
            "lib/Server.pm",
        ),
        case(
            "ruby -r",
            &[("lib/foo.rb", "1")],
            line(&["ruby", "-Ilib", "-rfoo", "-e", "0"]),
            ("lib/foo.rb", Some("2")),
            "lib/foo.rb",
        ),
        case(
            "RUBYOPT",
            &[("lib/foo.rb", "1")],
            json!({"command": "ruby", "args": ["-e", "0"], "env": {"RUBYOPT": "-rfoo", "RUBYLIB": "lib"}}),
            ("lib/foo.rb", Some("2")),
            "lib/foo.rb",
        ),
        case(
            "two cd",
            &[("sub/deep/s.sh", "1")],
            line(&["bash", "-c", "cd sub; cd deep; ./s.sh"]),
            ("sub/deep/s.sh", Some("2")),
            "sub/deep/s.sh",
        ),
        case(
            "env -C and cd",
            &[("sub/deep/s.sh", "1")],
            line(&["env", "-C", "sub", "bash", "-c", "cd deep && ./s.sh"]),
            ("sub/deep/s.sh", Some("2")),
            "sub/deep/s.sh",
        ),
        case(
            "cd and $PWD",
            &[("sub/s.sh", "1")],
            line(&["bash", "-c", "cd sub && \"$PWD/s.sh\""]),
            ("sub/s.sh", Some("2")),
            "sub/s.sh",
        ),
        case(
            "$0 of a line",
            &[("sub/s.sh", "1")],
            line(&["bash", "-c", "$0/s.sh", "sub"]),
            ("sub/s.sh", Some("2")),
            "sub/s.sh",
        ),
        case(
            "$@ of a line",
            &[("hook.js", "1")],
            line(&["sh", "-c", "exec node \"$@\"", "sh", "-r", "./hook"]),
            ("hook.js", Some("2")),
            "hook.js",
        ),
        case(
            "a variable of the program in -c",
            &[("sub/s.sh", "1")],
            json!({"command": "bash", "args": ["-c", "\"$PLACE\"/s.sh"], "env": {"PLACE": "sub"}}),
            ("sub/s.sh", Some("2")),
            "sub/s.sh",
        ),
        case(
            "three lines inside each other",
            &[("a b/s.sh", "1")],
            line(&["sh", "-c", "sh -c \"sh -c \\\"sh -c '\\\\\\\"./a b/s.sh\\\\\\\"'\\\"\""]),
            ("a b/s.sh", Some("2")),
            "a b/s.sh",
        ),
        case(
            "cd and exec",
            &[("sub/server.js", "1")],
            line(&["sh", "-c", "cd sub && exec node server.js"]),
            ("sub/server.js", Some("2")),
            "sub/server.js",
        ),
        case(
            "a plain assignment",
            &[("x.js", "1")],
            line(&["sh", "-c", "FOO=bar node x.js"]),
            ("x.js", Some("2")),
            "x.js",
        ),
        case(
            "env -S",
            &[("sub/s.sh", "1")],
            line(&["env", "-S", "sh -c 'cd sub; ./s.sh'"]),
            ("sub/s.sh", Some("2")),
            "sub/s.sh",
        ),
        case("make", &[("Makefile", "1")], line(&["make", "serve"]), ("Makefile", Some("2")), "Makefile"),
        case(
            "make -C",
            &[("sub/GNUmakefile", "1")],
            line(&["make", "-C", "sub", "serve"]),
            ("sub/GNUmakefile", Some("2")),
            "sub/GNUmakefile",
        ),
        case(
            "makefile found first later",
            &[("Makefile", "1")],
            line(&["make", "serve"]),
            ("GNUmakefile", Some("2")),
            "GNUmakefile",
        ),
        case("just", &[("justfile", "1")], line(&["just"]), ("justfile", Some("2")), "justfile"),
        case(
            "go run file",
            &[("cmd/main.go", "1")],
            line(&["go", "run", "cmd/main.go"]),
            ("cmd/main.go", Some("2")),
            "cmd/main.go",
        ),
        case("go run .", &[("main.go", "1")], line(&["go", "run", "."]), ("main.go", Some("2")), "main.go"),
        case(
            "cargo run",
            &[("Cargo.toml", "1"), ("src/main.rs", "1")],
            line(&["cargo", "run"]),
            ("src/main.rs", Some("2")),
            "src/main.rs",
        ),
        case(
            "cargo run --bin",
            &[("src/bin/b.rs", "1")],
            line(&["cargo", "run", "-q", "--bin", "b"]),
            ("src/bin/b.rs", Some("2")),
            "src/bin/b.rs",
        ),
        case(
            "npm start, the script",
            &[
                ("package.json", "{\"scripts\": {\"start\": \"node server.js\", \"x\": \"node server.js\"}}"),
                ("server.js", "1"),
            ],
            line(&["npm", "start"]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "npm run, the script",
            &[
                ("package.json", "{\"scripts\": {\"start\": \"node server.js\", \"x\": \"node server.js\"}}"),
                ("server.js", "1"),
            ],
            line(&["npm", "run", "x"]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "yarn, the script",
            &[
                ("package.json", "{\"scripts\": {\"start\": \"node server.js\", \"x\": \"node server.js\"}}"),
                ("server.js", "1"),
            ],
            line(&["yarn", "x"]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "pnpm, the script",
            &[
                ("package.json", "{\"scripts\": {\"start\": \"node server.js\", \"x\": \"node server.js\"}}"),
                ("server.js", "1"),
            ],
            line(&["pnpm", "x"]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "npm in -c, the script",
            &[
                ("package.json", "{\"scripts\": {\"start\": \"node server.js\", \"x\": \"node server.js\"}}"),
                ("server.js", "1"),
            ],
            line(&["sh", "-c", "npm run -s x"]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "node --run",
            &[("package.json", "{\"scripts\": {\"x\": \"node server.js\"}}"), ("server.js", "1")],
            line(&["node", "--run", "x"]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "npm --prefix, the script",
            &[("app/package.json", "{\"scripts\": {\"x\": \"node ./server\"}}"), ("app/server.js", "1")],
            line(&["npm", "--prefix", "app", "run", "x"]),
            ("app/server.js", Some("2")),
            "app/server.js",
        ),
        case(
            "a script before the script",
            &[
                (
                    "package.json",
                    "{\"scripts\": {\"prex\": \"npm run y\", \"x\": \"true\", \"y\": \"node server.js\"}}",
                ),
                ("server.js", "1"),
            ],
            line(&["npm", "run", "x"]),
            ("server.js", Some("2")),
            "server.js",
        ),
        case(
            "an installed program of a script",
            &[
                ("package.json", "{\"scripts\": {\"x\": \"serve --port 1\"}}"),
                ("node_modules/.bin/serve", "1"),
            ],
            line(&["npm", "run", "x"]),
            ("node_modules/.bin/serve", Some("2")),
            "node_modules/.bin/serve",
        ),
    ];
    assert!(cases.len() >= 30, "{}", cases.len());
    cases.iter().for_each(check);
}

/// Runners of projects and modules: the words, and a file that they find by themselves.
const RUNNERS: &[(&[&str], &[&str])] = &[
    (
        &["node", "-r", "mod", "s.js"],
        &["node_modules/mod/index.js", "node_modules/mod.js", "node_modules/mod/package.json"],
    ),
    (&["node", "--require=mod/sub", "s.js"], &["node_modules/mod/sub.js", "node_modules/mod/sub/index.js"]),
    (&["node", "-r@a/mod/sub", "s.js"], &["node_modules/@a/mod/sub.mjs", "node_modules/@a/mod/package.json"]),
    (&["node", "--import", "mod", "s.js"], &["node_modules/mod/index.mjs"]),
    (&["pnpm", "exec", "tool"], &["node_modules/.bin/tool"]),
    (&["npx", "run"], &["node_modules/.bin/run"]),
    (&["gradle", "run"], &["build.gradle", "build.gradle.kts", "settings.gradle", "gradle.properties"]),
    (&["./gradlew", "run"], &["gradlew", "build.gradle.kts", "gradle/wrapper/gradle-wrapper.jar"]),
    (&["mvn", "exec:java"], &["pom.xml", ".mvn/jvm.config"]),
    (&["mvn", "-f", "sub/pom.xml", "exec:java"], &["sub/pom.xml"]),
    (&["./mvnw", "exec:java"], &["pom.xml", ".mvn/wrapper/maven-wrapper.properties"]),
    (&["dotnet", "run"], &["x.csproj", "Program.cs", "Directory.Build.props", "all.sln"]),
    (&["dotnet", "run", "--project", "sub"], &["sub/x.fsproj"]),
    (&["mix", "run"], &["mix.exs", "config/config.exs"]),
    (&["mise", "run", "x"], &["mise.toml", ".mise.toml", "mise-tasks/x", ".mise/tasks/x"]),
    (&["nix", "run", "."], &["flake.nix", "flake.lock"]),
    (&["nix-shell", "--run", "x"], &["shell.nix", "default.nix"]),
    (&["uv", "run", "srv"], &["pyproject.toml", "uv.lock", ".venv/bin/srv"]),
    (&["poetry", "run", "srv"], &["pyproject.toml", "poetry.lock"]),
    (&["hatch", "run", "x"], &["pyproject.toml", "hatch.toml"]),
    (&["tox", "-e", "x"], &["tox.ini"]),
    (&["pytest", "x"], &["conftest.py", "pytest.ini"]),
    (&["uvicorn", "m:app"], &["m.py", "m/__init__.py"]),
    (&["uvicorn", "pkg.web:app"], &["pkg/web.py", "pkg/__init__.py", "src/pkg/web.py"]),
    (&["gunicorn", "m:app"], &["m.py", "gunicorn.conf.py"]),
    (&["flask", "--app", "web", "run"], &["web.py", ".flaskenv"]),
    (&["direnv", "exec", ".", "srv"], &[".envrc"]),
    (&["Rscript", "s.R"], &["s.R", ".Rprofile"]),
    (
        &["cargo", "run", "--manifest-path", "sub/Cargo.toml"],
        &["sub/Cargo.toml", "sub/build.rs", "sub/src/main.rs"],
    ),
    (&["docker", "build", "."], &["Dockerfile"]),
];

/// Each of these files is covered: it is shown before the trust, and a change of it is noticed.
fn check_covers(files: &[(&str, &str)], entry: &Value, covered: &[&str]) {
    let home = Home::new();
    files.iter().for_each(|(path, content)| put(&home, path, content));
    home.write("repo/.mcp.json", format!("{{\"mcpServers\":{{\"s\":{entry}}}}}"));
    let page = home.run(&["trust"]).stdout;
    for file in covered {
        assert!(page.contains(&format!(" {file} (sha256")), "{entry}: `{file}` is not covered: {page}");
    }
    let ran = home.run(&["trust", "--yes"]);
    assert_eq!(ran.status, 0, "{entry}: {}", ran.stderr);
    let changed = covered.last().unwrap();
    put(&home, changed, "changed");
    let (now, why) = state(&home);
    assert_eq!(now, "untrusted", "{entry}: a change of `{changed}` was not noticed");
    assert!(why.contains(&format!("`{changed}`")), "{entry}: {why}");
}

#[test]
fn guarantee_41_what_runners_find_by_themselves_is_covered() {
    for (words, covered) in RUNNERS {
        let files: Vec<(&str, &str)> = covered.iter().map(|file| (*file, "{}")).collect();
        check_covers(&files, &line(words), covered);
    }
    for (name, value, file) in [
        ("NODE_OPTIONS", "-r mod", "node_modules/mod/index.js"),
        ("NODE_OPTIONS", "--import=mod", "node_modules/mod/package.json"),
    ] {
        let entry = json!({"command": "node", "args": ["s.js"], "env": {name: value}});
        check_covers(&[(file, "{}")], &entry, &[file]);
    }
    let entry = json!({"command": "srv", "env": {"PATH": "bin:/usr/bin:/bin"}});
    check_covers(&[("bin/srv", "1")], &entry, &["bin/srv"]);
    let entry = json!({"command": "node", "args": ["-r", "mod", "s.js"], "env": {"NODE_PATH": "lib"}});
    check_covers(&[("lib/mod.js", "1")], &entry, &["lib/mod.js"]);
    for project in [
        "[project.scripts]\nsrv = 'm.web:main'\n",
        "[tool.poetry.scripts]\nsrv = { reference = 'm.web:main', type = 'console' }\n",
    ] {
        for words in [["uv", "run", "srv"], ["poetry", "run", "srv"]] {
            let files = [("pyproject.toml", project), ("m/web.py", "1"), ("src/m/web.py", "1")];
            check_covers(&files, &line(&words), &["pyproject.toml", "m/web.py", "src/m/web.py"]);
        }
    }
}

#[test]
fn guarantee_41_a_shell_line_that_does_not_tell_what_it_runs_is_never_started() {
    let nested = (0..8).fold("./s.sh".to_owned(), |line, _| {
        format!("sh -c \"{}\"", line.replace('\\', "\\\\").replace('"', "\\\""))
    });
    for words in [
        &["bash", "-c", "D=sub; $D/s.sh"][..],
        &["bash", "-c", "D=sub; \"$D/s.sh\""],
        &["env", "D=sub", "bash", "-c", "$D/s.sh"],
        &["bash", "-c", "read D <x; node $D"],
        &["bash", "-c", "export D=sub; sh -c '$D/s.sh'"],
        &["bash", "-c", "for f in s; do ./$f.sh; done"],
        &["bash", "-c", "$'./s\\x2esh'"],
        &["bash", "-c", "$(cat name)"],
        &["bash", "-c", "echo \"$(./s.*)\""],
        &["bash", "-c", "`cat name`"],
        &["bash", "-c", "echo x; ./s.s?"],
        &["bash", "-c", "sh ./*.sh"],
        &["bash", "-c", "./s.{sh,x}"],
        &["bash", "-c", "./[s].sh"],
        &["bash", "-c", "[[s].sh"],
        &["bash", "-c", "exec -a echo sh ./s.*"],
        &["bash", "-c", "./echo s.*"],
        &["bash", "-c", "command -p eval './s.s'h"],
        &["zsh", "-c", "sh (s|x).sh"],
        &["zsh", "-c", "sh s<1-9>.sh"],
        &["zsh", "-c", "$PLACE:h/s.sh"],
        &["bash", "-c", "eval './s.s'h"],
        &["bash", "-c", "trap 'sh s.s\"\"h' EXIT"],
        &["bash", "-c", "printf './s%ssh' . | sh"],
        &["bash", "-c", "ls | xargs -n1 sh"],
        &["bash", "-c", "find . -name 's.*' -exec sh {} \\;"],
        &["bash", "-c", "sh <(cat s.sh)"],
        &["bash", "-c", "sh <<< ./s.sh"],
        &["bash", "-c", "f() { sh \"$1\"; }; f s.sh"],
        &["bash", "-c", "set -- s.sh; sh \"$1\"", "x", "y"],
        &["bash", "-c", "~+/s.sh"],
        &["bash", "-c", "a=(s.sh); sh x"],
        &["bash", "-euo", "pipefail", "-c", "./s.*"],
        &["bash", "-c", "-e", "./s.*"],
        &["bash", "-lc", "./s.*"],
        &["env", "-S", "bash -c './s.*'"],
        &["busybox", "sh", "-c", "./s.*"],
        &["bash-5.2", "-c", "./s.*"],
        &["./link", "-c", "./s.*"],
        &["env", "./link", "-c", "./s.*"],
        &["script", "-qc", "./s.*", "/dev/null"],
        &["fish", "-c", "./s.*"],
        &["npx", "-c", "./s.*"],
        &["sh", "-c", &nested],
        &["npm", "run", "glob"],
    ] {
        let home = Home::new();
        for path in ["s.sh", "sub/s.sh"] {
            put(&home, path, SCRIPT);
        }
        put(&home, "name", "./s.sh");
        put(&home, "link", "-> /bin/sh");
        put(&home, "package.json", r#"{"scripts": {"glob": "sh ./s.*"}}"#);
        let entry = line(words);
        home.write("repo/.mcp.json", format!("{{\"mcpServers\":{{\"s\":{entry}}}}}"));
        assert_eq!(home.run(&["trust", "--yes"]).status, 0, "{words:?}");
        let (now, why) = state(&home);
        assert!(now == "unusable" && why.contains("cannot be covered"), "{words:?}: {now} {why}");
        assert!(why.contains("start the script file directly"), "{words:?}: {why}");
        assert!(!runs(&home), "{words:?}");
    }
}

#[test]
fn ordinary_shell_lines_are_started() {
    for (shell, text) in [
        ("sh", "cd sub && cd .. && true"),
        ("sh", "FOO=bar true"),
        ("sh", "set -eu"),
        ("bash", "set -euo pipefail"),
        ("sh", "if [ -f s.sh ]; then true; fi"),
        ("sh", "test -f s.sh || exit 1"),
        ("sh", "echo \"$$ $? done\" >/dev/null 2>&1"),
        ("sh", "mkdir -p tmp; rm -f tmp/*"),
        ("sh", "export FOO=bar"),
        ("sh", "{ true; }; (true)"),
        ("sh", "cd \"$PWD\"; cd $(pwd)"),
        ("sh", "true --home \"$HOME\""),
        ("sh", "true '$x' \\$x \"a * b\" # a $(remark)"),
        ("bash", "[[ s.sh == s* ]]; true"),
    ] {
        let home = Home::new();
        put(&home, "s.sh", SCRIPT);
        put(&home, "sub/y", "");
        let text = format!("{text}\nsh s.sh");
        let entry = line(&[shell, "-c", &text]);
        home.write("repo/.mcp.json", format!("{{\"mcpServers\":{{\"s\":{entry}}}}}"));
        assert_eq!(home.run(&["trust", "--yes"]).status, 0, "{text}");
        assert_eq!(state(&home), ("trusted".to_owned(), String::new()), "{text}");
        assert!(runs(&home), "{text}");
    }
}

#[test]
fn a_shell_line_of_the_users_own_is_started_and_covered_as_far_as_it_can_be_read() {
    let home = Home::new();
    put(&home, "x.sh", SCRIPT);
    home.write(
        ".config/toolpost/config.toml",
        "[mcpServers.s]\ncommand = 'sh'\nargs = ['-c', 'A=$(date) sh x.sh']\n",
    );
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    assert!(runs(&home), "{:?}", state(&home));
    put(&home, "x.sh", OTHER);
    assert!(!runs(&home));
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
