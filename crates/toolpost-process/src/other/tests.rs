//! The part for macOS, run on Linux: what it promises there it keeps here.

#![cfg(target_os = "linux")]

use super::*;
use crate::ended::Exit;
use crate::sandbox::Sandbox;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn shell(line: &str) -> Command {
    Command::new("/bin/sh", "/tmp").args(["-c", line])
}

/// Both outputs and the end.
async fn run(command: Command) -> (String, String, Ended) {
    let mut started = start(command).unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    if let Some(mut stdin) = started.stdin.take() {
        stdin.write_all(b"given").await.unwrap();
    }
    started.stdout.read_to_string(&mut out).await.unwrap();
    if let Some(stderr) = &mut started.stderr {
        stderr.read_to_string(&mut err).await.unwrap();
    }
    let ended = started.control.wait().await.unwrap();
    assert_eq!(ended, started.control.wait().await.unwrap());
    (out, err, ended)
}

#[tokio::test]
async fn a_command_runs_with_what_it_is_given_and_nothing_else() {
    let (out, _, ended) = run(shell("echo a; echo b >&2; pwd; exit 3").variable("X", "1")).await;
    assert_eq!((out.as_str(), ended.exit, ended.why), ("a\nb\n/tmp\n", Exit::Code(3), Why::Exited));
    let (out, err, _) = run(shell("echo a; echo b >&2").output(Output::Apart)).await;
    assert_eq!((out.as_str(), err.as_str()), ("a\n", "b\n"));
    let (out, _, _) = run(Command::new("/usr/bin/env", "/").variable("ONLY", "this")).await;
    assert_eq!(out, "ONLY=this\n");
    assert_eq!(run(shell("cat")).await.0, "");
    assert_eq!(run(shell("cat").stdin(Stdin::Open)).await.0, "given");
    let (_, _, ended) = run(shell("kill -9 $$")).await;
    assert_eq!(ended.exit, Exit::Signal(9));
    let (out, _, _) =
        run(shell("ulimit -t").limits(Limits { cpu: Some(Duration::from_secs(7)), ..Limits::default() }))
            .await;
    assert_eq!(out, "7\n");
}

#[tokio::test]
async fn the_whole_group_ends_at_the_limit_and_when_asked() {
    let limits = Limits { wall: Some(Duration::from_millis(200)), ..Limits::default() };
    let (out, _, ended) =
        run(shell("sleep 71 & echo on; trap 'echo off; exit' TERM; wait").limits(limits)).await;
    assert_eq!((out.as_str(), ended.why), ("on\noff\n", Why::TimedOut));
    // What does not listen is ended hard.
    let limits = Limits { grace: Duration::from_millis(100), ..limits };
    let (_, _, ended) = run(shell("trap '' TERM; while :; do sleep 72; done").limits(limits)).await;
    assert_eq!((ended.exit, ended.why), (Exit::Signal(9), Why::TimedOut));
    assert!(ended.wall < Duration::from_secs(5), "{:?}", ended.wall);
    // What the command leaves behind does not outlive it, and its pipe is not waited for.
    let (_, _, ended) = run(shell("trap '' TERM; sleep 73 & exit 0")).await;
    assert_eq!(ended.exit, Exit::Code(0));
    assert!(ended.wall < Duration::from_secs(5), "{:?}", ended.wall);
    // Asked for, and let go of.
    let mut started = start(shell("exec sleep 74")).unwrap();
    started.control.end();
    started.control.ender().end();
    assert_eq!(started.control.wait().await.unwrap().why, Why::Asked);
    let mut started = start(shell("echo $$; exec sleep 75")).unwrap();
    let mut pid = [0; 16];
    let count = started.stdout.read(&mut pid).await.unwrap();
    let pid = String::from_utf8_lossy(&pid[..count]).trim().to_owned();
    let mut ended = started.control.ended.clone();
    drop(started);
    ended.wait_for(Option::is_some).await.unwrap();
    assert!(!std::path::Path::new("/proc").join(&pid).exists(), "{pid}");
}

#[tokio::test]
async fn a_sandbox_is_refused_and_a_missing_program_named() {
    let refused = start(shell("echo no").sandbox(Sandbox::default())).map(drop).unwrap_err();
    assert_eq!(refused.to_string(), "no sandbox here: sandbox: there is no sandbox on this system yet");
    assert!(matches!(refused, Error::SandboxUnavailable { .. }));
    let missing = start(Command::new("/nowhere/program", "/")).map(drop).unwrap_err();
    assert!(missing.to_string().starts_with("`/nowhere/program` cannot be run"), "{missing}");
    assert!(layers().iter().any(|layer| layer.need == Need::Sandbox && layer.state.is_err()));
}
