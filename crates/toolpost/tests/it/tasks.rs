//! `toolpost tasks`, and the tools on tasks and todos as the command line and MCP clients meet them.

mod matrix;
mod watched;

use crate::{Home, Ran};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

/// The lines of a command that must work.
fn lines(home: &Home, args: &[&str]) -> Vec<String> {
    let ran = home.run(args);
    assert_eq!(ran.status, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
    ran.stdout.lines().map(str::to_owned).collect()
}

/// What a command that must fail says, and its status.
fn refused(home: &Home, args: &[&str]) -> (i32, String) {
    let ran = home.run(args);
    assert_eq!(ran.stdout, "", "{args:?}");
    (ran.status, ran.stderr)
}

fn call(home: &Home, role: &str, session: &str, tool: &str, args: Value) -> Value {
    let flags = ["--role", role, "--session", session];
    home.json(&[&["call", tool, &args.to_string()], &flags[..]].concat()).1
}

#[test]
fn tasks_are_added_and_shown_as_a_tree() {
    let home = Home::new();
    let ran = home.run(&["tasks"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("toolpost tasks add TITLE"), "{}", ran.stderr);
    assert_eq!(lines(&home, &["tasks", "add", "build"]), ["○ t1 build (ready)"]);
    assert_eq!(lines(&home, &["tasks", "add", "test", "--depends-on", "t1"]), ["· t2 test (pending)"]);
    let args = [
        "tasks",
        "add",
        "release",
        "--depends-on",
        "t1",
        "--depends-on",
        "t2",
        "--description",
        "All of it.",
    ];
    assert_eq!(lines(&home, &args), ["· t3 release (pending)"]);
    call(&home, "worker", "w", "get_task", json!({"taskId": "t1", "claim": true}));
    let tree = [
        "· t3 release (pending)",
        "├─ ◐ t1 build (claimed by w)",
        "└─ · t2 test (pending)",
        "   └─ ◐ t1 build (claimed by w)",
        "3 tasks: 2 pending, 1 claimed",
    ];
    assert_eq!(lines(&home, &["tasks"]), tree);
    let (_, all) = home.json(&["tasks"]);
    assert_eq!(all["tasks"][2]["dependsOn"], json!(["t1", "t2"]));
    let shown = lines(&home, &["tasks", "show", "t3"]);
    assert_eq!((shown[0].as_str(), shown.last().unwrap().as_str()), ("· t3 release (pending)", "All of it."));
    assert!(shown.contains(&"depends on   t1, t2".to_owned()), "{shown:?}");
    let (_, one) = home.json(&["tasks", "show", "t1"]);
    assert_eq!((&one["owner"], &one["claim"]), (&json!("w"), &json!(1)));
    let (status, said) = refused(&home, &["tasks", "show", "t9"]);
    assert!(status == 2 && said.contains("no task `t9`"), "{said}");
    let (status, said) = refused(&home, &["tasks", "add", "x", "--depends-on", "t9"]);
    assert!(status == 2 && said.contains("no task `t9`"), "{said}");
    let (status, error) = home.json(&["tasks", "show", "t9"]);
    assert_eq!((status, &error["error"]["code"]), (2, &json!("VALIDATION_ERROR")));
    // What was done is in the log.
    let log = lines(&home, &["log"]);
    assert!(log.iter().any(|line| line.contains("task     t1 claimed by w")), "{log:?}");
}

#[test]
fn a_released_owner_is_refused_by_the_number_of_its_claim() {
    let home = Home::new();
    lines(&home, &["tasks", "add", "one"]);
    let flags = ["--role", "worker", "--session", "w"];
    let mut worker = crate::mcp::Caller::new(&home, &flags);
    let claimed = worker.call("get_task", json!({"taskId": "t1", "claim": true}));
    assert!(claimed.contains("claimed by w (claim 1)"), "{claimed}");
    assert_eq!(lines(&home, &["tasks", "release", "t1"]), ["○ t1 one (ready)"]);
    let (status, said) = refused(&home, &["tasks", "release", "t1"]);
    assert!(status == 1 && said.contains("TASK_CONFLICT"), "{said}");
    let late = worker.call("submit_result", json!({"taskId": "t1", "result": "late"}));
    assert!(late.contains("TASK_CONFLICT") && late.contains("was released"), "{late}");
    // Somebody else, in another process, claims it and hands it in.
    assert_eq!(
        call(&home, "worker", "x", "submit_result", json!({"taskId": "t1", "result": "x"}))["success"],
        true
    );
    let late = worker.call("submit_result", json!({"taskId": "t1", "result": "late"}));
    assert!(late.contains("TASK_CONFLICT"), "{late}");
    assert_eq!(home.json(&["tasks", "show", "t1"]).1["result"], "x");
}

#[test]
fn of_several_processes_that_claim_a_task_one_wins() {
    let home = Home::new();
    lines(&home, &["tasks", "add", "one"]);
    let start = |number: usize| {
        let session = format!("w{number}");
        let args = ["call", "get_task", "taskId=t1", "claim=true", "--role", "worker", "--json", "--session"];
        let mut command = home.command(args.into_iter().chain([session.as_str()]));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..6).map(start).collect();
    let (mut won, mut lost) = (0, 0);
    for child in running {
        let (status, outcome) = Ran::of(child.wait_with_output().unwrap()).json();
        match status {
            0 => won += 1,
            _ => {
                assert_eq!((status, &outcome["error"]["code"]), (1, &json!("TASK_CONFLICT")), "{outcome}");
                lost += 1;
            }
        }
    }
    assert_eq!((won, lost), (1, 5));
    assert_eq!(home.json(&["tasks", "show", "t1"]).1["claim"], 1);
}

#[test]
fn what_a_worker_may_not_do_it_may_not_do_as_a_command() {
    let home = Home::new();
    lines(&home, &["tasks", "add", "one", "--role", "orchestrator"]);
    home.write("repo/list.md", "- [ ] two\n");
    for args in [&["tasks", "add", "x"][..], &["tasks", "release", "t1"], &["tasks", "import", "list.md"]] {
        let (status, said) = refused(&home, &[args, &["--role", "worker"]].concat());
        assert!(status == 3 && said.contains("ROLE_FORBIDDEN"), "{args:?}: {said}");
    }
    assert_eq!(lines(&home, &["tasks", "--role", "worker"]).len(), 2);
    let (status, said) = refused(&home, &["tasks", "--role", "boss"]);
    assert!(status == 2 && said.contains("worker") && said.contains("orchestrator"), "{said}");
}

#[test]
fn tasks_go_out_and_come_in_as_json_and_as_a_check_list() {
    let home = Home::new();
    let list =
        "# Plan\n- [ ] release\n  All of it.\n  - [x] build <!-- t1 -->\n  - [ ] test <!-- t2 needs t1 -->\n";
    home.write("repo/plan.md", list);
    let ran = home.run(&["tasks", "import", "plan.md"]);
    assert_eq!(ran.stdout, "· t1 release (pending)\n✓ t2 build (completed)\n○ t3 test (ready)\n");
    assert!(ran.stderr.contains("line 1 is not a task"), "{}", ran.stderr);
    let markdown = home.run(&["tasks", "export", "--format", "markdown"]).stdout;
    let expected = "\
- [ ] release
  All of it.
  - [x] build <!-- t2 -->
  - [ ] test <!-- t3 needs t2 -->
";
    assert_eq!(markdown, expected);
    let json = home.run(&["tasks", "export"]).stdout;
    let tasks: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(tasks["tasks"], home.json(&["tasks"]).1["tasks"]);
    for (text, flags) in [(&markdown, &["--format", "markdown"][..]), (&markdown, &[]), (&json, &[])] {
        let other = Home::new();
        let mut command = other.command([&["tasks", "import", "-"], flags].concat());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        assert_eq!(lines(&other, &["tasks"]), lines(&home, &["tasks"]));
        assert_eq!(other.run(&["tasks", "export", "--format", "markdown"]).stdout, markdown);
    }
}

#[test]
fn a_file_that_is_not_understood_creates_nothing() {
    let home = Home::new();
    home.write("repo/empty.md", "nothing to do\n");
    home.write("repo/broken.json", "{\"tasks\": [{\"titel\": \"x\"}]}");
    home.write("repo/bytes", [0xff, 0xfe, 0x00]);
    for (file, expected) in [
        ("empty.md", "has no tasks; write JSON"),
        ("broken.json", "task 1 of broken.json does not fit: unknown field `titel`"),
        ("bytes", "bytes is not UTF-8"),
        ("none.md", "none.md"),
        ("src", "src"),
    ] {
        let (status, said) = refused(&home, &["tasks", "import", file]);
        assert!(status == 2 && said.contains(expected), "{file}: {said}");
    }
    assert_eq!(home.json(&["tasks"]).1["tasks"], json!([]));
}

#[test]
fn todos_belong_to_the_session_and_outlive_the_process() {
    let home = Home::new();
    let todos = r#"{"todos": [{"content": "one", "status": "pending", "activeForm": "Doing one"}]}"#;
    let written = home.run(&["call", "TodoWrite", todos, "--dialect", "claude"]);
    let expected = "[{\"id\":\"1\",\"content\":\"one\",\"status\":\"pending\",\"priority\":\"medium\"}]\n";
    let in_its_words = "[{\"content\":\"one\",\"status\":\"pending\"}]\n";
    assert_eq!((written.status, written.stdout.as_str()), (0, in_its_words), "{}", written.stderr);
    assert!(written.stderr.contains("activeForm"), "nothing is lost in silence: {}", written.stderr);
    assert_eq!(home.run(&["call", "todoread"]).stdout, expected);
    assert_eq!(home.run(&["call", "todoread", "--policy", "read-only"]).stdout, expected);
    assert_eq!(home.run(&["call", "todoread", "--session", "other"]).stdout, "[]\n");
}

#[test]
fn a_result_is_accepted_and_refused_as_a_command() {
    let home = Home::new();
    lines(&home, &["tasks", "add", "one"]);
    let (status, said) = refused(&home, &["tasks", "complete", "t1"]);
    assert!(status == 1 && said.contains("must be submitted first"), "{said}");
    let submit = || call(&home, "worker", "w", "submit_result", json!({"taskId": "t1", "result": "x"}));
    submit();
    assert_eq!(lines(&home, &["tasks", "reject", "t1", "no tests"]), ["↺ t1 one (deferred)"]);
    assert_eq!(home.json(&["tasks", "show", "t1"]).1["reason"], "no tests");
    submit();
    let (status, _) = refused(&home, &["tasks", "complete", "t1", "--role", "worker"]);
    assert_eq!(status, 3);
    assert_eq!(lines(&home, &["tasks", "complete", "t1"]), ["✓ t1 one (completed)"]);
    assert_eq!(lines(&home, &["tasks", "list"]), lines(&home, &["tasks"]));
    let (_, said) = refused(&home, &["tasks", "show", "one"]);
    assert!(said.contains("like `t1`"), "{said}");
    let (_, said) = refused(&home, &["tasks", "add", " "]);
    assert!(said.contains("title of a task is empty"), "{said}");
    assert!(lines(&home, &["tasks", "show", "t1"]).iter().any(|line| line.ends_with(" UTC")));
}

#[test]
fn an_import_is_one_change() {
    let home = Home::new();
    let plan = "- [ ] release\n  - [x] build\n    - [x] design\n  - [ ] test\n";
    home.write("repo/plan.md", plan);
    lines(&home, &["tasks", "import", "plan.md"]);
    // Whoever watches never sees a task as one to be claimed that the file says is done.
    let log = home.run(&["log", "--json"]).stdout;
    let seen: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let statuses: Vec<&str> = seen.iter().map(|event| event["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["pending", "completed", "completed", "ready"]);
    home.write("repo/wrong.md", "- [ ] fine\n- [x] done\n  - [ ] not done\n");
    let (status, said) = refused(&home, &["tasks", "import", "wrong.md"]);
    assert!(status == 2 && said.contains("`done` is completed, but depends on `not done`"), "{said}");
    assert_eq!(home.json(&["tasks"]).1["tasks"].as_array().unwrap().len(), 4);
}

#[test]
fn a_late_owner_is_refused_in_whatever_process() {
    let home = Home::new();
    let tool = |session: &str, tool: &str, args: Value| call(&home, "worker", session, tool, args);
    let claim = |session: &str| tool(session, "get_task", json!({"taskId": "t1", "claim": true}));
    let submit = |session: &str| tool(session, "submit_result", json!({"taskId": "t1", "result": session}));
    lines(&home, &["tasks", "add", "one"]);
    claim("a");
    lines(&home, &["tasks", "release", "t1"]);
    let late = submit("a");
    assert_eq!(late["error"]["code"], "TASK_CONFLICT", "{late}");
    assert!(late["error"]["message"].as_str().unwrap().contains("was released"), "{late}");
    // Also after somebody else has had it.
    assert_eq!(submit("b")["success"], true);
    lines(&home, &["tasks", "reject", "t1", "not yet"]);
    let late = submit("a");
    assert!(late["error"]["message"].as_str().unwrap().contains("number 1, the last one 2"), "{late}");
    // Whoever was rejected hands in another result, and whoever claims anew may too.
    assert_eq!(submit("b")["success"], true);
    lines(&home, &["tasks", "reject", "t1", "not yet"]);
    claim("a");
    assert_eq!(submit("a")["success"], true);
}
