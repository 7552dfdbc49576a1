//! Agents through the command: files that are found, checked and trusted, and runs of scripts with real tools.

use crate::terminal::{answered_on_a_terminal, talking_on_a_terminal, talking_on_columns};
use crate::{Home, Ran};
use serde_json::Value;

/// An agent whose script appends a line by a command, and then says how many there are.
const APPENDS: &str = "---\nname: appender\ndescription: Appends a line.\ntools: [bash, read]\nscript:\n  - call: bash\n    args: { command: \"echo one >> lines.txt\" }\n  \
    - call: read\n    args: { filePath: lines.txt }\n    save: lines\n  - say: \"now: {{lines.output}}\"\n---\nAppend.\n";

fn lines(home: &Home) -> usize {
    std::fs::read_to_string(home.path("repo/lines.txt")).unwrap_or_default().lines().count()
}

#[test]
fn a_script_runs_with_real_tools_and_is_recorded() {
    let home = Home::new();
    home.write("repo/appender.md", APPENDS);
    let Ran { status, stdout, stderr } = home.run(&["run", "appender.md", "--allow", "exec"]);
    assert_eq!((status, stdout.trim(), lines(&home)), (0, "now: 1: one", 1), "{stderr}");
    assert_eq!(stderr, "", "a pipe gets the text and nothing else");
    let (status, json) = home.json(&["run", "appender.md", "--allow", "exec"]);
    assert_eq!(
        (status, &json["success"], &json["reason"], &json["calls"]),
        (0, &true.into(), &"done".into(), &2.into())
    );
    assert_eq!(lines(&home), 2);
    let session = json["session"].as_str().unwrap().to_owned();
    assert!(session.starts_with("appender-"), "{session}");
    let (_, sessions) = home.json(&["sessions"]);
    assert_eq!(
        sessions["sessions"].as_array().map(Vec::len),
        Some(2),
        "each run has a session of its own: {sessions}"
    );
    let log = home.run(&["log", "--session", &session, "--json", "-n", "1000"]).stdout;
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = |is: &dyn Fn(&Value) -> bool| events.iter().position(is).unwrap();
    let answered = place(&|event| event["fact"]["fact"] == "answered");
    let started = place(&|event| event["event"] == "callStarted");
    let ended = place(&|event| event["fact"]["fact"] == "ended");
    assert!(answered < started && started < ended && ended == events.len() - 1, "{log}");
    assert_eq!(events.iter().filter(|event| event["event"] == "callStarted").count(), 2);
}

#[test]
fn each_thing_that_happens_is_a_line_of_json() {
    let home = Home::new();
    home.write("repo/appender.md", APPENDS);
    let ran = home.run(&["run", "appender.md", "--allow", "exec", "--output", "stream-json"]);
    let kinds: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    let expected = [
        "init",
        "tool_use",
        "message",
        "tool_result",
        "tool_use",
        "message",
        "tool_result",
        "text",
        "message",
        "result",
    ];
    assert_eq!(kinds, expected, "{}", ran.stdout);
}

#[test]
fn without_a_terminal_commands_are_denied_and_the_flag_is_named() {
    let home = Home::new();
    home.write("repo/appender.md", APPENDS);
    let ran = home.run(&["run", "appender.md"]);
    assert!(ran.status == 3 && ran.stderr.contains("--allow exec"), "{} {}", ran.status, ran.stderr);
    assert_eq!(lines(&home), 0);
    // A file that wants more than the run allows does not get it.
    home.write("repo/wide.md", APPENDS.replace("tools:", "policy: privileged\ntools:"));
    assert_eq!(home.run(&["run", "wide.md"]).status, 3);
    home.write("repo/packed.md", APPENDS.replace("tools: [bash, read]", "toolPacks: [shell]"));
    let ran = home.run(&["run", "packed.md"]);
    assert!(
        ran.status == 3 && ran.stderr.contains("packed.md:4:13: the pack `shell`"),
        "{} {}",
        ran.status,
        ran.stderr
    );
    // One that wants less gets less.
    home.write("repo/narrow.md", APPENDS.replace("tools:", "policy: read-only\ntools:"));
    assert_eq!(home.run(&["run", "narrow.md", "--allow", "exec"]).status, 3);
    assert_eq!(lines(&home), 0);
}

#[test]
fn on_a_terminal_a_person_is_asked() {
    let home = Home::new();
    home.write("repo/appender.md", APPENDS);
    let (status, seen) = answered_on_a_terminal(home.command(["run", "appender.md"]), "y\n");
    assert!(status == 0 && seen.contains("yes, once") && lines(&home) == 1, "{status} {seen}");
    assert!(seen.contains("✓") && seen.contains("bash") && seen.contains("2 calls"), "{seen}");
    let (status, seen) = answered_on_a_terminal(home.command(["run", "appender.md"]), "n not now\n");
    assert!(status == 3 && seen.contains("not now") && lines(&home) == 1, "{status} {seen}");
    // A profile that was chosen is not asked about.
    let (status, seen) =
        answered_on_a_terminal(home.command(["run", "appender.md", "--policy", "standard"]), "");
    assert!(status == 3 && seen.contains("--allow exec") && lines(&home) == 1, "{status} {seen}");
}

#[test]
fn what_is_typed_before_a_question_does_not_answer_it() {
    let home = Home::new();
    let script = APPENDS.replacen(
        "script:\n",
        "script:\n  - say: soon\n  - { call: read, args: { filePath: src/main.rs } }\n",
        1,
    );
    home.write("repo/appender.md", script);
    let (mut is_early, mut is_late) = (false, false);
    let (status, seen) = talking_on_a_terminal(home.command(["run", "appender.md"]), |seen| {
        if !is_early {
            is_early = true;
            return Some("y\n".to_owned());
        }
        (seen.contains("your answer: ") && !std::mem::replace(&mut is_late, true)).then(|| "n\n".to_owned())
    });
    assert!(status == 3 && lines(&home) == 0, "{status} {seen}");
}

#[test]
fn instructions_behind_a_link_are_judged_by_where_it_leads() {
    let home = Home::new();
    home.write("repo/.env", "SECRET=canary-4711\n");
    std::os::unix::fs::symlink(".env", home.path("repo/AGENTS.md")).unwrap();
    home.write("repo/a.md", "---\ndescription: d\ninstructions: true\nscript:\n  - say: hi\n---\nx\n");
    let ran = home.run(&["run", "a.md"]);
    assert!(ran.status == 0 && ran.stderr.contains("AGENTS.md"), "{}", ran.stderr);
    let log = home.run(&["log", "--json", "-n", "1000"]).stdout;
    assert!(log.contains("\"system\"") && !log.contains("canary-4711"), "{log}");
}

#[test]
fn on_a_narrow_terminal_lines_break_at_spaces() {
    let home = Home::new();
    home.write("repo/appender.md", APPENDS);
    let mut typed = Some("y\n".to_owned());
    let (status, seen) = talking_on_columns(40, home.command(["run", "appender.md"]), |seen| {
        typed.take_if(|_| seen.contains("your answer: "))
    });
    assert_eq!(status, 0, "{seen}");
    assert!(seen.contains("  n  no; a reason may follow, and the\n     model gets it\n"), "{seen}");
    // Calls, the agent's text and the last line stand apart.
    assert!(seen.contains("\n\n\u{1b}[1;33m?") && seen.contains("\n\n\u{1b}[2m3 turns"), "{seen:?}");
}

#[test]
fn an_unknown_tool_is_told_in_a_pipe_too() {
    let home = Home::new();
    home.write("repo/a.md", "---\ndescription: d\ntools: [read, raed]\nscript:\n  - say: done\n---\nx\n");
    for args in [&["run", "a.md"][..], &["run", "a.md", "--json"]] {
        let ran = home.run(args);
        assert!(ran.status == 0 && ran.stderr.contains("`raed`"), "{args:?}: {} {}", ran.status, ran.stderr);
    }
}

#[test]
fn a_run_that_ends_at_a_limit_names_it() {
    let home = Home::new();
    let check = |limits: &str, expected: &str| {
        home.write("repo/limited.md", APPENDS.replace("tools:", &format!("limits: {limits}\ntools:")));
        let ran = home.run(&["run", "limited.md", "--allow", "exec"]);
        assert!(ran.status != 0 && ran.stderr.contains(expected), "{} {}", ran.status, ran.stderr);
    };
    check("{ turns: 1 }", "the run ended at its limit of 1 turn; raise `limits.turns` in the agent file");
    check("{ time: 1ms }", "the run ended at its limit of 1 ms; raise `limits.time` in the agent file");
}

#[test]
fn what_an_agent_does_not_choose_it_does_not_get() {
    let home = Home::new();
    let agent = |tools: &str, call: &str| {
        format!("---\ndescription: d\n{tools}\nscript:\n  - call: {call}\n  - say: done\n---\nx\n")
    };
    let write = "write\n    args: { filePath: a.txt, content: x }";
    let batch = "batch\n    args: { calls: [{ tool: write, args: { filePath: a.txt, content: x } }] }\n    save: b\n  - say: \"{{b.output}}\"";
    for (tools, call) in [
        ("tools: [read]", write),
        ("disallowedTools: [Write]", write),
        ("tools: { write: false }", write),
        ("tools: []", write),
        ("tools: [read, batch]", batch),
    ] {
        home.write("repo/a.md", agent(tools, call));
        let ran = home.run(&["run", "a.md"]);
        assert!(!home.path("repo/a.txt").exists(), "{tools}: {} {}", ran.stdout, ran.stderr);
    }
    home.write("repo/a.md", agent("tools: [Read, write_file]", write));
    assert_eq!(home.run(&["run", "a.md"]).status, 0);
    assert!(home.path("repo/a.txt").exists());
}

#[test]
fn guarantee_16_agents_of_a_workspace_wait_for_trust() {
    let home = Home::new();
    home.write("repo/.toolpost/agents/helper.md", APPENDS.replace("name: appender", "name: helper"));
    let ran = home.run(&["run", "helper", "--allow", "exec"]);
    assert!(ran.status == 3 && ran.stderr.contains("toolpost trust"), "{} {}", ran.status, ran.stderr);
    assert_eq!(lines(&home), 0);
    let (_, listed) = home.json(&["agents"]);
    assert_eq!(
        (&listed["agents"][0]["name"], &listed["agents"][0]["usable"]),
        (&"helper".into(), &false.into())
    );
    assert_eq!(home.run(&["trust", "--yes", ".toolpost/agents/helper.md"]).status, 0);
    assert_eq!(home.run(&["run", "helper", "--allow", "exec"]).status, 0);
    // One byte more, and it waits again.
    home.write("repo/.toolpost/agents/helper.md", APPENDS.replace("name: appender", "name: helper") + "\n");
    assert_eq!(home.run(&["run", "helper", "--allow", "exec"]).status, 3);
    assert_eq!(lines(&home), 1);
    // Naming the file is consent for this run.
    assert_eq!(home.run(&["run", ".toolpost/agents/helper.md", "--allow", "exec"]).status, 0);
}

#[test]
fn files_are_checked_with_line_and_field() {
    let home = Home::new();
    home.write(
        "repo/bad.md",
        "---\ndescription: d\ntools: [raed, read]\ntoolPacks: [serach]\nlimits: { turns: x }\n---\nx",
    );
    let ran = home.run(&["agents", "check", "bad.md"]);
    assert!(
        ran.status == 1 && ran.stdout.contains("bad.md:5:18: `limits.turns` is a text"),
        "{}",
        ran.stdout
    );
    home.write("repo/names.md", "---\ndescription: d\ntools: [raed, read]\ntoolPacks: [serach]\n---\nx");
    let (status, json) = home.json(&["agents", "check", "names.md"]);
    let messages = json["files"][0]["problems"].to_string();
    assert!(
        status == 1
            && messages.contains("did you mean `read`?")
            && messages.contains("did you mean `search`?"),
        "{json}"
    );
    let ran = home.run(&["run", "bad.md"]);
    assert!(ran.status == 2 && ran.stderr.contains("bad.md:5:18"), "{} {}", ran.status, ran.stderr);
    home.write("repo/script.md", "---\ndescription: d\nscript:\n  - cal: read\n---\nx");
    assert_eq!(home.run(&["agents", "check", "script.md"]).status, 1);
    for (folder, file, text) in [
        (".claude/agents", "a.md", "---\nname: a\ndescription: d\ntools: Read, Bash\nmodel: sonnet\n---\nx"),
        (".opencode/agents", "b.md", "---\ndescription: d\nmode: subagent\n---\nx"),
        (".gemini/agents", "c.md", "---\nname: c\ndescription: d\ntools: [read_file]\n---\nx"),
        (".codex/agents", "d.toml", "name = 'd'\ndescription = 'd'\ndeveloper_instructions = 'x'\n"),
        (".github/agents", "e.agent.md", "---\ndescription: d\ntools: [search, unknown_tool]\n---\nx"),
    ] {
        home.write(&format!("repo/{folder}/{file}"), text);
    }
    let (status, json) = home.json(&["agents", "check"]);
    assert_eq!((status, json["files"].as_array().map(Vec::len)), (0, Some(5)), "{json}");
}

#[test]
fn bad_invocations_say_what_to_do() {
    let home = Home::new();
    home.write("repo/real.md", "---\ndescription: d\n---\nBe brief.");
    // Nothing to check is refused for a program as it is for a person.
    let (status, json) = home.json(&["agents", "check"]);
    assert_eq!((status, &json["error"]["code"]), (2, &"FILE_NOT_FOUND".into()), "{json}");
    for (args, status, text) in [
        (&["run", "nothing"][..], 2, "there is no agent `nothing`"),
        (&["run", "nothing.md"], 2, "`nothing.md` does not exist"),
        (&["run", "real.md", "hello"], 1, "no model"),
        (&["run", "real.md", "hello", "--model", "anthropic"], 1, "ANTHROPIC_API_KEY"),
        (&["run", "real.md", "hello", "--model", "nobody/x"], 2, "no vendor `nobody`"),
    ] {
        let ran = home.run(args);
        assert!(ran.status == status && ran.stderr.contains(text), "{args:?}: {} {}", ran.status, ran.stderr);
    }
}

#[test]
fn ctrl_c_ends_a_run_with_what_there_is() {
    let home = Home::new();
    let script = "---\ndescription: d\nscript:\n  - say: working\n  - call: bash\n    args: { command: \"sleep 60\" }\n  - say: never\n---\nx\n";
    home.write("repo/slow.md", script);
    let mut is_sent = false;
    let (status, seen) = talking_on_a_terminal(home.command(["run", "slow.md", "--allow", "exec"]), |seen| {
        // The live region shows the call; then somebody has had enough. Without a controlling terminal the signal is sent by hand.
        if seen.contains("sleep 60") && !is_sent {
            is_sent = true;
            let me = std::process::id().to_string();
            let found =
                std::process::Command::new("pgrep").args(["-P", &me, "-f", "run slow.md"]).output().unwrap();
            let pid = String::from_utf8_lossy(&found.stdout).lines().next().unwrap_or_default().to_owned();
            std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
        }
        None
    });
    assert!(is_sent && status == 130 && seen.contains("stopping"), "{status} {seen}");
}
