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
fn a_fork_is_named_and_begins_at_a_step_that_there_is() {
    let home = recorded();
    let sessions = || -> usize {
        let listed: Value = serde_json::from_str(&home.run(&["sessions", "--json"]).stdout).unwrap();
        listed["sessions"].as_array().unwrap().len()
    };
    let before = sessions();
    let beyond = home.run(&["sessions", "fork", "s", "--at", "99"]);
    assert_eq!(beyond.status, 2, "{}{}", beyond.stdout, beyond.stderr);
    assert!(beyond.stderr.contains("no step 99"), "{}", beyond.stderr);
    assert_eq!(sessions(), before, "nothing was made");
    let forked = home.run(&["sessions", "fork", "s", "--at", "4"]);
    assert_eq!(forked.status, 0, "{}", forked.stderr);
    let name = forked.stderr.split("as the session `").nth(1).and_then(|rest| rest.split('`').next());
    let name = name.unwrap_or_else(|| panic!("its name is printed: {}", forked.stderr));
    assert_eq!(home.run(&["sessions", "show", name]).status, 0);
}

#[test]
fn a_forked_session_counts_its_own_calls_only() {
    let home = recorded();
    let calls = |flags: &[&str]| -> u64 {
        let stats = home.run(&[&["stats", "--json"], flags].concat()).stdout;
        let stats: Value = serde_json::from_str(&stats).unwrap();
        stats["tools"].as_array().unwrap().iter().map(|tool| tool["calls"].as_u64().unwrap()).sum()
    };
    let before = calls(&[]);
    // Its last step but one says the text: nothing is called again.
    let log = home.run(&["log", "--session", "s", "--json", "-n", "10000"]).stdout;
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let last = events
        .filter(|event| event["agent"] == "boss" && event["fact"]["fact"] == "decided")
        .filter_map(|event| event["fact"]["seq"].as_u64())
        .max();
    let at = last.unwrap().to_string();
    let forked = home.run(&["sessions", "fork", "s", "--at", &at, "--session", "f"]);
    assert_eq!(forked.status, 0, "{}", forked.stderr);
    assert_eq!(calls(&["--session", "f"]), 0);
    assert_eq!(calls(&[]), before);
    let listed: Value = serde_json::from_str(&home.run(&["sessions", "--json"]).stdout).unwrap();
    let of_fork = listed["sessions"].as_array().unwrap().iter().find(|one| one["session"] == "f").unwrap();
    assert_eq!((&of_fork["calls"], &of_fork["failures"]), (&json!(0), &json!(0)), "{of_fork}");
    assert_eq!(home.run(&["sessions", "replay", "f"]).status, 0);
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

/// A home with a run of `slow.md` in the session `s` whose command sleeps; the agent says what its task is.
fn with_a_running_run() -> (Home, std::process::Child) {
    let home = Home::new();
    let slow = "tools: [bash]\nscript:\n  - { call: bash, args: { command: \"[ -e up.txt ] || { echo > up.txt; sleep 60; }\" }, optional: true }\n  - { say: \"slow {{task}}\" }";
    home.write("repo/slow.md", format!("---\nname: slow\ndescription: d\n{slow}\n---\nx\n"));
    home.write("repo/quick.md", "---\nname: quick\ndescription: d\nscript: [ { say: quick } ]\n---\nx\n");
    let mut command = home.command(["run", "slow.md", "first", "--session", "s", "--allow", "exec"]);
    let child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let child = child.spawn().unwrap();
    while !home.path("repo/up.txt").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    (home, child)
}

#[test]
fn a_session_with_two_runs_shows_both_and_goes_on_with_the_open_one() {
    let (home, mut child) = with_a_running_run();
    assert_eq!(home.run(&["run", "quick.md", "--session", "s"]).status, 0);
    let held = home.run(&["sessions", "rm", "s"]);
    assert_eq!(held.status, 1, "{}", held.stderr);
    assert!(held.stderr.contains(&format!("held by process {}", child.id())), "{}", held.stderr);
    assert!(held.stderr.contains("stop that process"), "{}", held.stderr);
    let shown = home.run(&["sessions", "show", "s"]).stdout;
    assert!(shown.contains("\nslow  open") && shown.contains("\nquick  done"), "{shown}");
    child.kill().unwrap();
    child.wait().unwrap();
    let shown: Value = serde_json::from_str(&home.run(&["sessions", "show", "s", "--json"]).stdout).unwrap();
    let runs = shown["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{shown}");
    let quick = runs[1]["name"].as_str().unwrap();
    assert!(home.run(&["sessions", "replay", quick]).stdout.contains("quick"), "{quick}");
    let ran = home.run(&["run", "--resume", "s"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "slow first"), "{}", ran.stderr);
    let slow = runs[0]["name"].as_str().unwrap();
    assert!(home.run(&["sessions", "replay", slow]).stdout.contains("slow first"), "{slow}");
    assert_eq!(home.run(&["sessions", "rm", "s"]).status, 0);
}

#[test]
fn of_several_open_runs_of_a_session_one_must_be_named() {
    let (home, mut child) = with_a_running_run();
    let mut command = home.command(["run", "slow.md", "second", "--session", "s", "--allow", "exec"]);
    let null = std::process::Stdio::null;
    let mut second = command.stdout(null()).stderr(null()).spawn().unwrap();
    let show =
        || -> Value { serde_json::from_str(&home.run(&["sessions", "show", "s", "--json"]).stdout).unwrap() };
    // Its command waits for its turn until the first one has ended.
    while show()["runs"].as_array().unwrap().len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    second.kill().unwrap();
    second.wait().unwrap();
    let shown = show();
    let (first, second) = (&shown["runs"][0], &shown["runs"][1]);
    assert!(first["heldBy"].is_string() && second["heldBy"].is_null(), "{shown}");
    child.kill().unwrap();
    child.wait().unwrap();
    let which = home.run(&["run", "--resume", "s"]);
    let name = first["name"].as_str().unwrap();
    assert_eq!(which.status, 2, "{}", which.stderr);
    assert!(which.stderr.contains(name), "{}", which.stderr);
    let ran = home.run(&["run", "--resume", name]);
    assert_eq!(ran.stdout.trim(), "slow first", "{}", ran.stderr);
    let ran = home.run(&["run", "--resume", "s"]);
    assert_eq!(ran.stdout.trim(), "slow second", "{}", ran.stderr);
}
