//! Guarantee 3: a folder swapped for a link to outside, while it is used, gives nothing away.

use super::{CANARY, World, count, names, read};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use toolpost_core::{Workspace, WorkspacePath};
use toolpost_disk::Disk;

#[test]
fn guarantee_03_a_race_gives_nothing_away() {
    let tries = count(500, 10_000);
    let methods = ["open", "entries", "write", "remove", "rename from", "rename to", "create_folder"];
    let (mut swaps, mut done) = (0, 0);
    for absolute in [true, false] {
        let world = World::new();
        let root = &world.root;
        std::fs::create_dir(root.join("swap")).unwrap();
        let target = if absolute { world.outside.as_path() } else { Path::new("../outside") };
        symlink(target, root.join("link")).unwrap();
        std::fs::write(world.outside.join("victim.txt"), CANARY).unwrap();
        let around = world.around();
        let swapper = Swapper::start(root);
        let disk = Disk::open([root]).unwrap();
        for method in methods {
            for _ in 0..tries / 2 {
                done += usize::from(attempt(&disk, root, method));
            }
            assert_eq!(world.around(), around, "{method} changed something outside");
        }
        swaps += swapper.stop();
    }
    assert!(swaps > tries as u64, "only {swaps} swaps: the race was not run");
    println!(
        "measure: guarantee 3: {} methods x {tries} tries against {swaps} swaps, {done} went through inside, 0 leaks",
        methods.len()
    );
}

/// One try; whether the workspace let it through.
fn attempt(disk: &Disk, root: &Path, method: &str) -> bool {
    let path = |name: &str| WorkspacePath::new(name);
    match method {
        "open" => {
            disk.write(&path("swap/secret.txt"), b"inside").ok();
            let content = read(disk, "swap/secret.txt");
            content.inspect(|content| assert_eq!(content, b"inside", "a secret was read")).is_ok()
        }
        "entries" => {
            let names = names(disk, "swap");
            names
                .inspect(|names| assert!(!names.iter().any(|name| name.contains(CANARY)), "{names:?}"))
                .is_ok()
        }
        "write" => disk.write(&path("swap/CANARY.txt"), b"changed").is_ok(),
        "remove" => {
            disk.write(&path("swap/victim.txt"), b"inside").ok();
            disk.remove(&path("swap/victim.txt")).is_ok()
        }
        "rename from" => {
            disk.write(&path("swap/victim.txt"), b"inside").ok();
            let moved = disk.rename(&path("swap/victim.txt"), &path("taken.txt"));
            if moved.is_ok() {
                assert_eq!(std::fs::read(root.join("taken.txt")).unwrap(), b"inside", "a secret was moved");
            }
            moved.is_ok()
        }
        "rename to" => {
            disk.write(&path("mine.txt"), b"inside").unwrap();
            disk.rename(&path("mine.txt"), &path("swap/secret.txt")).is_ok()
        }
        _ => {
            let made = disk.create_folder(&path("swap/made/deep")).is_ok();
            disk.remove(&path("swap/made/deep")).ok();
            disk.remove(&path("swap/made")).ok();
            made
        }
    }
}

/// A thread that swaps the folder `swap` and the link `link` as fast as it can.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Swapper {
    fn start(root: &Path) -> Swapper {
        let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (folder, link) = (root.join("swap"), root.join("link"));
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&swaps));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Swapper { stop, swaps, thread: Some(thread) }
    }

    fn stop(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        self.swaps.load(Ordering::Relaxed)
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
