//! `toolpost doctor`: what it shows, what it calls broken, and that it says how to mend it.

use crate::Home;
use crate::terminal::typed_on_a_terminal;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const USER: &str = ".config/toolpost/config.toml";

#[test]
fn a_fresh_machine_is_well() {
    let home = Home::new();
    let ran = home.run(&["doctor"]);
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
    let page = home.run(&["doctor"]).stdout;
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
    assert!(ran.stdout.contains("in all"), "{}", ran.stdout);
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
    assert!(seen.contains("\x1b[32mok"), "{seen:?}");
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
