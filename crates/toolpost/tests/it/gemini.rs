//! `toolpost tools discover` and `call`, by hand and as Gemini CLI's own registry of tools uses them.

use crate::installed::{Wanted, node, npm};
use crate::{Home, Ran, offered, project};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use toolpost_core::Dialect;
use toolpost_core::policy::Profile;

const GEMINI: Wanted = Wanted { folder: "gemini", packages: &["@google/gemini-cli-core@0.61.0"] };

/// Runs `tools call` with this on standard input.
fn call(home: &Home, words: &[&str], input: &str) -> Ran {
    let mut command = home.command([&["tools", "call"], words].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn declarations_are_one_list() {
    let home = Home::new();
    for words in [&["tools", "discover"][..], &["tools", "discover", "--json"]] {
        let ran = home.run(words);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        let list: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
        let names: Vec<&str> = list.iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, offered(Profile::Standard, &Dialect::canonical()));
        for one in &list {
            let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["name", "description", "parametersJsonSchema"]);
            assert_eq!(one["parametersJsonSchema"]["type"], "object");
        }
    }
    let ran = home.run(&["tools", "discover", "--dialect", "gemini", "--policy", "read-only"]);
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(list[0]["name"], "read_file", "{list}");
}

#[test]
fn a_call_talks_only_when_it_fails() {
    let home = Home::new();
    // This is noted at every other command.
    home.write("repo/.toolpost/config.toml", "allow = [\"exec\"]\n");
    assert!(home.run(&["tools"]).stderr.contains("once you trust it"));
    let first = "1: # fixture\n";
    for input in [r#"{"filePath":"README.md"}"#, r#"{"file_path":"README.md","limit":"7"}"#] {
        let ran = call(&home, &["read"], input);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{input}");
        assert!(ran.stdout.starts_with(first), "{input}: {}", ran.stdout);
    }
    let ran = call(&home, &["read"], r#"{"filePath":"REDME.md"}"#);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    for part in ["once you trust it", "error[FILE_NOT_FOUND]", "README.md"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    for (words, input, status, part) in [
        (&["raed"][..], "{}", 2, "nearest: `read`"),
        (&["read"], "{", 2, "not valid JSON"),
        (&["read"], "", 2, "not valid JSON"),
        (&["read"], "{}", 2, "filePath"),
        (&["bash"], r#"{"command":"ls"}"#, 3, "PERMISSION_DENIED"),
        (&["write"], r#"{"filePath":".mcp.json","content":""}"#, 3, ".mcp.json"),
    ] {
        let ran = call(&home, words, input);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{words:?} {input}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{words:?} {input}: {}", ran.stderr);
    }
    let (status, outcome) = call(&home, &["read", "--json"], r#"{"filePath":"README.md"}"#).json();
    assert_eq!((status, &outcome["data"]["totalLines"]), (0, &json!(7)));
}

#[test]
fn gemini_cli_discovers_and_calls() {
    let home = Home::new();
    std::os::unix::fs::symlink(npm(&GEMINI).join("node_modules"), home.path("node_modules")).unwrap();
    home.write("registry.mjs", include_bytes!("gemini/registry.mjs"));
    // The script of the guide, to the letter.
    let guide = std::fs::read_to_string(project().join("docs/guide/gemini.md")).unwrap();
    let script = guide.split("```bash\n").nth(1).unwrap().split("```").next().unwrap();
    home.write("repo/.gemini/toolpost-call", script);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(home.path("repo/.gemini/toolpost-call"), executable).unwrap();
    let settings = guide.lines().find(|line| line.starts_with(r#"{"tools""#)).unwrap();
    let settings: Value = serde_json::from_str(settings).unwrap();
    let word = |key: &str| settings["tools"][key].as_str().unwrap().to_owned();

    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_toolpost")).parent().unwrap();
    let mut command = std::process::Command::new(node());
    command
        .arg(home.path("registry.mjs"))
        .args([word("discoveryCommand"), word("callCommand")])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .env("HOME", home.path(""))
        .current_dir(home.path("repo"));
    let ran = Ran::of(command.output().unwrap());
    assert!(ran.stdout.trim().ends_with("ok"), "{}{}", ran.stdout, ran.stderr);
}
