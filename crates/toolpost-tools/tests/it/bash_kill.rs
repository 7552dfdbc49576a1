//! `bash_kill`: background commands, ended.

use crate::bash::{executor, ground, session, standard_and_exec};
use crate::load::stretched;
use crate::{data, run, shown};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use toolpost_core::Call;
use toolpost_tools::shell;

#[test]
fn a_background_command_ends_with_all_it_started() {
    let ground = ground();
    let settings =
        shell::Settings { background: shell::Background::at_most(8), ..shell::Settings::default() };
    let executor = executor(standard_and_exec(), settings);
    let ctx = session(ground.path()).build();
    run(async {
        let call = |tool: &'static str, args: Value| executor.run(&ctx, Call::new(tool, args));
        let line = "echo up; trap '' TERM; (while sleep 0.05; do echo alive >> beats; done) & wait";
        call("bash", json!({"command": line, "background": true})).await;
        call("bash_output", json!({"id": "bg_1", "wait": 5000})).await;
        let started = Instant::now();
        let killed = call("bash_kill", json!({"id": "bg_1"})).await;
        assert!(started.elapsed() < stretched(Duration::from_secs(3)), "{:?}", started.elapsed());
        assert_eq!(data(&killed)["running"], json!(false), "{}", shown(&killed));
        let beats = || std::fs::metadata(ground.path().join("beats")).map_or(0, |file| file.len());
        let before = beats();
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(beats(), before, "something went on");
        let again = call("bash_kill", json!({"id": "bg_1"})).await;
        assert!(again.is_success(), "{}", shown(&again));
        // One that can end by itself is asked to, and may.
        let line = "echo up; read x; echo bye $x; exit 3";
        call("bash", json!({"command": line, "background": true})).await;
        call("bash_output", json!({"id": "bg_2", "wait": 5000})).await;
        let asked = call("bash_kill", json!({"id": "bg_2", "input": "now\n", "wait": 10_000})).await;
        assert_eq!(shown(&asked), "bye now\n[it has ended with exit code 3]");
    });
}
