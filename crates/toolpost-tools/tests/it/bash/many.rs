//! Many commands, one after another and at once: the process is afterwards what it was before.

use super::{executor, ground, session, standard_and_exec};
use crate::fixed::Fixed as Executor;
use crate::{run, shown};
use serde_json::json;
use std::fs;
use std::time::Duration;
use toolpost_core::{Call, Context};
use toolpost_tools::shell::{self, Confinement};

/// What this process holds on to.
#[derive(Debug, Clone, Copy)]
struct Held {
    descriptors: usize,
    processes: usize,
    zombies: usize,
    temporary: usize,
    memory_mib: u64,
}

fn held() -> Held {
    let below = descendants(std::process::id());
    let state = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with('Z')) == Some(true)
    };
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    Held {
        descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
        processes: below.len(),
        zombies: below.iter().filter(|pid| state(pid)).count(),
        temporary: fs::read_dir(std::env::temp_dir()).unwrap().count(),
        memory_mib: memory.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024,
    }
}

fn descendants(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    children.iter().flat_map(|child| [vec![*child], descendants(*child)].concat()).collect()
}

async fn one_after_another(executor: &Executor, ctx: &Context, count: usize) {
    for number in 0..count {
        let command = format!("echo {number}; (setsid true &)");
        let outcome = executor.run(ctx, Call::new("bash", json!({ "command": command }))).await;
        assert!(shown(&outcome).starts_with(&format!("{number}\n")), "{}", shown(&outcome));
    }
}

async fn at_once(executor: &Executor, ctx: &Context, count: usize) {
    let calls = (0..count).map(|number| {
        let (executor, ctx) = (executor.clone(), ctx.clone());
        tokio::spawn(async move {
            let command = format!("sleep 0.1; echo {number}");
            let outcome = executor.run(&ctx, Call::new("bash", json!({ "command": command }))).await;
            assert_eq!(shown(&outcome), format!("{number}\n"));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}

/// In a process of its own, as other tests would be counted too.
#[test]
fn guarantee_33_many_commands_leave_nothing_behind() {
    const ALONE: &str = "TOOLPOST_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let name = "bash::many::guarantee_33_many_commands_leave_nothing_behind";
        let temporary = tempfile::tempdir().unwrap();
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(ALONE, "1")
            .env("TMPDIR", temporary.path())
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let is_soak = std::env::var_os("TOOLPOST_SOAK").is_some();
    let count = if is_soak { 1_000 } else { 60 };
    for confinement in [Confinement::Strict, Confinement::None] {
        let ground = ground();
        let settings = shell::Settings { confinement, ..shell::Settings::default() };
        let executor = executor(standard_and_exec(), settings);
        let ctx = session(ground.path()).build();
        run(async {
            // The first ones start the launcher and fill pools.
            one_after_another(&executor, &ctx, 10).await;
            at_once(&executor, &ctx, 64).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            let before = held();
            one_after_another(&executor, &ctx, count).await;
            at_once(&executor, &ctx, 64).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            let after = held();
            assert_eq!(after.descriptors, before.descriptors, "{before:?} {after:?}");
            assert_eq!(after.processes, before.processes, "{before:?} {after:?}");
            assert_eq!((after.zombies, after.temporary), (0, before.temporary), "{before:?} {after:?}");
            assert!(after.memory_mib <= before.memory_mib + 16, "{before:?} {after:?}");
            println!(
                "measure: guarantee 33: {count} commands in a row and 64 at once ({confinement:?}): descriptors {} → {}, \
                 processes {} → {}, memory {} → {} MiB",
                before.descriptors,
                after.descriptors,
                before.processes,
                after.processes,
                before.memory_mib,
                after.memory_mib
            );
        });
    }
}
