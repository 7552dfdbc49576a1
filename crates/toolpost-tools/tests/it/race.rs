//! Guarantee 3 for the tools: a folder swapped for a link to outside, while they run, gives nothing away.

use super::confined::{CANARY, World};
use super::{count, executor, run};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use toolpost_core::Outcome;

#[test]
fn guarantee_03_a_race_gives_nothing_away() {
    let tries = count(500, 10_000);
    let calls = [
        ("read", json!({"filePath": "swap/secret.txt"})),
        ("read", json!({"filePath": "swap"})),
        ("list", json!({"path": "swap"})),
        ("list", json!({"path": ".", "noIgnore": true})),
        ("glob", json!({"pattern": "**"})),
        ("glob", json!({"pattern": "**", "path": "swap"})),
        ("grep", json!({"pattern": "."})),
        ("grep", json!({"pattern": ".", "path": "swap"})),
        ("grep", json!({"pattern": ".", "path": "swap/secret.txt", "context": 2})),
        ("batch", json!({"calls": [{"tool": "read", "args": {"filePath": "swap/secret.txt"}}]})),
    ];
    let (mut swaps, mut worked) = (0, 0);
    for absolute in [true, false] {
        let world = World::new();
        std::fs::create_dir(world.root.join("swap")).unwrap();
        std::fs::write(world.root.join("swap/secret.txt"), "inside").unwrap();
        let target = if absolute { world.outside.as_path() } else { Path::new("../outside") };
        symlink(target, world.root.join("link")).unwrap();
        let ctx = world.ctx();
        let (stop, counted) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| swap(&world.root.join("swap"), &world.root.join("link"), &stop, &counted));
            let _stops = StopOnDrop(&stop);
            run(async {
                let executor = executor();
                for (tool, args) in &calls {
                    for _ in 0..tries / 2 {
                        let outcome = executor.call(&ctx, tool, args.clone()).await;
                        assert!(!leaks(&outcome), "{tool} {args}: {outcome:?}");
                        worked += usize::from(outcome.is_success());
                    }
                }
            });
        });
        swaps += counted.load(Ordering::Relaxed);
    }
    assert!(swaps > tries as u64 && worked > 0, "{swaps} swaps, {worked} worked: the race was not run");
    println!(
        "measure: guarantee 3: {} calls of read, list, glob, grep and batch x {tries} tries against {swaps} swaps, {worked} went through inside, 0 leaks",
        calls.len()
    );
}

/// The outside has a file with the canary in it, one with the canary in its name, and a folder.
fn leaks(outcome: &Outcome) -> bool {
    outcome.result.as_ref().is_ok_and(|output| {
        let all = format!("{}{}", output.text, output.data);
        all.contains(CANARY) || all.contains("folder/")
    })
}

fn swap(folder: &Path, link: &Path, stop: &AtomicBool, swaps: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).unwrap();
        swaps.fetch_add(1, Ordering::Relaxed);
    }
}

/// Ends the swapping also when an assertion fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
