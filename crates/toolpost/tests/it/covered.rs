//! Trust covers what is started: every workspace file on a command line, by its content, at the moment of the start.

mod command_lines;
mod programs;
mod runners;
mod shell_lines;
mod starts;

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
