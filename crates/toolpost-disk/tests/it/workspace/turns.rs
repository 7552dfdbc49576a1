//! Guarantee 8: parallel edits of one file, by tasks and by processes, are all there.

use super::{child, count, fast_folder, read, run};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolpost_core::{Workspace, WorkspacePath};
use toolpost_disk::{Disk, Locks};

const CHILD: &str = "TOOLPOST_TEST_COUNTER";
const EACH: usize = 50;

fn disk(folder: &Path) -> Disk {
    Disk::open([folder.join("ws")]).unwrap().with_locks(Locks::new(folder.join("locks")))
}

async fn increment(disk: &Disk, times: usize) {
    let path = WorkspacePath::new("counter");
    for _ in 0..times {
        let _turn = disk.lock(&path).unwrap().wait().await.unwrap();
        let number: usize = String::from_utf8(read(disk, "counter").unwrap()).unwrap().parse().unwrap();
        disk.write(&path, (number + 1).to_string().as_bytes()).unwrap();
    }
}

fn counted(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("ws/counter")).unwrap().parse().unwrap()
}

#[test]
fn guarantee_08_parallel_edits_are_all_there() {
    let folder = fast_folder();
    let folder = folder.path();
    std::fs::create_dir(folder.join("ws")).unwrap();
    std::fs::write(folder.join("ws/counter"), "0").unwrap();
    let start = Instant::now();
    run(async {
        // Two workspaces over the same folder, as two sessions of one process have them.
        let disks = [Arc::new(disk(folder)), Arc::new(disk(folder))];
        let tasks: Vec<_> = (0..12)
            .map(|index| {
                let disk = Arc::clone(&disks[index % 2]);
                tokio::spawn(async move { increment(&disk, 100).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(counted(folder), 1200);

    let processes = count(4, 24);
    let children: Vec<_> = (0..processes)
        .map(|_| child("workspace::turns::child_increments", CHILD, folder).spawn().unwrap())
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(counted(folder), 1200 + processes * EACH);
    assert_eq!(std::fs::read_dir(folder.join("locks")).unwrap().count(), 0, "lock files are left");
    println!(
        "measure: guarantee 8: 12 tasks x 100 and {processes} processes x {EACH} edits in {} ms, 0 lost",
        start.elapsed().as_millis()
    );
}

#[test]
fn child_increments() {
    let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    run(async { increment(&disk(&folder), EACH).await });
}

#[test]
fn giving_up_a_lock_lets_others_have_it() {
    let folder = fast_folder();
    std::fs::create_dir(folder.path().join("ws")).unwrap();
    run(async {
        let disk = disk(folder.path());
        let path = WorkspacePath::new("file");
        let held = disk.lock(&path).unwrap().wait().await.unwrap();
        assert!(
            tokio::time::timeout(Duration::from_millis(30), disk.lock(&path).unwrap().wait()).await.is_err()
        );
        drop(held);
        drop(
            tokio::time::timeout(Duration::from_secs(1), disk.lock(&path).unwrap().wait())
                .await
                .unwrap()
                .unwrap(),
        );
        assert_eq!(std::fs::read_dir(folder.path().join("locks")).unwrap().count(), 0);
    });
}

#[test]
fn locks_are_private() {
    use std::os::unix::fs::MetadataExt;
    let folder = fast_folder();
    std::fs::create_dir(folder.path().join("ws")).unwrap();
    run(async {
        let disk = disk(folder.path());
        let _held = disk.lock(&WorkspacePath::new("file")).unwrap().wait().await.unwrap();
        let locks = folder.path().join("locks");
        assert_eq!(std::fs::metadata(&locks).unwrap().mode() & 0o777, 0o700);
        let file = std::fs::read_dir(&locks).unwrap().next().unwrap().unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    });
}
