//! `toolpost tasks watch`: changes of other processes as they come, in a pipe and on a terminal.

use super::{call, lines};
use crate::Home;
use crate::load::stretched;
use crate::mcp::until;
use crate::terminal::talking_on_a_terminal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// Somebody who watches in a pipe, and the lines that come.
fn watch(home: &Home, flags: &[&str]) -> (Child, Receiver<String>) {
    let mut command = home.command([&["tasks", "watch"], flags].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (sender, lines) = channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    // Reads until nobody wants its lines any more; then the pipe is closed.
    std::thread::spawn(move || {
        for line in stdout.lines() {
            if sender.send(line.unwrap()).is_err() {
                return;
            }
        }
    });
    (child, lines)
}

fn next(lines: &Receiver<String>) -> String {
    lines.recv_timeout(stretched(PATIENCE)).expect("a line")
}

/// The watcher ends by itself, and has nothing to complain about.
fn check_end(mut child: Child) {
    until("the watcher does not end", || child.try_wait().unwrap().is_some());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn changes_come_as_lines_until_the_reader_leaves() {
    let home = Home::new();
    lines(&home, &["tasks", "add", "one"]);
    let (child, lines_of) = watch(&home, &[]);
    assert_eq!([next(&lines_of), next(&lines_of)], ["○ t1 one (ready)", "1 task: 1 ready"]);
    lines(&home, &["tasks", "add", "two\nlines", "--depends-on", "t1"]);
    assert!(next(&lines_of).ends_with(" t2 pending: two␊lines"));
    call(&home, "worker", "w", "submit_result", json!({"taskId": "t1", "result": "done"}));
    assert!(next(&lines_of).ends_with(" t1 submitted by w: one"));
    call(&home, "orchestrator", "b", "complete_task", json!({"taskId": "t1"}));
    assert!(next(&lines_of).ends_with(" t1 completed by w: one"));
    assert!(next(&lines_of).ends_with(" t2 ready: two␊lines"));
    drop(lines_of);
    // The thread that reads notices with the next line that its own reader has left.
    lines(&home, &["tasks", "add", "three"]);
    check_end(child);
}

#[test]
fn programs_get_the_tasks_and_then_the_events() {
    let home = Home::new();
    lines(&home, &["tasks", "add", "one"]);
    let (child, lines_of) = watch(&home, &["--json"]);
    let first: Value = serde_json::from_str(&next(&lines_of)).unwrap();
    assert_eq!(first["tasks"][0]["title"], "one");
    call(&home, "worker", "w", "get_task", json!({"taskId": "t1", "claim": true}));
    let event = next(&lines_of);
    let of_log = home.run(&["log", "--json"]).stdout;
    assert!(of_log.lines().any(|line| line == event), "{event} is not in\n{of_log}");
    assert!(event.contains("\"t1\"") && event.contains("claimed"), "{event}");
    drop(lines_of);
    lines(&home, &["tasks", "add", "two"]);
    check_end(child);
}

#[test]
fn a_terminal_shows_the_tree_anew() {
    let home = Home::new();
    lines(&home, &["tasks", "add", "one"]);
    let program = env!("CARGO_BIN_EXE_toolpost");
    // The shell ends the watcher once something is typed.
    let environment = home.command([] as [&str; 0]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" tasks watch & read line; kill $!; wait; exit 0", program]);
    shell.current_dir(home.path("repo")).env_clear();
    shell.envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let (mut is_added, mut is_typed) = (false, false);
    let (status, seen) = talking_on_a_terminal(shell, |screen| {
        if !is_added && screen.contains("1 task: 1 ready") {
            is_added = true;
            lines(&home, &["tasks", "add", "two"]);
        }
        let ends = !is_typed && screen.contains("2 tasks: 2 ready");
        is_typed |= ends;
        ends.then(|| "\n".to_owned())
    });
    assert_eq!(status, 0, "{seen:?}");
    let page = "\x1b[H\x1b[2J○ t1 one (ready)\n○ t2 two (ready)\n2 tasks: 2 ready\n";
    assert!(seen.contains(page), "{seen:?}");
}
