//! `--dialect`: what is offered, and that every dialect is understood whatever the session's own is.

use crate::offered;
use serde_json::Value;
use std::process::{Command, Output};
use toolpost_core::Registry;
use toolpost_core::policy::Profile;

/// Runs toolpost beside a file of the lines `line 1` to `line 9`.
fn toolpost(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (1..10).map(|line| format!("line {line}\n")).collect();
    std::fs::write(folder.path().join("a.txt"), text).unwrap();
    Command::new(env!("CARGO_BIN_EXE_toolpost"))
        .args(arguments)
        .current_dir(&folder)
        .env_remove("AGENT_WORKSPACE_ROOT")
        .env("XDG_CONFIG_HOME", folder.path())
        .env("XDG_DATA_HOME", folder.path())
        .output()
        .unwrap()
}

/// The text, and what was said beside it.
fn check(arguments: &[&str], text: &str, talk: &str) {
    let output = toolpost(arguments);
    let shown = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(
        (shown(&output.stdout).as_str(), shown(&output.stderr).as_str()),
        (text, talk),
        "{arguments:?}"
    );
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
}

#[test]
fn a_call_in_any_dialect_works() {
    check(
        &["call", "Read", r#"{"file_path":"a.txt","offset":3,"limit":1}"#],
        "3: line 3\n(lines 3–3 of 9; go on with offset=4)\n",
        "repaired `tool`: `Read` → `read`\n",
    );
    check(
        &["call", "Read", r#"{"file_path":"a.txt","offset":3,"limit":1}"#, "--dialect", "claude"],
        "3: line 3\n(lines 3–3 of 9; go on with offset=4)\n",
        "",
    );
    check(&["call", "Read", "file_path=a.txt", "offset=9", "--dialect", "claude"], "9: line 9\n", "");
}

#[test]
fn offsets_that_count_from_0_start_at_line_1_and_go_on_where_they_say() {
    let first = "1: line 1\n2: line 2\n(lines 1–2 of 9; go on with offset=2)\n";
    let arguments = r#"{"path":"a.txt","offset":0,"limit":2}"#;
    // Where `read` counts from 1 and the name that was called from 0, it is said which one is meant.
    check(
        &["call", "read_file", arguments],
        "1: line 1\n2: line 2\n(lines 1–2 of 9; go on with offset=3 of `read`)\n",
        "repaired `tool`: `read_file` → `read`\nrepaired `offset`: 0 → offset=1, since it counts from 0\n",
    );
    let second = r#"{"path":"a.txt","offset":2,"limit":1}"#;
    let numbered = r#"{"path":"a.txt","offset":0,"limit":2,"lineNumbers":true}"#;
    check(&["call", "read_file", numbered, "--dialect", "long"], first, "");
    // Raw unless asked for otherwise, and then with the lines that were asked for and nothing else.
    check(&["call", "read_file", arguments, "--dialect", "long"], "line 1\nline 2\n", "");
    check(&["--dialect", "long", "call", "read_file", second], "line 3\n", "");
    // What Gemini CLI had before is read as it was, and answered in the names that are offered.
    let first = "1: line 1\n2: line 2\n(lines 1–2 of 9; go on with start_line=3)\n";
    let repaired = "repaired `offset`: 0 → start_line=1, since it counts from 0\n";
    check(&["call", "read_file", arguments, "--dialect", "gemini"], first, repaired);
    check(
        &["--dialect", "gemini", "call", "read_file", second],
        "3: line 3\n(lines 3–3 of 9; go on with start_line=4)\n",
        "repaired `offset`: 2 → start_line=3, since it counts from 0\n",
    );
    check(&["call", "read_file", r#"{"path":"a.txt","offset":9}"#, "--dialect", "codex"], "9: line 9\n", "");
}

#[test]
fn tools_are_listed_and_shown_as_the_dialect_offers_them() {
    let output = toolpost(&["tools", "--json", "--dialect", "gemini"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> =
        printed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, offered(Profile::Standard, &toolpost_tools::dialects().named("gemini").unwrap()));
    assert_eq!(names[..2], ["read_file", "write_file"]);
    let output = toolpost(&["tools", "show", "read", "--json", "--dialect", "gemini"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&printed["name"], &printed["canonicalName"]), (&"read_file".into(), &"read".into()));
    let start = &printed["inputSchema"]["properties"]["start_line"];
    assert_eq!(start["description"], "First line wanted, counting from 1; 0 is the first line too.");
    assert_eq!(start["default"], 1);
    assert!(printed["inputSchema"]["properties"].get("limit").is_none());
    assert_eq!(printed["inputSchema"]["required"], serde_json::json!(["file_path"]));
}

#[test]
fn an_unknown_dialect_is_told_the_nearest() {
    let output = toolpost(&["tools", "--dialect", "gemeni"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no dialect `gemeni`; nearest: `gemini`"), "{said}");
}

#[test]
fn tables_name_the_arguments_that_the_tools_have() {
    let registry = Registry::new();
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    for dialect in toolpost_tools::dialects().all() {
        for alias in dialect.entries() {
            let Some(entry) = registry.get(&alias.tool) else { continue };
            let properties = entry.prepared().unwrap().definition.input["properties"].clone();
            let arguments = alias.arguments.iter().map(|argument| match &argument.to.list {
                Some(list) => list,
                None => &argument.to.name,
            });
            for name in arguments.chain(dialect.absent(&alias.tool)) {
                assert!(properties.get(name).is_some(), "{} in {}: `{name}`", alias.tool, dialect.name());
            }
            for (name, text) in &alias.texts {
                assert!(properties.get(name).is_some() && !text.is_empty(), "{}: `{name}`", alias.tool);
            }
            for ignored in alias.ignored.iter().filter(|ignored| ignored.list.is_none()) {
                assert!(properties.get(&ignored.name).is_none(), "{} ignores {ignored:?}", alias.tool);
            }
        }
    }
}
