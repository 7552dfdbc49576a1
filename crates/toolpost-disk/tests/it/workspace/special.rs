//! Guarantee 4: FIFOs, sockets and devices never block and are never opened.

use super::{World, is_root, names, peak_memory, run, try_everything};
use crate::load::stretched;
use rustix::fs::{CWD, FileType, Mode, makedev, mkfifoat, mknodat};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};
use toolpost_core::workspace::Kind;
use toolpost_core::{Code, Workspace, WorkspacePath};
use toolpost_disk::Disk;

const SOON: Duration = Duration::from_secs(5);

#[test]
fn guarantee_04_special_files_never_block() {
    let world = World::new();
    let mut special = vec![("fifo", "named pipe"), ("socket", "socket")];
    mkfifoat(CWD, world.root.join("fifo"), Mode::from_raw_mode(0o666)).unwrap();
    let _socket = UnixListener::bind(world.root.join("socket")).unwrap();
    if is_root() {
        let zero = mknodat(
            CWD,
            world.root.join("device"),
            FileType::CharacterDevice,
            Mode::from_raw_mode(0o666),
            makedev(1, 5),
        );
        // Where containers forbid device nodes, the devices under `/dev` below are the same thing.
        if zero.is_ok() {
            special.push(("device", "character device"));
        }
    }
    symlink("/dev/zero", world.root.join("zero")).unwrap();
    symlink("fifo", world.root.join("fifo-link")).unwrap();
    let start = Instant::now();
    let mut attempts = 0;
    run(async {
        let disk = Disk::open([&world.root]).unwrap();
        for (name, says) in &special {
            let path = WorkspacePath::new(*name);
            let stat =
                tokio::time::timeout(stretched(SOON), disk.stat(&path)).await.expect("stat blocks").unwrap();
            assert_eq!(stat.kind, Kind::Special, "{name}");
            let error = tokio::time::timeout(stretched(SOON), disk.open(&path))
                .await
                .expect("open blocks")
                .unwrap_err();
            assert_eq!(error.code(), Code::NotAFile);
            assert!(error.message().contains(says), "{error}");
            let error = tokio::time::timeout(stretched(SOON), disk.write(&path, b"x"))
                .await
                .expect("write blocks")
                .unwrap_err();
            assert_eq!(error.code(), Code::NotAFile);
            assert_eq!(disk.entries(&path).await.err().unwrap().code(), Code::NotAFile);
            attempts += 4;
        }
        assert!(names(&disk, ".").await.unwrap().contains(&"fifo".to_owned()));
        for link in ["zero", "fifo-link"] {
            let error = tokio::time::timeout(stretched(SOON), disk.open(&WorkspacePath::new(link)))
                .await
                .unwrap()
                .unwrap_err();
            assert_eq!(error.code(), if link == "zero" { Code::PathEscape } else { Code::NotAFile });
        }
        for (name, _) in &special {
            let tried = tokio::time::timeout(stretched(SOON), try_everything(&disk, name))
                .await
                .expect("a method blocks");
            attempts += tried.len();
        }

        // Real devices inside a root, which are only looked at.
        let devices = Disk::open(["/dev"]).unwrap();
        for name in ["zero", "null", "random", "full", "tty", "ptmx"] {
            if !std::path::Path::new("/dev").join(name).exists() {
                continue;
            }
            let path = WorkspacePath::new(name);
            let error = tokio::time::timeout(stretched(SOON), devices.open(&path))
                .await
                .expect("open blocks")
                .unwrap_err();
            assert!(matches!(error.code(), Code::NotAFile | Code::PathEscape), "{name}: {error}");
            attempts += 1;
        }
    });
    let took = start.elapsed();
    assert!(took < stretched(SOON), "{took:?}");
    assert!(peak_memory() <= 400, "{} MiB", peak_memory());
    println!(
        "measure: guarantee 4: {} kinds, {attempts} attempts in {} ms, peak {} MiB",
        special.len() + 1,
        took.as_millis(),
        peak_memory()
    );
}
