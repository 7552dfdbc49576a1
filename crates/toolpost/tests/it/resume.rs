//! Runs that are killed and go on: the same result, nothing done twice, and one process at a time.

use crate::{Home, postgres_server};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::Duration;
use toolpost_store::StoreUrl;

/// What the agents write once, and only once.
const LINES: &str = "begin\nx\nend\n";

/// An agent that starts three others, each of which changes a file in two steps, and then changes one itself.
fn set_up(home: &Home) {
    let worker = r#"tools: [write, edit, vfs_write]
script:
  - { call: write, args: { filePath: "{{task}}.txt", content: "begin\nend\n" } }
  - { call: edit, args: { filePath: "{{task}}.txt", oldString: "end", newString: "x\nend" } }
  - { call: vfs_write, args: { path: "{{task}}.txt", content: "{{task}}" }, save: v }
  - say: "did {{task}}""#;
    home.write("repo/worker.md", format!("---\nname: worker\ndescription: d\n{worker}\n---\nWork.\n"));
    let boss = r#"agents: [worker.md]
limits: { time: 5m }
tools:
  - spawn_agent
  - edit
  - write
  - name: shout
    description: d
    parameters: { text: { type: string } }
    prompt: "{{text}}"
    script: "{{text}}!"
script:
  - { call: write, args: { filePath: own.txt, content: "begin\nend\n" } }
  - parallel:
    - { call: spawn_agent, args: { agentType: worker, prompt: a }, save: a }
    - { call: spawn_agent, args: { agentType: worker, prompt: b }, save: b }
    - { call: spawn_agent, args: { agentType: worker, prompt: c }, save: c }
  - { call: edit, args: { filePath: own.txt, oldString: "end", newString: "x\nend" } }
  - { call: shout, args: { text: "{{a.output}}" }, save: s }
  - say: "{{a.output}}|{{b.output}}|{{c.output}}|{{s.output}}""#;
    home.write("repo/boss.md", format!("---\nname: boss\ndescription: d\n{boss}\n---\nLead.\n"));
}

const RESULT: &str = "did a|did b|did c|did a!";

fn start(home: &Home, flags: &[&str]) -> Child {
    let args = [&["run", "boss.md", "--session", "s", "--output", "json"], flags].concat();
    home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Goes on, in a process of its own, until the run has ended. Returns its text, and whether there was anything to go on with.
fn go_on(home: &Home, flags: &[&str]) -> (String, bool) {
    let ran = home.run(&[&["run", "--resume", "s", "--output", "json"], flags].concat());
    let result: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    if ran.status == 0 {
        // One that had ended prints its result.
        let was_open = !ran.stderr.contains("has ended");
        return (result["text"].as_str().unwrap().to_owned(), was_open);
    }
    let message = result["error"]["message"].as_str().unwrap_or_default();
    let is_unborn = message.contains("no session") || message.contains("no agent has run");
    assert!(is_unborn, "{}{}", ran.stdout, ran.stderr);
    let again = [&["run", "boss.md", "--session", "s", "--output", "json"], flags].concat();
    let ran = home.run(&again);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    (result["text"].as_str().unwrap().to_owned(), false)
}

/// Kills a run after so long, and again, and lets a third process finish it.
fn kill_and_go_on(home: &Home, flags: &[&str], delays: [u64; 2]) -> bool {
    let mut child = start(home, flags);
    // Half of them are killed at any instant of the process, and half in the middle of the run, however slow the machine is.
    let is_on_disk = !flags.iter().any(|flag| flag.starts_with("vfs:"));
    if is_on_disk && delays[0].is_multiple_of(2) {
        while !home.path("repo/own.txt").exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(delays[0] / 4));
    } else {
        std::thread::sleep(Duration::from_millis(delays[0]));
    }
    let _ = child.kill();
    child.wait().unwrap();
    let args = [&["run", "--resume", "s"], flags].concat();
    let mut second = home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(delays[1]));
    let _ = second.kill();
    second.wait().unwrap();
    let (text, was_open) = go_on(home, flags);
    assert_eq!(text, RESULT, "killed after {delays:?} ms");
    was_open
}

fn check_files(home: &Home, delays: [u64; 2]) {
    for name in ["a", "b", "c", "own"] {
        let text = std::fs::read_to_string(home.path(&format!("repo/{name}.txt"))).unwrap();
        assert_eq!(text, LINES, "{name} after {delays:?} ms: each change was made once");
    }
}

/// Numbers that differ by seed and nothing else.
fn random(seed: u64) -> u64 {
    let value = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^ (value >> 32)
}

#[test]
fn guarantee_30_a_killed_run_goes_on_and_does_nothing_twice() {
    let count = if std::env::var_os("TOOLPOST_SOAK").is_some() { 200 } else { 20 };
    let mut open = 0;
    for round in 0..count {
        let home = Home::new();
        set_up(&home);
        let delays = [random(round) % 160, random(round + 1_000_000) % 120];
        open += u64::from(kill_and_go_on(&home, &[], delays));
        check_files(&home, delays);
    }
    println!(
        "measure: guarantee 30: {count} runs killed twice, {open} open when the third process went on; 0 changes twice"
    );
    assert!(open > 0, "no kill hit a run");
}

#[test]
fn a_killed_run_goes_on_in_another_process_over_postgresql() {
    let server = postgres_server::Server::start();
    for (round, is_stored) in [false, true, false, true].into_iter().enumerate() {
        let home = Home::new();
        set_up(&home);
        let StoreUrl::Postgres(url) = server.database() else { panic!("a database on the server") };
        let workspace: &[&str] = if is_stored { &["--workspace", "vfs:files"] } else { &[] };
        let flags = [&["--store", url.as_str()], workspace].concat();
        let delays = [60 + random(round as u64) % 200, random(round as u64 + 7) % 150];
        kill_and_go_on(&home, &flags, delays);
        if !is_stored {
            check_files(&home, delays);
        }
    }
}

#[test]
fn a_run_goes_on_in_its_own_workspace_only() {
    let home = Home::new();
    set_up(&home);
    let store = format!("sqlite:{}", home.path("shared.db").display());
    let slow = "---\nname: slow\ndescription: d\ntools: [bash]\nscript: [ { call: bash, args: { command: \"echo > up.txt; sleep 60\" } }, { say: x } ]\n---\nx\n";
    home.write("repo/slow.md", slow);
    let args = ["run", "slow.md", "--session", "s", "--store", &store, "--allow", "exec"];
    let mut child = home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !home.path("repo/up.txt").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let held = home.run(&["run", "--resume", "s", "--store", &store, "--allow", "exec"]);
    assert_eq!(held.status, 1, "{}", held.stderr);
    assert!(held.stderr.contains(&format!("process {}", child.id())), "the holder is named: {}", held.stderr);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::create_dir_all(home.path("other/.git")).unwrap();
    let other = home.path("other").display().to_string();
    let elsewhere = home.run(&["run", "--resume", "s", "--store", &store, "--workspace", &other]);
    assert_eq!(elsewhere.status, 2);
    let repo = home.path("repo").display().to_string();
    assert!(elsewhere.stderr.contains(&format!("needs the workspace `{repo}`")), "{}", elsewhere.stderr);
    let ran = home.run(&["run", "--resume", "s", "--store", &store, "--allow", "exec"]);
    assert_eq!(ran.status, 1, "what a command did cannot be known: {}", ran.stdout);
    assert!(ran.stderr.contains("INTERRUPTED") && ran.stderr.contains("is unknown"), "{}", ran.stderr);
}

#[test]
fn a_hung_process_loses_its_run_and_what_it_writes_late_is_refused() {
    let home = Home::new();
    let slow = "---\nname: slow\ndescription: d\ntools: [bash, write]\nscript:\n  - { call: bash, args: { command: \"echo > up.txt; sleep 3\" }, optional: true }\n  - { call: write, args: { filePath: done.txt, content: x } }\n  - { say: done }\n---\nx\n";
    home.write("repo/slow.md", slow);
    let mut command = home.command(["run", "slow.md", "--session", "s", "--allow", "exec"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    while !home.path("repo/up.txt").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(pid, Signal::STOP).unwrap();
    let held = home.run(&["run", "--resume", "s"]);
    assert_eq!(held.status, 1, "{}", held.stderr);
    let ran = home.run(&["run", "--resume", "s", "--take-over"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "done"), "{}", ran.stderr);
    let before = home.run(&["log", "--session", "s", "--json", "-n", "1000"]).stdout;
    kill_process(pid, Signal::CONT).unwrap();
    let late = child.wait_with_output().unwrap();
    let after = home.run(&["log", "--session", "s", "--json", "-n", "1000"]).stdout;
    assert_eq!(before, after, "nothing of the late process is in the log");
    assert_ne!(late.status.code(), Some(0), "{}", String::from_utf8_lossy(&late.stderr));
}

/// Runs an agent that is killed while its command sleeps.
fn killed(home: &Home, agent: &str, flags: &[&str]) {
    let args = [&["run", agent, "--session", "s"], flags].concat();
    let mut child = home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !home.path("repo/up.txt").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before its command");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_run_that_goes_on_keeps_the_rights_it_began_with() {
    let home = Home::new();
    let script = "tools: [bash, write, edit]\nscript:\n  - { call: bash, args: { command: \"echo > up.txt; sleep 60\" }, optional: true }\n  - { call: write, args: { filePath: secret.txt, content: x }, optional: true }\n  - { say: done }";
    home.write("repo/slow.md", format!("---\nname: slow\ndescription: d\n{script}\n---\nx\n"));
    home.write("repo/up.txt", "");
    home.write(
        "narrow.toml",
        "[[rule]]\neffect = \"deny\"\naction = \"write\"\nresource = \"/secret.txt\"\n",
    );
    std::fs::remove_file(home.path("repo/up.txt")).unwrap();
    let narrow = home.path("narrow.toml").display().to_string();
    killed(&home, "slow.md", &["--allow", "exec", "--config", &narrow]);
    let ran = home.run(&["run", "--resume", "s"]);
    assert_eq!(ran.stdout.trim(), "done", "{}", ran.stderr);
    assert!(!home.path("repo/secret.txt").exists(), "the rule of the first run holds: {}", ran.stderr);
}

#[test]
fn a_fork_has_no_more_rights_than_its_origin_unless_flags_say_so() {
    let home = Home::new();
    let script = "tools: [list, write]\nscript:\n  - { call: list, args: {} }\n  - { call: write, args: { filePath: new.txt, content: x }, optional: true }\n  - { say: done }";
    home.write("repo/agent.md", format!("---\nname: agent\ndescription: d\n{script}\n---\nx\n"));
    let first = home.run(&["run", "agent.md", "--session", "s", "--policy", "read-only"]);
    assert_eq!(first.stdout.trim(), "done", "{}", first.stderr);
    let forked = home.run(&["sessions", "fork", "s", "--at", "1", "--output", "json"]);
    let result: Value = serde_json::from_str(&forked.stdout).unwrap();
    assert!(!home.path("repo/new.txt").exists(), "it stays read-only: {result}");
    assert!(forked.stderr.contains("write is withheld"), "it is said: {}", forked.stderr);
    let again = result["session"].as_str().unwrap();
    home.run(&["sessions", "fork", again, "--at", "1"]);
    assert!(!home.path("repo/new.txt").exists(), "a fork of a fork stays read-only");
    let wider = home.run(&["sessions", "fork", again, "--at", "1", "--allow", "write"]);
    assert!(home.path("repo/new.txt").exists(), "a flag changes it: {}", wider.stderr);
}

#[test]
fn a_stopped_process_that_has_a_lock_is_evicted() {
    let home = Home::new();
    let script = "tools: [bash, read]\nscript:\n  - { call: bash, args: { command: \"echo > up.txt; sleep 60\" }, optional: true }\n  - { call: bash, args: { command: \"echo again > up.txt\" } }\n  - { say: done }";
    home.write("repo/slow.md", format!("---\nname: slow\ndescription: d\n{script}\n---\nx\n"));
    let mut command = home.command(["run", "slow.md", "--session", "s", "--allow", "exec"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    while !home.path("repo/up.txt").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(pid, Signal::STOP).unwrap();
    let begun = std::time::Instant::now();
    let ran = home.run(&["run", "--resume", "s", "--take-over", "--allow", "exec"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "done"), "{}", ran.stderr);
    assert!(begun.elapsed() < Duration::from_secs(20), "it waited for the stopped process");
    assert_eq!(std::fs::read_to_string(home.path("repo/up.txt")).unwrap(), "again\n");
    let ended = child.try_wait().unwrap().expect("the stopped process is gone");
    assert!(!ended.success());
}

#[test]
fn a_changed_file_of_a_child_is_refused_and_can_be_put_back() {
    for waits in [true, false] {
        let home = Home::new();
        let child = "---\nname: child\ndescription: d\ntools: [bash]\nscript:\n  - { call: bash, args: { command: \"echo > up.txt; sleep 60\" }, optional: true }\n  - { say: did }\n---\nx\n";
        home.write("repo/child.md", child);
        let boss = format!(
            "agents: [child.md]\ntools: [spawn_agent]\nscript:\n  - {{ call: spawn_agent, args: {{ agentType: child, prompt: x, wait: {waits} }}, save: c }}\n  - {{ say: \"boss is done\" }}"
        );
        home.write("repo/boss.md", format!("---\nname: boss\ndescription: d\n{boss}\n---\nx\n"));
        killed(&home, "boss.md", &["--allow", "exec"]);
        home.write("repo/child.md", child.replace("say: did", "say: changed"));
        let refused = home.run(&["run", "--resume", "s", "--allow", "exec"]);
        assert_eq!(refused.status, 2, "{}{}", refused.stdout, refused.stderr);
        assert!(
            refused.stderr.contains("child.md") && refused.stderr.contains("put it back"),
            "{}",
            refused.stderr
        );
        home.write("repo/child.md", child);
        let ran = home.run(&["run", "--resume", "s", "--allow", "exec"]);
        assert_eq!((ran.status, ran.stdout.trim()), (0, "boss is done"), "{}", ran.stderr);
    }
}

#[test]
fn a_run_that_is_terminated_can_go_on() {
    let home = Home::new();
    let script = "tools: [bash]\nscript:\n  - { call: bash, args: { command: \"echo $$ > up.txt; exec sleep 60\" }, optional: true }\n  - { say: done }";
    home.write("repo/slow.md", format!("---\nname: slow\ndescription: d\n{script}\n---\nx\n"));
    let mut command =
        home.command(["run", "slow.md", "--session", "s", "--allow", "exec", "--sandbox", "none"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sleeper = loop {
        match std::fs::read_to_string(home.path("repo/up.txt")) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("toolpost run --resume s"), "{stderr}");
    let command = std::path::Path::new("/proc").join(&sleeper);
    let limit = std::time::Instant::now() + Duration::from_secs(5);
    while command.exists() {
        assert!(std::time::Instant::now() < limit, "its command still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
    let ran = home.run(&["run", "--resume", "s", "--allow", "exec"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "done"), "{}", ran.stderr);
}
