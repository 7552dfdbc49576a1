//! A store that disappears while an agent runs: the run notices, and does not end well.

use crate::Home;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Waits in a command until the test has done its harm, and changes a file after it.
const AGENT: &str = "---\nname: a\ndescription: d\ntools: [bash, write]\nscript:\n  - { call: bash, args: { command: \"touch ready; for i in $(seq 300); do [ -e go ] && break; sleep 0.1; done\" } }\n  - { call: write, args: { filePath: late.txt, content: x }, optional: true }\n  - say: all is well\n---\nx\n";

fn waits_for(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A run whose store this happens to, and a part of what it says.
fn check(harm: &str, expected: &str) {
    let home = Home::new();
    std::fs::create_dir(home.path("kept")).unwrap();
    let store = home.path("kept/runs.db");
    home.write("repo/a.md", AGENT);
    let url = format!("sqlite:{}", store.display());
    let mut command = home.command(["run", "a.md", "--store", &url, "--allow", "exec"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    waits_for(&home.path("repo/ready"));
    let harmed = Command::new("bash").args(["-ec", harm]).current_dir(home.path("kept")).status().unwrap();
    assert!(harmed.success());
    home.write("repo/go", "");
    let ran = crate::Ran::of(child.wait_with_output().unwrap());
    assert!(ran.status > 0 && ran.stderr.contains(expected), "{harm}: {} {}", ran.status, ran.stderr);
    assert!(!ran.stdout.contains("all is well"), "{harm}: {}", ran.stdout);
    assert!(!home.path("repo/late.txt").exists(), "{harm}: nothing is changed that is not recorded");
}

#[test]
fn a_store_that_disappears_ends_the_run() {
    check("rm -f runs.db runs.db-wal runs.db-shm", "is not there any more");
    check("rm -f runs.db-wal", "is not there any more");
    check("cp runs.db new.db; mv new.db runs.db", "was replaced by another one");
    check("mv ../kept ../elsewhere; mkdir ../kept", "is not there any more");
}
