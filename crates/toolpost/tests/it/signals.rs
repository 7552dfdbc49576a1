//! Ctrl-C and SIGTERM in the middle of a call.

use crate::load::stretched;
use crate::{Home, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A file of which no end is in sight: text by its beginning, and a hole of 60 GiB behind.
pub(crate) fn endless(home: &Home) {
    home.write("repo/endless", "line\n".repeat(20_000));
    let file = std::fs::OpenOptions::new().write(true).open(home.path("repo/endless")).unwrap();
    file.set_len(60 << 30).unwrap();
}

/// Sends a signal once the command listens for it; gives what it did and how long it took from there.
fn interrupted(home: &Home, args: &[&str], signal: Signal) -> (Ran, Duration) {
    let child = home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let is_listening = || {
        let status = std::fs::read_to_string(&status).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
        u64::from_str_radix(caught, 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
    };
    let start = Instant::now();
    while !is_listening() {
        assert!(start.elapsed() < stretched(Duration::from_secs(10)), "the command never listens");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    (Ran::of(output), start.elapsed())
}

#[test]
fn a_signal_ends_a_call_with_130_and_says_so() {
    let home = Home::new();
    endless(&home);
    let read = ["call", "read", "filePath=endless", "offset=100000"];
    let batch =
        ["call", "batch", r#"{"calls":[{"tool":"read","args":{"filePath":"endless","offset":100000}}]}"#];
    for signal in [Signal::INT, Signal::TERM] {
        for args in [&read[..], &batch] {
            let (ran, took) = interrupted(&home, &[args, &["--json"]].concat(), signal);
            let (status, envelope) = ran.json();
            assert_eq!(
                (status, &envelope["error"]["code"]),
                (130, &json!("INTERRUPTED")),
                "{signal:?} {args:?}: {envelope}"
            );
            assert!(took < stretched(Duration::from_secs(2)), "{took:?}");
        }
        let (ran, _) = interrupted(&home, &read, signal);
        assert_eq!(
            (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
            (130, "", "error[INTERRUPTED]: `read` was interrupted\n")
        );
    }
}
