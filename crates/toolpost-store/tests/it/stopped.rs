//! A process that was stopped in the middle of a transaction: whom it keeps waiting, for how long, and what they are told.

use crate::{Fresh, count, on_shared_stores, warning};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolpost_core::Code;
use toolpost_core::store::HeldBy;
use toolpost_store::{Faults, StoreUrl};

on_shared_stores!(guarantee_47_a_stopped_process_keeps_nobody_waiting_for_long);

/// Where the child finds its store; it is none without it.
const STORE: &str = "TOOLPOST_TEST_STOPPED_STORE";
/// Before which statement it stops.
const STATEMENT: &str = "TOOLPOST_TEST_STOPPED_AT";

/// How long others wait where the database can end what keeps them waiting.
const LONGEST: Duration = Duration::from_secs(5);

/// Started by the test below as a process of its own: holds a run, and stops in the middle of a change.
#[test]
fn child_that_stops_in_a_transaction() {
    let Some(url) = std::env::var(STORE).ok() else { return };
    let faults = Arc::new(Faults::default());
    let store = toolpost_store::open_with(&url.parse().unwrap(), Some(Arc::clone(&faults))).unwrap();
    let _hold = store.hold("run", "child", HeldBy::Nobody).unwrap();
    faults.stop_after(std::env::var(STATEMENT).unwrap().parse().unwrap());
    store.append(&[warning("s", 1, "x")]).unwrap();
    panic!("it was let go on");
}

/// A child that has stopped before this statement of its transaction.
#[expect(clippy::zombie_processes, reason = "the caller ends the child and waits for it")]
fn stopped(url: &StoreUrl, statement: usize) -> Child {
    let address = match url {
        StoreUrl::Memory => panic!("processes do not share memory"),
        StoreUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
        StoreUrl::Postgres(url) => url.clone(),
    };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["stopped::child_that_stops_in_a_transaction", "--exact", "--nocapture"])
        .env(STORE, address)
        .env(STATEMENT, statement.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts");
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        if stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T')) {
            return child;
        }
        if Instant::now() >= until {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the child does not stop: {stat}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process that is stopped while it makes the store is named too, and soon.
#[test]
fn guarantee_47_a_process_that_was_stopped_while_it_made_the_store_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.db");
    let script = "import os, signal, sqlite3, sys\n\
                  store = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                  store.execute('BEGIN EXCLUSIVE')\n\
                  store.execute('CREATE TABLE t (c)')\n\
                  os.kill(os.getpid(), signal.SIGSTOP)\n";
    let mut child = Command::new("python3").args(["-c", script]).arg(&path).spawn().unwrap();
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
    };
    while !is_stopped() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let url: StoreUrl = format!("sqlite:{}", path.display()).parse().unwrap();
    let begun = Instant::now();
    let error = toolpost_store::open_with(&url, None).err().expect("the store is not free");
    assert!(begun.elapsed() < LONGEST, "waited {:?}", begun.elapsed());
    let named = format!("process {} was stopped while it was writing", child.id());
    assert!(error.message().contains(&named), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    toolpost_store::open_with(&url, None).unwrap();
}

fn guarantee_47_a_stopped_process_keeps_nobody_waiting_for_long(fresh: &Fresh) {
    let store = fresh.open();
    let mut longest = Duration::ZERO;
    // Before the seventh it has locked, on PostgreSQL, the row of its run and that of the turn to write to the log.
    for statement in (1..=6).rev().take(count(1, 6)) {
        let mut child = stopped(&fresh.url, statement);
        let begun = Instant::now();
        let written = store.append(&[warning("other", 1, "y")]);
        let waited = begun.elapsed();
        longest = longest.max(waited);
        assert!(waited < LONGEST, "waited {waited:?}");
        match fresh.url {
            StoreUrl::Postgres(_) => {
                assert!(written.is_ok(), "{written:?}");
                // The run goes to somebody else, though the row of its holder was locked.
                let taken = fresh.open().hold("run", "next", HeldBy::Anybody);
                assert!(taken.is_ok(), "{taken:?}");
            }
            _ => {
                let error = written.unwrap_err();
                assert_eq!(error.code(), Code::StoreNotAvailable);
                let named = format!("process {} was stopped while it was writing", child.id());
                assert!(error.message().contains(&named), "{error}");
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        store.append(&[warning("other", 2, "z")]).unwrap();
    }
    let outcome =
        if matches!(fresh.url, StoreUrl::Postgres(_)) { "wrote" } else { "was told which process it is" };
    println!(
        "measure: guarantee 47: behind a process that was stopped in a transaction another one {outcome} after {} ms",
        longest.as_millis()
    );
}
