//! Sessions of agents: shown, replayed, forked, exported and removed.

use crate::Home;
use serde_json::{Value, json};

/// A home in which an agent with a child and a changed file has run, as the session `s`.
fn recorded() -> Home {
    let home = Home::new();
    home.write("repo/child.md", "---\nname: child\ndescription: d\ntools: [list]\nscript: [ { call: list, args: {} }, { say: \"looked for {{task}}\" } ]\n---\nLook.\n");
    let boss = "agents: [child.md]\ntools: [spawn_agent, edit, read]\nscript:\n  - { call: read, args: { filePath: README.md }, save: r }\n  - { call: edit, args: { filePath: README.md, oldString: \"# fixture\", newString: \"# <b>changed</b>\" } }\n  - { call: spawn_agent, args: { agentType: child, prompt: something }, save: c }\n  - { call: read, args: { filePath: nowhere.txt }, optional: true }\n  - say: \"{{c.output}} for {{task}}\"";
    home.write("repo/boss.md", format!("---\nname: boss\ndescription: d\n{boss}\n---\nLead.\n"));
    let ran = home.run(&["run", "boss.md", "me", "--session", "s"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "looked for something for me"), "{}", ran.stderr);
    home
}

#[test]
fn a_session_is_shown_as_a_tree() {
    let home = recorded();
    let shown = home.run(&["sessions", "show", "s"]).stdout;
    assert!(shown.contains("\nboss  done") && shown.contains("\n  child  done"), "{shown}");
    let shown: Value = serde_json::from_str(&home.run(&["sessions", "show", "s", "--json"]).stdout).unwrap();
    assert_eq!((shown["agents"].as_array().unwrap().len(), &shown["heldBy"]), (2, &Value::Null), "{shown}");
    assert_eq!(shown["agents"][1]["parent"], shown["agents"][0]["id"]);
    let unknown = home.run(&["sessions", "show", "ss"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.stderr.contains("nearest: `s`"), "{}", unknown.stderr);
}

#[test]
fn a_recorded_run_replays_to_the_same_transcript() {
    let home = recorded();
    let first = home.run(&["sessions", "replay", "s"]);
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(
        first.stdout.contains("## called edit") && first.stdout.contains("# child ("),
        "{}",
        first.stdout
    );
    assert!(first.stdout.contains("## failed read"), "{}", first.stdout);
    // Nothing of it depends on the workspace, or on the agents' files.
    std::fs::remove_file(home.path("repo/boss.md")).unwrap();
    std::fs::remove_file(home.path("repo/README.md")).unwrap();
    assert_eq!(home.run(&["sessions", "replay", "s"]).stdout, first.stdout);
    assert!(!home.path("repo/README.md").exists(), "nothing ran");
}

#[test]
fn a_run_is_forked_from_any_step() {
    let home = recorded();
    let began = |home: &Home| {
        let log = home.run(&["log", "--json", "-n", "10000"]).stdout;
        log.lines().filter(|line| line.contains("\"fact\":\"started\"")).count()
    };
    assert_eq!(began(&home), 2);
    let ran = home.run(&["sessions", "fork", "s", "--at", "4", "--output", "json"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["text"], "looked for something for me");
    assert_ne!(result["session"], "s");
    assert_eq!(began(&home), 4, "the child was started anew, the edit was not made again");
    let readme = std::fs::read_to_string(home.path("repo/README.md")).unwrap();
    assert!(readme.starts_with("# <b>changed</b>"), "{readme}");
    let ran = home.run(&["sessions", "fork", "s", "--at", "0", "--task", "you", "--output", "json"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["success"], false, "what was edited is not there to be edited again: {result}");
    let session = result["session"].as_str().unwrap();
    assert_eq!(home.run(&["sessions", "replay", session]).status, 0);
}

#[test]
fn a_session_is_exported_and_removed() {
    let home = recorded();
    let page = home.run(&["sessions", "export", "s"]).stdout;
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("&lt;b&gt;changed") && !page.contains("<b>changed"), "texts are no tags");
    assert!(page.contains("class=\"plus\"") && page.contains("class=\"minus\""), "diffs have colours");
    assert!(
        !page.contains("<script") && !page.contains("http://") && !page.contains("src="),
        "it stands alone"
    );
    let exported: Value =
        serde_json::from_str(&home.run(&["sessions", "export", "s", "--format", "json"]).stdout).unwrap();
    assert_eq!(exported["agents"][0]["agent"], "boss");
    assert!(exported["events"].as_array().unwrap().len() > 20);
    let removed = home.run(&["sessions", "rm", "s"]);
    assert_eq!(removed.status, 0, "{}", removed.stderr);
    assert_eq!(home.run(&["sessions", "rm", "s"]).status, 2);
    assert_eq!(home.run(&["sessions", "show", "s"]).status, 2);
    let undone = home.run(&["undo"]);
    assert_eq!(undone.status, 0, "what it has changed can still be undone: {}", undone.stderr);
    let listed: Value = serde_json::from_str(&home.run(&["sessions", "--json"]).stdout).unwrap();
    assert!(
        !listed["sessions"].as_array().unwrap().iter().any(|one| one["session"] == json!("s")),
        "{listed}"
    );
}
