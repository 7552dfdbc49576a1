//! Runs that are taken from a process which was stopped, also in the middle of a transaction.

use crate::endings::random;
use crate::tree::agent;
use crate::{Home, count, postgres_server};
use rustix::process::{Flock, FlockOffsetType, FlockType, Pid, Signal, fcntl_getlk, kill_process};
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use toolpost_store::StoreUrl;

/// How long a take-over may take.
const LONGEST: Duration = Duration::from_secs(30);

/// Starts a run that writes to its store all the time.
fn writes(home: &Home, store: &str) -> Child {
    let lines: Vec<String> = (0..150).map(|number| format!("n{number}")).collect();
    home.write("repo/items.txt", format!("{}\n", lines.join("\n")));
    let script = "tools: [read, vfs_write]\nscript:\n  - { call: read, args: { filePath: items.txt }, save: items }\n  - { each: \"{{items.lines}}\", call: vfs_write, args: { path: \"{{item}}.txt\", content: x }, optional: true }\n  - { say: done }";
    agent(home, "writer.md", script);
    let args = ["run", "writer.md", "--session", "s", "--store", store];
    let mut child = home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = || home.run(&["vfs", "list", "--session", "s", "--store", store]).stdout.contains(".txt");
    while !begun() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it was stopped");
    }
    child
}

/// Takes the run from a process that is stopped. Returns how long that took.
fn take_over(home: &Home, store: &str, mut stopped: Child) -> Duration {
    let begun = Instant::now();
    let ran = home.run(&["run", "--resume", "s", "--take-over", "--store", store]);
    let took = begun.elapsed();
    if ran.stderr.contains("has ended") {
        // It was stopped behind the end of its run.
        let _ = stopped.kill();
    } else {
        assert_eq!((ran.status, ran.stdout.trim()), (0, "done"), "{}", ran.stderr);
        let ended = stopped.try_wait().unwrap().expect("the stopped process is gone");
        assert!(!ended.success());
    }
    stopped.wait().unwrap();
    assert!(took < LONGEST, "it took {took:?}");
    took
}

/// Whether a process is in the middle of a change of a store in a file.
fn is_in_transaction(store: &Path, process: Pid) -> bool {
    let file = OpenOptions::new().read(true).write(true).open(store.with_extension("db-shm")).unwrap();
    // The lock of SQLite's format that a process has while it writes.
    let wanted = Flock {
        start: 120,
        length: 1,
        pid: None,
        typ: FlockType::WriteLock,
        offset_type: FlockOffsetType::Set,
    };
    fcntl_getlk(&file, &wanted).unwrap().is_some_and(|found| found.pid == Some(process))
}

#[test]
fn guarantee_47_a_process_that_was_stopped_in_a_transaction_loses_its_run() {
    let home = Home::new();
    let file = home.path("shared.db");
    let store = format!("sqlite:{}", file.display());
    let mut child = writes(&home, &store);
    let process = Pid::from_child(&child);
    for attempt in 0.. {
        kill_process(process, Signal::STOP).unwrap();
        std::thread::sleep(Duration::from_millis(1));
        if is_in_transaction(&file, process) {
            break;
        }
        kill_process(process, Signal::CONT).unwrap();
        assert!(child.try_wait().unwrap().is_none(), "it was never stopped in a transaction");
        std::thread::sleep(Duration::from_micros(random(attempt) % 3_000));
    }
    // Another writer is told which process it waits for.
    let other = home.run(&["tasks", "add", "x", "--store", &store]);
    let named = format!("process {} was stopped while it was writing", child.id());
    assert!(other.status != 0 && other.stderr.contains(&named), "{}", other.stderr);
    println!("took {} ms", take_over(&home, &store, child).as_millis());
}

#[test]
fn guarantee_47_stopped_processes_lose_their_runs() {
    let rounds = count(2, 50);
    let server = postgres_server::Server::start();
    let mut longest = Duration::ZERO;
    for round in 0..rounds as u64 {
        let home = Home::new();
        let store = match round % 2 {
            0 => format!("sqlite:{}", home.path("shared.db").display()),
            _ => match server.database() {
                StoreUrl::Postgres(url) => url,
                _ => panic!("a database on the server"),
            },
        };
        let child = writes(&home, &store);
        std::thread::sleep(Duration::from_micros(random(round) % 150_000));
        kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
        longest = longest.max(take_over(&home, &store, child));
    }
    println!(
        "measure: guarantee 47: {rounds} runs taken from processes that were stopped at random points, on SQLite and PostgreSQL: all went on, the slowest after {} ms",
        longest.as_millis()
    );
}
