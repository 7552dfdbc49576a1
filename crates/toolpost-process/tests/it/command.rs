//! Commands without a sandbox.

use crate::load::stretched;
use crate::stage::{limits, mark, processes, run, shell, try_run};
use std::path::Path;
use std::time::Duration;
use toolpost_process::{Exit, Limits, Stdin, Why};

const HERE: &str = "/tmp";

#[tokio::test]
async fn output_and_exit_code_come_back() {
    let done = run(shell("echo out; echo err >&2; pwd; exit 7", Path::new(HERE))).await;
    assert_eq!((done.text.as_str(), done.ended.exit), ("out\nerr\n/tmp\n", Exit::Code(7)));
    assert_eq!((done.ended.why, done.ended.survivor_count), (Why::Exited, 0));
    let done = run(shell("kill -9 $$", Path::new(HERE))).await;
    assert_eq!(done.ended.exit, Exit::Signal(9));
}

#[tokio::test]
async fn standard_input_is_closed_or_given() {
    let done = run(shell("cat; read x; echo \"<$x>\"", Path::new(HERE))).await;
    assert_eq!(done.text, "<>\n");
    let big = vec![b'x'; 1 << 20];
    let done = run(shell("wc -c", Path::new(HERE)).stdin(Stdin::Bytes(big.clone()))).await;
    assert_eq!(done.text.trim(), "1048576");
    let done = run(shell("exec <&-; echo done", Path::new(HERE)).stdin(Stdin::Bytes(big))).await;
    assert_eq!(done.text, "done\n");
}

#[tokio::test]
async fn what_cannot_be_run_is_said() {
    let error = try_run(toolpost_process::Command::new("no-such-program", HERE)).await.unwrap_err();
    assert_eq!(error.to_string(), "`no-such-program` cannot be run: No such file or directory (os error 2)");
    let error = try_run(shell("true", Path::new("/no/such/folder"))).await.unwrap_err();
    assert!(error.to_string().starts_with("the folder `/no/such/folder` cannot be entered"), "{error}");
}

/// Each must be gone with all it started at its limit and three seconds.
#[tokio::test]
async fn guarantee_09_nothing_outlives_its_time() {
    let lines = [
        "sleep MARK",
        "trap '' TERM; sleep MARK; sleep MARK",
        "setsid sleep MARK & wait",
        "(setsid sh -c 'sleep MARK & exec sleep MARK' &) ; sleep MARK",
        "nohup sleep MARK >/dev/null 2>&1 & sleep MARK",
        "for i in $(seq 400); do sleep MARK & done; wait",
        "f() { (trap '' TERM; sleep MARK & f) & }; f; sleep MARK",
        "yes MARK",
    ];
    for line in lines {
        let mark = mark();
        let done = run(shell(&line.replace("MARK", &mark), Path::new(HERE)).limits(limits(700))).await;
        assert_eq!(done.ended.why, Why::TimedOut, "{line}");
        assert!(done.took < stretched(Duration::from_millis(3_700)), "{line}: {:?}", done.took);
        assert_eq!(processes(&mark), Vec::<u32>::new(), "{line}");
        assert!(done.ended.survivors.iter().all(|survivor| !survivor.remains), "{line}");
    }
}

#[tokio::test]
async fn guarantee_09_what_a_command_leaves_behind_ends_with_it() {
    for line in [
        "sleep MARK & echo done",
        "setsid sleep MARK & echo done",
        "(setsid nohup sleep MARK >/dev/null 2>&1 &); echo done",
        "perl -e 'use POSIX; fork and exit; setsid; fork and exit; exec qw(sleep MARK)'; sleep 0.1; echo done",
    ] {
        let mark = mark();
        let done = run(shell(&line.replace("MARK", &mark), Path::new(HERE)).limits(limits(5_000))).await;
        assert_eq!((done.text.as_str(), done.ended.why), ("done\n", Why::Exited), "{line}");
        assert_eq!(done.ended.survivor_count, 1, "{line}: {:?}", done.ended);
        assert!(done.ended.survivors[0].name.contains(&mark), "{line}: {:?}", done.ended);
        assert!(done.took < stretched(Duration::from_secs(3)), "{line}: {:?}", done.took);
        assert_eq!(processes(&mark), Vec::<u32>::new(), "{line}");
    }
}

#[tokio::test]
async fn a_handle_that_is_dropped_ends_its_command() {
    let mark = mark();
    let running = shell(&format!("setsid sleep {mark} & sleep {mark}"), Path::new(HERE)).start().unwrap();
    while processes(&mark).len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(running);
    tokio::time::timeout(Duration::from_secs(3), async {
        while !processes(&mark).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("everything ends");
}

#[tokio::test]
async fn the_environment_is_what_was_given_and_no_descriptor_is_inherited() {
    let done = run(shell(
        "env | sort | cut -d= -f1 | tr '\\n' ' '; ls /proc/self/fd | tr '\\n' ' '",
        Path::new(HERE),
    ))
    .await;
    assert_eq!(done.text, "HOME PATH PWD SHLVL _ 0 1 2 3 ", "3 is the folder that `ls` reads");
    let done = run(shell("tty; cat /dev/tty", Path::new(HERE))).await;
    assert!(done.text.contains("not a tty") && done.text.contains("No such device"), "{}", done.text);
}

/// Whatever a command does to the processes that look after it, it is not run a second time.
#[tokio::test]
async fn a_command_that_kills_its_keeper_is_run_once() {
    for line in [
        "echo ran >> count; kill -9 $PPID; sleep 0.2",
        "echo ran >> count; kill -STOP $PPID; kill -9 $PPID; sleep 0.2",
        "echo ran >> count; (sleep 0.1; kill -9 $PPID) & head -c 200000 /dev/zero; exit 3",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let _ = try_run(shell(line, folder.path()).limits(limits(5_000))).await;
        assert_eq!(std::fs::read_to_string(folder.path().join("count")).unwrap(), "ran\n", "{line}");
    }
}

#[tokio::test]
async fn memory_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let limited = Limits { memory: Some(64 << 20), ..limits(20_000) };
    let line = "head -c 100000000 /dev/zero | tail -c 99999999 | wc -c";
    let free = run(shell(line, folder.path())).await;
    assert_eq!(free.text.trim(), "99999999");
    let bound = run(shell(line, folder.path()).limits(limited)).await;
    assert!(!bound.text.contains("99999999") && bound.text.contains("memory"), "{}", bound.text);
}
