//! `toolpost call bash`: what must hold when the process itself is killed, and what a command must not learn from it.

use crate::load::stretched;
use crate::{Home, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::os::fd::AsRawFd;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The processes of the machine with this text in their command lines.
fn processes(with: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(with)
        })
        .collect()
}

/// A length of sleep that nobody else on the machine has.
fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("8{:07}.{:05}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn a_command_runs_in_the_root_from_which_paths_count() {
    let home = Home::new();
    home.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    home.write("repo/src/a.txt", "a");
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        Ran::of(command.current_dir(home.path("repo/src")).output().unwrap())
    };
    let line = "command=echo made > made.txt; pwd";
    let ran = run(&["call", "bash", "--allow", "exec", line]);
    assert_eq!(ran.stdout.trim(), home.path("repo").display().to_string(), "{}", ran.stderr);
    assert!(run(&["call", "read", "made.txt"]).stdout.contains("made"));
    let line = "command=pwd";
    let ran = run(&["call", "bash", "--allow", "exec", line, "workdir=src"]);
    assert_eq!(ran.stdout.trim(), home.path("repo/src").display().to_string(), "{}", ran.stderr);
}

fn wait_until(what: &str, limit: Duration, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < stretched(limit), "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn started(home: &Home, sandbox: &str, line: &str, mark: &str, count: usize) -> Child {
    let command = format!("command={line}");
    let args = ["call", "bash", "--allow", "exec", "--sandbox", sandbox, &command];
    let child = home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The process itself has the line among its arguments, and so has a shell.
    let sleeping = || {
        let sleeps = processes(mark).into_iter().filter(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
        });
        sleeps.count()
    };
    wait_until("the command runs", Duration::from_secs(20), || sleeping() >= count);
    child
}

/// The process is killed while a command runs: politely, and not.
#[test]
fn guarantee_09_no_command_outlives_the_process_that_started_it() {
    let home = Home::new();
    let mut ended = 0;
    for sandbox in ["strict", "none"] {
        for signal in [Signal::TERM, Signal::INT, Signal::KILL] {
            let mark = mark();
            let line =
                format!("trap '' TERM; setsid sleep {mark} & (setsid nohup sleep {mark} &) ; sleep {mark}");
            let mut child = started(&home, sandbox, &line, &mark, 3);
            let start = Instant::now();
            kill_process(Pid::from_child(&child), signal).unwrap();
            child.wait().unwrap();
            wait_until(&format!("{sandbox} {signal:?}"), Duration::from_secs(3), || {
                processes(&mark).is_empty()
            });
            assert!(
                start.elapsed() < stretched(Duration::from_secs(3)),
                "{sandbox} {signal:?}: {:?}",
                start.elapsed()
            );
            ended += 3;
        }
    }
    println!(
        "measure: guarantee 9: {ended} of {ended} processes gone within 3 s of SIGTERM, SIGINT or SIGKILL to toolpost"
    );
}

/// Whoever kills the launcher or a keeper instead of the process gains nothing.
#[test]
fn guarantee_09_helpers_that_are_killed_leave_nothing_behind() {
    let home = Home::new();
    for (sandbox, helper) in [
        ("strict", "toolpost-launch"),
        ("none", "toolpost-launch"),
        ("strict", "toolpost-keeper"),
        ("none", "toolpost-keeper"),
    ] {
        let mark = mark();
        let mut child = started(&home, sandbox, &format!("setsid sleep {mark} & sleep {mark}"), &mark, 2);
        let below = descendants(child.id());
        let named = |pid: &u32| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == helper)
        };
        for pid in below.iter().filter(|pid| named(pid)) {
            kill_process(Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap(), Signal::KILL).unwrap();
        }
        wait_until(&format!("{sandbox} without its {helper}"), Duration::from_secs(4), || {
            processes(&mark).iter().all(|pid| *pid == child.id())
        });
        let _ = child.kill();
        child.wait().unwrap();
    }
}

fn descendants(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut at = 0;
    while at < found.len() {
        for task in std::fs::read_dir(format!("/proc/{}/task", found[at])).into_iter().flatten().flatten() {
            let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        at += 1;
    }
    found
}

/// Ten canaries in the environment, a key outside of the workspace, an inherited descriptor, the parent's own page.
#[test]
fn guarantee_12_a_command_finds_no_secret() {
    let home = Home::new();
    home.write("keys/id", "CANARY-FILE");
    home.write("repo/.env", "CANARY-ENV-FILE");
    let names: Vec<String> = [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "PLAIN",
        "LD_PRELOAD_X",
        "BASH_ENV",
        "PGPASSWORD",
        "NPM_TOKEN",
        "SSH_AUTH_SOCK",
    ]
    .map(str::to_owned)
    .into();
    let secret = std::fs::File::open(home.path("keys/id")).unwrap();
    // Without its mark, the descriptor is inherited by the process under test.
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    let line = format!(
        "env; cat {key} .env; cat /proc/$PPID/environ /proc/1/environ /proc/[0-9]*/environ; ls -l /proc/self/fd; \
         for i in 3 4 5 6 7 8 9 {fd}; do cat <&$i; done",
        key = home.path("keys/id").display(),
        fd = secret.as_raw_fd(),
    );
    let mut command = home.command(["call", "bash", "--allow", "exec", &format!("command={line}")]);
    for (index, name) in names.iter().enumerate() {
        command.env(name, format!("CANARY-{index}"));
    }
    let ran = Ran::of(command.output().unwrap());
    assert!(ran.stdout.contains("PATH="), "{} {}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("CANARY"), "{}", ran.stdout);
    println!("measure: guarantee 12: 0 of 13 canaries seen by a command");
}

#[test]
fn guarantee_11_what_waits_for_input_ends_at_once() {
    let home = Home::new();
    for line in [
        "cat",
        "read x",
        "python3 -c 'input()'",
        "cat /dev/tty",
        "ssh -o BatchMode=no nobody@localhost",
        "git commit",
    ] {
        let start = Instant::now();
        home.run(&["call", "bash", "--allow", "exec", &format!("command={line}")]);
        assert!(start.elapsed() < stretched(Duration::from_secs(5)), "{line}: {:?}", start.elapsed());
    }
    println!("measure: guarantee 11: 6 of 6 commands that wait for input end within 5 s");
}

/// The whole of a flood is kept and can be read at any place; the process stays small.
#[test]
fn guarantee_10_a_flood_costs_no_memory() {
    let home = Home::new();
    let is_soak = std::env::var_os("TOOLPOST_SOAK").is_some();
    let lines: u64 = if is_soak { 1_000_000_000 } else { 20_000_000 };
    let command = format!("command=yes 123456789 | head -n {lines}");
    let child = home
        .command(["call", "bash", "--allow", "exec", "--json", &command, "timeout=600000"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let peak = std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            match line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()) {
                Some(kilobytes) => peak = peak.max(kilobytes),
                None => break,
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        peak
    });
    let (status, envelope) = Ran::of(child.wait_with_output().unwrap()).json();
    let peak = peak.join().unwrap() / 1024;
    assert_eq!(status, 0, "{envelope}");
    assert!(peak < 100, "{peak} MiB");
    let truncated = &envelope["metadata"]["truncated"];
    assert_eq!(truncated["totalBytes"], json!(lines * 10), "{envelope}");
    assert_eq!(truncated["keptBytes"], json!(lines * 10), "{envelope}");
    let handle = truncated["handle"].as_str().unwrap();
    let text = envelope["output"].as_str().unwrap();
    assert!(text.starts_with("123456789\n") && text.ends_with("123456789\n") && text.len() < 31_000);
    for line in [1, lines / 2, lines] {
        let ran = home.run(&[
            "call",
            "read",
            &format!("filePath={handle}"),
            &format!("offset={line}"),
            "limit=1",
            "--timeout",
            "10m",
        ]);
        assert!(ran.stdout.contains(&format!("{line}: 123456789")), "{} {}", ran.stdout, ran.stderr);
    }
    println!(
        "measure: guarantee 10: {} MB of output, {peak} MiB of memory at most, every part readable by its handle",
        lines / 100_000
    );
}

#[test]
fn the_sandbox_is_named_where_it_is_left_out() {
    let home = Home::new();
    home.write("elsewhere/file", "seen");
    let line = format!("command=cat {}", home.path("elsewhere/file").display());
    let ran = home.run(&["call", "bash", "--allow", "exec", &line]);
    assert!(ran.stdout.contains("No such file"), "{}", ran.stdout);
    let ran = home.run(&["call", "bash", "--allow", "exec", "--sandbox", "none", &line]);
    assert_eq!(ran.stdout.trim(), "seen");
    // A project may not take the sandbox away by itself; it may ask for it.
    home.write(
        "repo/.toolpost/config.toml",
        "sandbox = \"none\"\nreadable = [\"/nowhere\"]\nenvironment = [\"X\"]\n",
    );
    let ran = home.run(&["call", "bash", "--allow", "exec", &line]);
    assert!(ran.stdout.contains("No such file"), "{}", ran.stdout);
    assert!(ran.stderr.contains("wait until you trust them"), "{}", ran.stderr);
    home.write("repo/.toolpost/config.toml", "sandbox = \"strict\"\n");
    home.write(".config/toolpost/config.toml", "sandbox = \"none\"\n");
    let ran = home.run(&["call", "bash", "--allow", "exec", &line]);
    assert!(ran.stdout.contains("No such file"), "{}", ran.stdout);
}

/// A working tree whose repository lies elsewhere: git can look things up there. What only claims to be one cannot.
#[test]
fn a_repository_elsewhere_is_readable_if_it_knows_the_tree() {
    let home = Home::new();
    let git = |args: &[&str], folder: &str| {
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@b.c"])
            .args(args)
            .current_dir(home.path(folder))
            .env("HOME", home.path(""))
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
    };
    home.write("main/file", "one\n");
    git(&["init", "-q", "."], "main");
    git(&["add", "."], "main");
    git(&["commit", "-qm", "first"], "main");
    git(&["worktree", "add", "-q", "../tree"], "main");
    let tree = home.path("tree");
    let workspace = tree.to_str().unwrap();
    let args = ["call", "bash", "--allow", "exec", "--workspace", workspace, "command=git log --format=%s"];
    assert_eq!(home.run(&args).stdout.trim(), "first");
    home.write("secrets/HEAD", "x");
    home.write("secrets/objects/key", "canary");
    home.write("claims/.git", format!("gitdir: {}\n", home.path("secrets").display()));
    let line = format!("command=cat {}", home.path("secrets/objects/key").display());
    let claims = home.path("claims");
    let ran = home.run(&["call", "bash", "--allow", "exec", "--workspace", claims.to_str().unwrap(), &line]);
    assert!(!ran.stdout.contains("canary"), "{}", ran.stdout);
}

/// Formatters work after each of the tools that change files, when the user says so; a project must be trusted first.
#[test]
fn files_are_formatted_where_that_is_configured() {
    let home = Home::new();
    home.write("repo/tool/up", "#!/bin/sh\ntr a-z A-Z\n");
    let program = home.path("repo/tool/up").display().to_string();
    let config = |text: &str| home.write(".config/toolpost/config.toml", text);
    let text = |name: &str| std::fs::read_to_string(home.path(name)).unwrap();
    // Nothing is formatted unless asked.
    home.run(&["call", "write", "filePath=a.txt", "content=one"]);
    assert_eq!(text("repo/a.txt"), "one");
    config(&format!(
        "formatters = [\"txt: sh {program}\", \"bad: false\", \"gone: no-such-formatter\", \"slow: sleep 60\"]\n"
    ));
    let (status, envelope) = home.json(&["call", "write", "filePath=a.txt", "content=two words"]);
    assert_eq!((status, text("repo/a.txt").as_str()), (0, "TWO WORDS"));
    let output = envelope["output"].as_str().unwrap();
    assert!(output.contains("formatted with sh:\n") && output.contains("+TWO WORDS"), "{output}");
    let hash = envelope["data"]["hash"].as_str().unwrap();
    let expected = format!("expectedHash={hash}");
    let ran = home.run(&["call", "edit", "filePath=a.txt", "oldString=TWO", "newString=three", &expected]);
    assert_eq!((ran.status, text("repo/a.txt").as_str()), (0, "THREE WORDS"), "{}", ran.stderr);
    let patch = "patch=*** Begin Patch\n*** Add File: b.txt\n+x\n*** Update File: a.txt\n@@\n-THREE WORDS\n+four\n*** End Patch\n";
    let ran = home.run(&["call", "apply_patch", patch]);
    assert_eq!((ran.status, text("repo/b.txt").as_str()), (0, "X\n"), "{}", ran.stderr);
    assert!(text("repo/a.txt").starts_with("FOUR"));
    // What a formatter cannot do is told, and the change stays.
    for (name, why) in [("c.bad", "it ended with code 1"), ("c.gone", "cannot be run")] {
        let ran = home.run(&["call", "write", &format!("filePath={name}"), "content=kept"]);
        assert_eq!((ran.status, text(&format!("repo/{name}")).as_str()), (0, "kept"));
        assert!(ran.stdout.contains("was not formatted with") && ran.stdout.contains(why), "{}", ran.stdout);
    }
    // A dry run shows it and changes nothing.
    let ran = home.run(&["call", "write", "filePath=d.txt", "content=dry", "--dry-run"]);
    assert!(ran.stdout.contains("+DRY"), "{}", ran.stdout);
    assert!(!home.path("repo/d.txt").exists());
    // A repository cannot start programs by itself.
    config("");
    home.write("repo/.toolpost/config.toml", format!("formatters = [\"txt: sh {program}\"]\n"));
    let ran = home.run(&["call", "write", "filePath=e.txt", "content=plain"]);
    assert_eq!(text("repo/e.txt"), "plain");
    assert!(ran.stderr.contains("runs `sh` after changes"), "{}", ran.stderr);
    config("formatters = [\"rustfmt\"]\n");
    let ran = home.run(&["call", "list"]);
    assert!(ran.status == 2 && ran.stderr.contains("write `extension: program arguments`"), "{}", ran.stderr);
}
