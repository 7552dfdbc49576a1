//! Agents that start agents, and tools that are prompts, through the command.

use crate::Home;
use crate::chat::seat::Seat;
use crate::mcp::Connection;
use crate::puppet::{Puppet, vendor};
use serde_json::{Value, json};

/// An agent file of a home, with these lines in its head.
pub(crate) fn agent(home: &Home, path: &str, head: &str) {
    let name = path.rsplit('/').next().unwrap().trim_end_matches(".md");
    home.write(&format!("repo/{path}"), format!("---\nname: {name}\ndescription: d\n{head}\n---\nDo it.\n"));
}

/// The events of everything that ran in a home, oldest first.
pub(crate) fn events(home: &Home) -> Vec<Value> {
    let log = home.run(&["log", "--json", "-n", "100000"]).stdout;
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_agent_starts_others_and_uses_its_own_tool() {
    let home = Home::new();
    agent(
        &home,
        "team/worker.md",
        "script: [ { call: list, args: {}, save: l }, { say: \"did {{task}}\" } ]\ntools: [list]",
    );
    let head = r#"agents: [./team/worker.md]
tools:
  - spawn_agent
  - name: shout
    description: Shouts.
    parameters: { text: { type: string, required: true } }
    result_schema: { type: object, properties: { loud: { type: string } }, required: [loud] }
    prompt: "Shout {{text}}"
    script: 'Here: {"loud": "{{text}}!"}'
script:
  - parallel:
    - { call: spawn_agent, args: { agentType: worker, prompt: one }, save: a }
    - { call: spawn_agent, args: { agentType: worker, prompt: two, context: first }, save: b }
    - { call: spawn_agent, args: { agentType: nobody, prompt: x }, save: c, optional: true }
  - { call: shout, args: { text: "{{a.output}}" }, save: s }
  - say: "{{a.output}}|{{b.output}}|{{c.error}}|{{s.data.loud}}""#;
    agent(&home, "boss.md", head);
    let ran = home.run(&["run", "boss.md"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let parts: Vec<&str> = ran.stdout.trim_end().split('|').collect();
    assert_eq!((parts[0], parts[3]), ("did one", "did one!"), "{}", ran.stdout);
    assert_eq!(parts[1], "did # Context\n\nfirst\n\n# Task\n\ntwo");
    assert!(parts[2].contains("worker"), "the types there are are named: {}", parts[2]);
    let began: Vec<Value> =
        events(&home).into_iter().filter(|event| event["fact"]["fact"] == "started").collect();
    let children = began.iter().filter(|event| !event["fact"]["start"]["parent"].is_null()).count();
    assert_eq!((began.len(), children), (4, 3), "{began:?}");
}

#[test]
fn files_beside_one_on_the_command_line_are_used_only_where_it_names_them() {
    let home = Home::new();
    agent(&home, "worker.md", "script: [ { say: hi } ]");
    let head =
        "tools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: worker, prompt: x } } ]";
    agent(&home, "boss.md", head);
    agent(&home, "out.md", "agents: [../worker.md]\nscript: [ { say: hi } ]");
    assert_eq!(home.run(&["run", "boss.md"]).status, 1);
    let ran = home.run(&["run", "out.md"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("out.md:4:10") && ran.stderr.contains("is not in the folder of this file"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_child_may_not_do_more_than_its_parent() {
    let home = Home::new();
    let child = "policy: privileged\ntools: [write, bash]\nscript: [ { call: write, args: { filePath: made.txt, content: x } }, { say: wrote } ]";
    agent(&home, "child.md", child);
    let head = "policy: read-only\nagents: [child.md]\ntools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: child, prompt: x }, save: c, optional: true }, { say: \"{{c.error}}\" } ]";
    agent(&home, "boss.md", head);
    let ran = home.run(&["run", "boss.md", "--allow", "exec"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("write") && ran.stdout.contains("not granted"), "{}", ran.stdout);
    // The file that withholds it is named, and not the one whose agent is denied.
    assert!(ran.stdout.contains("the agent file `boss.md` withholds it"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("child.md"), "{}", ran.stdout);
    assert!(!home.path("repo/made.txt").exists());
}

#[test]
fn guarantee_17_what_is_taken_from_an_agent_is_taken_from_all_below_it() {
    let home = Home::new();
    let script = "script: [ { call: write, args: { filePath: made.txt, content: x } }, { say: wrote } ]";
    agent(&home, "grandchild.md", &format!("tools: [write, read]\n{script}"));
    agent(
        &home,
        "child.md",
        "agents: [grandchild.md]\ntools: [spawn_agent, write]\nscript: [ { call: spawn_agent, args: { agentType: grandchild, prompt: x }, save: c, optional: true }, { say: \"{{c.error}}{{c.output}}\" } ]",
    );
    for taken in ["write", "Write", "wri*"] {
        let head = format!(
            "disallowedTools: [{taken}]\nagents: [child.md]\nscript: [ {{ call: spawn_agent, args: {{ agentType: child, prompt: x }}, save: c, optional: true }}, {{ say: \"{{{{c.error}}}}{{{{c.output}}}}\" }} ]"
        );
        agent(&home, "boss.md", &head);
        let ran = home.run(&["run", "boss.md"]);
        assert_eq!(ran.status, 0, "{taken}: {}", ran.stderr);
        assert!(!home.path("repo/made.txt").exists(), "{taken}: {}", ran.stdout);
        assert!(ran.stdout.contains("no tool `write`"), "{taken}: {}", ran.stdout);
    }
}

#[test]
fn time_that_is_over_while_others_work_is_a_time_out() {
    let home = Home::new();
    let child = "tools: [bash]\nscript: [ { call: bash, args: { command: \"sleep 60\" } }, { say: x } ]";
    agent(&home, "child.md", child);
    let head = "limits: { time: 1s }\nagents: [child.md]\ntools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: child, prompt: x, wait: false } }, { say: waiting } ]";
    agent(&home, "boss.md", head);
    let ran = home.run(&["run", "boss.md", "--allow", "exec", "--session", "s"]);
    assert_eq!(ran.status, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("error[TIMEOUT]") && ran.stderr.contains("1 second"), "{}", ran.stderr);
    let shown = home.run(&["sessions", "show", "s"]).stdout;
    assert!(shown.contains("\nboss  time"), "{shown}");
    assert_eq!(home.run(&["sessions", "replay", "s"]).status, 0);
}

#[test]
fn signals_to_a_parent_are_bounded() {
    let home = Home::new();
    let items: Vec<String> = (0..100).map(|number| format!("\"n{number}\"")).collect();
    home.write("repo/items.txt", format!("{}\n", items.join("\n")));
    let (short, long) = ("y".repeat(3_000), "x".repeat(20_000));
    let child = format!(
        "tools: [signal_parent, read]\nscript:\n  - {{ call: read, args: {{ filePath: items.txt }}, save: items }}\n  - {{ call: signal_parent, args: {{ message: \"{long}\" }}, save: long, optional: true }}\n  - {{ each: \"{{{{items.lines}}}}\", call: signal_parent, args: {{ message: \"{{{{item}}}} {short}\" }}, save: all, optional: true }}\n  - {{ call: signal_parent, args: {{ message: last }}, save: last, optional: true }}\n  - {{ call: signal_parent, args: {{ message: \"{short}\" }}, save: more, optional: true }}\n  - say: \"{{{{long.error}}}}|{{{{more.error}}}}\""
    );
    agent(&home, "child.md", &child);
    let head = "agents: [child.md]\ntools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: child, prompt: x }, save: c }, { say: \"{{c.output}}\" } ]";
    agent(&home, "boss.md", head);
    let ran = home.run(&["run", "boss.md"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("at most 8192 can be sent"), "{}", ran.stdout);
    assert!(ran.stdout.contains("was not sent"), "{}", ran.stdout);
    let all = events(&home);
    let heard = all.iter().filter(|event| event["fact"]["fact"] == "signalled");
    let sizes: Vec<usize> = heard.map(|event| event["fact"]["text"].as_str().unwrap().len()).collect();
    assert!(sizes.len() > 10 && sizes.len() <= 32, "{sizes:?}");
    assert!(sizes.iter().sum::<usize>() <= 64 * 1024, "{sizes:?}");
}

#[test]
fn cyclic_spawns_end_at_the_depth_limit() {
    let home = Home::new();
    let head = "limits: { depth: 2 }\nagents: [\"*\"]\ntools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: self, prompt: x }, save: c, optional: true }, { say: \"({{c.output}}{{c.error}})\" } ]";
    agent(&home, "self.md", head);
    let ran = home.run(&["run", "self.md"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("(((") && ran.stdout.contains("2 levels"), "{}", ran.stdout);
    let began = events(&home).iter().filter(|event| event["fact"]["fact"] == "started").count();
    assert_eq!(began, 3);
}

/// A hundred agents that one starts in one answer, with these limits: how many began, how many at once, and what the last
/// call that failed was told.
fn hundred(limits: &str) -> (usize, i64, String) {
    let home = Home::new();
    agent(&home, "worker.md", "tools: [list]\nscript: [ { call: list, args: {} }, { say: ok } ]");
    let items: Vec<String> = (0..100).map(|number| format!("\"n{number}\"")).collect();
    home.write("repo/items.txt", format!("{}\n", items.join("\n")));
    let head = format!(
        "limits: {limits}\nagents: [worker.md]\ntools: [spawn_agent, read]\nscript:\n  - {{ call: read, args: {{ filePath: items.txt }}, save: items }}\n  - {{ each: \"{{{{items.lines}}}}\", call: spawn_agent, args: {{ agentType: worker, prompt: \"{{{{item}}}}\" }}, save: all, optional: true }}\n  - say: \"{{{{all.count}}}}\""
    );
    agent(&home, "boss.md", &head);
    let ran = home.run(&["run", "boss.md"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "100"), "{}", ran.stderr);
    let (mut running, mut most, mut children, mut refused) = (0_i64, 0, 0, String::new());
    for event in events(&home) {
        match event["fact"]["fact"].as_str() {
            Some("started") if event["agent"] == "worker" => {
                running += 1;
                children += 1;
            }
            Some("ended") if event["agent"] == "worker" => running -= 1,
            _ if !event["error"].is_null() => refused = event["error"].to_string(),
            _ => {}
        }
        most = most.max(running);
    }
    (children, most, refused)
}

#[test]
fn a_hundred_spawns_keep_to_fan_out_and_wait_their_turn() {
    let (children, most, refused) = hundred("{ fanOut: 3 }");
    assert!(children == 100 && most <= 3 && most > 1, "{children} in all, {most} at once");
    assert_eq!(refused, "", "none is refused");
    let (children, most, refused) = hundred("{ fanOut: 3, beyondFanOut: refuse }");
    assert!((3..100).contains(&children) && most <= 3, "{children} in all, {most} at once");
    assert!(
        refused.contains("FANOUT_EXCEEDED") && refused.contains("3 children at work at once"),
        "{refused}"
    );
    let (children, _, refused) = hundred("{ fanOut: 3, children: 7 }");
    assert_eq!(children, 7);
    assert!(refused.contains("FANOUT_EXCEEDED") && refused.contains("7 children in all"), "{refused}");
}

#[test]
fn ctrl_c_ends_every_agent_and_its_commands() {
    let home = Home::new();
    let child = "tools: [bash]\nscript: [ { call: bash, args: { command: \"echo up > up-{{task}}.txt; exec sleep 300.125\" } } ]";
    agent(&home, "child.md", child);
    let head = "agents: [child.md]\ntools: [spawn_agent]\nscript: [ { parallel: [ { call: spawn_agent, args: { agentType: child, prompt: a } }, { call: spawn_agent, args: { agentType: child, prompt: b } } ] } ]";
    agent(&home, "boss.md", head);
    let mut command = home.command(["run", "boss.md", "--allow", "exec"]);
    let mut child =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let is_up = |name: &str| home.path(&format!("repo/up-{name}.txt")).exists();
    while !(is_up("a") && is_up("b")) {
        assert!(child.try_wait().unwrap().is_none(), "it runs until it is told to end");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let told = std::time::Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    println!("ended {} ms after Ctrl-C", told.elapsed().as_millis());
    let survivors = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("300.125")
    });
    assert_eq!(survivors.count(), 0);
    let ended = events(&home).iter().filter(|event| event["fact"]["fact"] == "ended").count();
    assert_eq!(ended, 3, "each agent has its end in the log");
}

#[test]
fn a_child_that_fails_is_reported_and_one_in_the_background_tells_of_its_end() {
    let home = Home::new();
    agent(
        &home,
        "bad.md",
        "tools: [read]\nscript: [ { call: read, args: { filePath: nowhere.txt } }, { say: x } ]",
    );
    agent(
        &home,
        "good.md",
        "tools: [signal_parent]\nscript: [ { call: signal_parent, args: { message: half } }, { say: \"all of it\" } ]",
    );
    let head = "agents: [bad.md, good.md]\ntools: [spawn_agent]\nscript:\n  - { call: spawn_agent, args: { agentType: good, prompt: x, wait: false }, save: g }\n  - { call: spawn_agent, args: { agentType: bad, prompt: x }, save: b, optional: true }\n  - say: \"{{b.error}}\"";
    agent(&home, "boss.md", head);
    let ran = home.run(&["run", "boss.md"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("bad") && ran.stdout.contains("nowhere.txt"), "{}", ran.stdout);
    let all = events(&home);
    let signals: Vec<&str> = all
        .iter()
        .filter(|event| event["fact"]["fact"] == "signalled")
        .filter_map(|event| event["fact"]["text"].as_str())
        .collect();
    assert!(signals.contains(&"half"), "{signals:?}");
    assert!(signals.iter().any(|text| text.contains("all of it")), "{signals:?}");
    let ends: Vec<&Value> = all.iter().filter(|event| event["fact"]["fact"] == "ended").collect();
    assert_eq!(ends.last().unwrap()["agent"], "boss", "the first agent waits for those it has left at work");
    // A script that hears of an end after its last step does not begin anew.
    agent(
        &home,
        "slow.md",
        "tools: [bash]\nscript: [ { call: bash, args: { command: \"sleep 1\" } }, { say: x } ]",
    );
    let head = "agents: [slow.md]\ntools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: slow, prompt: x, wait: false } }, { say: over } ]";
    agent(&home, "leaves.md", head);
    let ran = home.run(&["run", "leaves.md", "--allow", "exec"]);
    assert_eq!(ran.stdout.trim(), "over", "{}", ran.stderr);
    let began = |event: &&Value| event["fact"]["fact"] == "started" && event["agent"] == "slow";
    assert_eq!(events(&home).iter().filter(began).count(), 1);
}

#[test]
fn a_task_is_continued() {
    let home = Home::new();
    agent(&home, "helper.md", "tools: []\nscript: [ { say: \"heard {{task}}\" } ]");
    let head = "agents: [helper.md]\ntools: [task]\nscript:\n  - { call: task, args: { description: d, prompt: first, subagent_type: helper }, save: one }\n  - { call: task, args: { description: d, prompt: second, subagent_type: helper, session_id: \"{{one.data.session_id}}\" }, save: two }\n  - { call: task, args: { description: d, prompt: third, subagent_type: helper, session_id: nonsense }, save: three, optional: true }\n  - say: \"{{one.data.session_id}}={{two.data.session_id}} {{two.data.turns}} {{three.error}}\"";
    agent(&home, "boss.md", head);
    let ran = home.run(&["run", "boss.md"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let (first, rest) = ran.stdout.split_once('=').unwrap();
    assert!(rest.starts_with(&format!("{first} 2 ")), "{}", ran.stdout);
    assert!(rest.contains("no task with the session_id `nonsense`"), "{}", ran.stdout);
    let continued = events(&home).iter().filter(|event| event["fact"]["fact"] == "continued").count();
    assert_eq!(continued, 1);
}

#[test]
fn a_task_that_is_continued_has_the_turns_that_it_has_left() {
    let home = Home::new();
    agent(&home, "helper.md", "limits: { turns: 2 }\ntools: []\nscript: [ { say: \"heard {{task}}\" } ]");
    let more = |prompt: &str| {
        format!(
            "  - {{ call: task, args: {{ description: d, prompt: {prompt}, subagent_type: helper, session_id: \"{{{{one.data.session_id}}}}\" }}, save: {prompt}, optional: true }}\n"
        )
    };
    let head = format!(
        "agents: [helper.md]\ntools: [task]\nscript:\n  - {{ call: task, args: {{ description: d, prompt: first, subagent_type: helper }}, save: one }}\n{}{}  - say: \"{{{{second.output}}}}|{{{{third.error}}}}\"",
        more("second"),
        more("third")
    );
    agent(&home, "boss.md", &head);
    let ran = home.run(&["run", "boss.md"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let (second, third) = ran.stdout.split_once('|').unwrap();
    assert!(second.contains("heard second"), "{}", ran.stdout);
    assert!(third.contains("all its turns"), "{}", ran.stdout);
}

/// The head of an agent with tools that are prompts.
pub(crate) const SUMMARIZER: &str = r#"script: [ { say: x } ]
tools:
  - name: summarize
    description: Summarizes.
    parameters: { text: { type: string, required: true }, style: { type: string } }
    result_schema: { type: object, properties: { bullets: { type: array, items: { type: string } } }, required: [bullets] }
    prompt: "Summarize {{text}}"
    script: "```json\n{\"bullets\": [\"{{text}}\"]}\n```"
  - name: broken
    description: Never fits.
    parameters: {}
    result_schema: { type: object, properties: { n: { type: number } }, required: [n] }
    prompt: "Count"
    script: "{\"n\": \"one\"}"
  - name: read
    description: Shadows.
    prompt: "Read"
    script: "mine""#;

#[test]
fn a_tool_of_an_agent_is_called_from_outside() {
    let home = Home::new();
    agent(&home, "research.md", SUMMARIZER);
    let ran = home.run(&["call", "research.md/summarize", "text=hello", "--json"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let outcome: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(outcome["data"], json!({"bullets": ["hello"]}));
    assert_eq!(outcome["tool"], "research__summarize");
    let ran = home.run(&["call", "research.md/broken", "--json"]);
    let outcome: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.status, &outcome["error"]["code"]), (1, &json!("RESULT_SCHEMA_MISMATCH")));
    assert_eq!(home.run(&["call", "research.md/summarize"]).status, 2, "the argument is needed");
    assert_eq!(home.run(&["call", "research.md/nothing"]).status, 2);
    assert_eq!(home.run(&["call", "research.md/read"]).stdout.trim(), "mine");
    let checked = home.run(&["agents", "check", "research.md"]).stdout;
    assert!(checked.contains("`read` takes the place of the built-in tool"), "{checked}");
}

#[test]
fn tools_and_agents_of_the_user_are_there_over_mcp() {
    let home = Home::new();
    home.write(
        ".config/toolpost/agents/research.md",
        format!("---\nname: research\ndescription: Finds out.\n{SUMMARIZER}\n---\nFind out.\n"),
    );
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    let tools = connection.ask(1, "tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for name in ["research__summarize", "spawn_agent", "task"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let called = connection.call(2, "research__summarize", json!({"text": "over the wire"}));
    assert_eq!(called["result"]["content"][0]["text"], r#"{"bullets":["over the wire"]}"#, "{called}");
    let prompts = connection.ask(3, "prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"][0]["name"], "research", "{prompts}");
    let prompt = connection.ask(4, "prompts/get", json!({"name": "research", "arguments": {"task": "dig"}}));
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Find out.") && text.ends_with("dig"), "{text}");
}

#[test]
fn a_tool_at_the_depth_limit_is_refused() {
    let home = Home::new();
    let head = "limits: { depth: 0 }\ntools:\n  - name: shout\n    description: d\n    prompt: p\n    script: loud\nscript: [ { call: shout, args: {}, save: s, optional: true }, { say: \"{{s.error}}\" } ]";
    agent(&home, "flat.md", head);
    let ran = home.run(&["run", "flat.md"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("0 levels"), "{}", ran.stdout);
}

/// The status of each task.
pub(crate) fn tasks(home: &Home) -> Vec<String> {
    let (_, tasks) = home.json(&["tasks"]);
    let tasks = tasks["tasks"].as_array().unwrap();
    tasks.iter().map(|task| task["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_orchestrator_and_workers_share_the_work() {
    let home = Home::new();
    let worker = "role: worker\ntools: [get_task, submit_result]\nscript:\n  - { call: get_task, args: { taskId: \"{{task}}\", claim: true }, save: t }\n  - { call: submit_result, args: { taskId: \"{{task}}\", result: \"did {{t.data.task.title}}\" } }\n  - say: ok";
    agent(&home, "worker.md", worker);
    // It claims a task and fails.
    let quitter = "role: worker\ntools: [get_task, read]\nscript:\n  - { call: get_task, args: { taskId: \"{{task}}\", claim: true } }\n  - { call: read, args: { filePath: nowhere.txt } }";
    agent(&home, "quitter.md", quitter);
    let boss = "role: orchestrator\nagents: [worker.md, quitter.md]\ntools: [create_task, complete_task, get_task, spawn_agent]\nscript:\n  - { call: create_task, args: { title: parse }, save: a }\n  - { call: create_task, args: { title: release, dependsOn: [\"{{a.data.task.id}}\"] }, save: b }\n  - { call: spawn_agent, args: { agentType: quitter, prompt: \"{{a.data.task.id}}\" }, save: q, optional: true }\n  - { call: get_task, args: { taskId: \"{{a.data.task.id}}\" }, save: free }\n  - { call: spawn_agent, args: { agentType: worker, prompt: \"{{a.data.task.id}}\" } }\n  - { call: complete_task, args: { taskId: \"{{a.data.task.id}}\" }, save: first }\n  - { call: spawn_agent, args: { agentType: worker, prompt: \"{{b.data.task.id}}\" } }\n  - { call: complete_task, args: { taskId: \"{{b.data.task.id}}\" }, save: second }\n  - say: \"{{free.data.task.status}} {{free.data.task.claim}} {{first.data.task.result}} {{second.data.task.result}} {{second.data.task.status}}\"";
    agent(&home, "boss.md", boss);
    let ran = home.run(&["run", "boss.md"]);
    assert_eq!(ran.stdout.trim(), "ready 1 did parse did release completed", "{}", ran.stderr);
    assert_eq!(tasks(&home), ["completed", "completed"]);
}

#[test]
fn a_worker_makes_no_orchestrators() {
    let home = Home::new();
    agent(
        &home,
        "boss.md",
        "role: orchestrator\ntools: [create_task]\nscript:\n  - { call: create_task, args: { title: x } }",
    );
    let starts = "role: worker\nagents: [boss.md]\ntools: [spawn_agent]\nscript:\n  - { call: spawn_agent, args: { agentType: boss, prompt: x } }";
    agent(&home, "starts.md", starts);
    let own = home.run(&["run", "boss.md", "--role", "worker"]);
    assert!(own.status != 0 && own.stderr.contains("create_task"), "{} {}", own.status, own.stderr);
    assert_ne!(home.run(&["run", "starts.md"]).status, 0);
    assert_eq!(tasks(&home).len(), 0);
    assert_eq!(home.run(&["run", "boss.md"]).status, 0);
}

#[test]
fn a_schema_that_is_none_is_refused_before_anything_runs() {
    let home = Home::new();
    agent(&home, "child.md", "script: [ { call: write, args: { filePath: made, content: x } } ]");
    agent(
        &home,
        "boss.md",
        "agents: [child.md]\ntools: [spawn_agent]\nscript:\n  - { call: spawn_agent, args: { agentType: child, prompt: x, resultSchema: { type: 5 } } }",
    );
    let ran = home.run(&["run", "boss.md"]);
    assert!(
        ran.status == 1 && ran.stderr.contains("the schema of the result is not valid"),
        "{}",
        ran.stderr
    );
    assert!(!home.path("repo/made").exists());
}

#[test]
fn a_limit_of_cost_holds_for_agents_below_too() {
    let home = Home::new();
    let (_puppet, url) = Puppet::serve();
    home.write("one.toml", vendor("one", &url));
    // A model that the row of the vendor has no price for.
    agent(&home, "child.md", "model: one/x\ntools: []");
    agent(
        &home,
        "boss.md",
        "agents: [child.md]\nlimits: { cost: 1 }\ntools: [spawn_agent]\nscript:\n  - { call: spawn_agent, args: { agentType: child, prompt: x } }",
    );
    let config = home.path("one.toml").display().to_string();
    let ran = home.run(&["run", "boss.md", "--config", &config]);
    assert!(ran.status == 1 && ran.stderr.contains("`limits.cost` cannot be kept"), "{}", ran.stderr);
}

#[test]
fn a_claim_ends_with_its_agent() {
    let home = Home::new();
    let claim = "role: worker\ntools: [get_task, bash]\nscript:\n  - { call: get_task, args: { taskId: t1, claim: true } }\n  - { call: bash, args: { command: \"echo > up.txt; sleep 60\" } }";
    agent(&home, "claims.md", claim);
    agent(&home, "late.md", &format!("limits: {{ time: 1500ms }}\n{claim}"));
    assert_eq!(home.run(&["tasks", "add", "work"]).status, 0);
    // It reaches a limit.
    assert_eq!(home.run(&["run", "late.md", "--allow", "exec"]).status, 4);
    assert_eq!(tasks(&home), ["ready"]);
    // It is stopped.
    std::fs::remove_file(home.path("repo/up.txt")).unwrap();
    let mut command = home.command(["run", "claims.md", "--allow", "exec", "--session", "stopped"]);
    let null = std::process::Stdio::null;
    let mut child = command.stdout(null()).stderr(null()).spawn().unwrap();
    let is_up = || {
        let is_up = home.path("repo/up.txt").exists();
        std::thread::sleep(std::time::Duration::from_millis(20));
        is_up
    };
    while !is_up() {}
    assert_eq!(tasks(&home), ["claimed"]);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    child.wait().unwrap();
    assert_eq!(tasks(&home), ["ready"]);
    // One whose process dies keeps its claim: it can go on, and ends then.
    std::fs::remove_file(home.path("repo/up.txt")).unwrap();
    let mut command = home.command(["run", "claims.md", "--allow", "exec", "--session", "killed"]);
    let mut child = command.stdout(null()).stderr(null()).spawn().unwrap();
    while !is_up() {}
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(tasks(&home), ["claimed"]);
    assert_eq!(
        home.run(&["run", "--resume", "killed", "--allow", "exec"]).status,
        1,
        "the command is not run again"
    );
    assert_eq!(tasks(&home), ["ready"]);
}

/// An agent with the model `one`, whose tool `shout` has the model `two`; and the flags that name their configuration.
fn with_two_models(home: &Home) -> (Puppet, Puppet, String) {
    let (one, first) = Puppet::serve();
    let (two, second) = Puppet::serve();
    home.write("two.toml", format!("{}{}", vendor("one", &first), vendor("two", &second)));
    let head = "model: one\ntools:\n  - name: shout\n    description: Shouts.\n    model: two/m\n    parameters: { text: { type: string, required: true } }\n    result_schema: { type: object, properties: { loud: { type: string } }, required: [loud] }\n    prompt: \"Shout {{text}}\"";
    agent(home, "loud.md", head);
    (one, two, home.path("two.toml").display().to_string())
}

#[test]
fn a_tool_with_a_model_of_its_own_asks_that_one() {
    let home = Home::new();
    let (one, two, config) = with_two_models(&home);
    let mut command = home.command(["run", "loud.md", "greet", "--config", &config]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    assert_eq!(one.hears()[0].1, "greet");
    one.calls("shout", &json!({"text": "hi"}));
    let asked = two.hears();
    assert!(asked.len() == 1 && asked[0].1.contains("Shout hi"), "{asked:?}");
    // Wrong, and then right.
    two.says(r#"{"loud": 1}"#);
    two.ends();
    assert_eq!(two.hears().len(), 3);
    two.says(r#"Here it is: {"loud": "HI"}"#);
    two.ends();
    let told = one.hears();
    assert!(told.last().unwrap().1.contains(r#"{"loud":"HI"}"#), "{told:?}");
    one.says("It said HI.");
    one.ends();
    let ran = crate::Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.status, ran.stdout.trim()), (0, "It said HI."), "{}", ran.stderr);
    let models: Vec<Value> = events(&home)
        .into_iter()
        .filter(|event| event["fact"]["fact"] == "started")
        .map(|event| event["fact"]["start"]["model"]["vendor"].clone())
        .collect();
    assert_eq!(models, ["one", "two"]);
}

#[test]
fn ctrl_c_ends_requests_that_hang_too() {
    let home = Home::new();
    let (puppet, url) = Puppet::serve();
    home.write("puppet.toml", format!("modelTimeout = \"600s\"\n{}", vendor("puppet", &url)));
    agent(&home, "thinks.md", "model: puppet\ntools: []");
    let works =
        "tools: [bash]\nscript: [ { call: bash, args: { command: \"echo > up.txt; exec sleep 300.375\" } } ]";
    agent(&home, "works.md", works);
    // One level more, so that the end goes down the tree.
    let middle = "agents: [thinks.md, works.md]\ntools: [spawn_agent]\nscript: [ { parallel: [ { call: spawn_agent, args: { agentType: thinks, prompt: a } }, { call: spawn_agent, args: { agentType: works, prompt: b } } ] } ]";
    agent(&home, "middle.md", middle);
    let head = "agents: [middle.md]\ntools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: middle, prompt: x } } ]";
    agent(&home, "boss.md", head);
    let config = home.path("puppet.toml").display().to_string();
    let mut command = home.command(["run", "boss.md", "--allow", "exec", "--config", &config]);
    let null = std::process::Stdio::null;
    let mut child = command.stdout(null()).stderr(null()).spawn().unwrap();
    puppet.hears();
    while !home.path("repo/up.txt").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it runs until it is told to end");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let told = std::time::Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    println!(
        "measure: 4 agents with a command and a hanging request ended {} ms after Ctrl-C",
        told.elapsed().as_millis()
    );
    let survivors = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("300.375")
    });
    assert_eq!(survivors.count(), 0);
    let ended = events(&home).iter().filter(|event| event["fact"]["fact"] == "ended").count();
    assert_eq!(ended, 4, "each agent has its end in the log");
}

#[test]
fn the_terminal_shows_what_each_branch_has_spent() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    agent(&home, "thinks.md", "model: puppet\ntools: []");
    let middle = "agents: [thinks.md]\ntools: [spawn_agent]\nscript:\n  - { call: spawn_agent, args: { agentType: thinks, prompt: first } }\n  - { call: spawn_agent, args: { agentType: thinks, prompt: second } }\n  - say: done";
    agent(&home, "middle.md", middle);
    let head = "agents: [middle.md]\ntools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: middle, prompt: all } }, { say: \"it is over\" } ]";
    agent(&home, "boss.md", head);
    let config = home.path("puppet.toml").display().to_string();
    let mut seat = Seat::new(home.command(["run", "boss.md", "--config", &config]), 100, 24);
    puppet.hears();
    seat.reads("middle › spawn_agent thinks: waits for its model");
    puppet.says("the first answer");
    puppet.ends();
    puppet.hears();
    // What one below it has spent stands beside the call that is still running.
    seat.sees("what the branch has spent", |text| {
        let branch = text.lines().find(|line| line.contains("spawn_agent all"));
        branch.is_some_and(|line| line.contains(" tokens · $0.0"))
    });
    seat.reads("thinks ended: Done · ");
    puppet.says("the second answer");
    puppet.ends();
    seat.reads("it is over");
    assert_eq!(seat.ends(), 0);
}
