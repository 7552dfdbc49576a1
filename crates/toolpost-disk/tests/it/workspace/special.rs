//! Guarantee 4: FIFOs, sockets and devices never block and are never opened.

use super::{World, is_root, names, peak_memory, run, try_everything};
use crate::load::stretched;
use rustix::fs::{CWD, FileType, Mode, makedev, mkfifoat, mknodat};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use toolpost_core::workspace::Kind;
use toolpost_core::{Code, Workspace, WorkspacePath};
use toolpost_disk::Disk;

const SOON: Duration = Duration::from_secs(5);

/// What a method returns that must not block. It has a thread of its own, so that the test ends if the method does not.
#[track_caller]
fn soon<T: Send + 'static>(disk: &Arc<Disk>, method: impl FnOnce(&Disk) -> T + Send + 'static) -> T {
    let (disk, (sender, receiver)) = (Arc::clone(disk), mpsc::channel());
    std::thread::spawn(move || sender.send(method(&disk)));
    receiver.recv_timeout(stretched(SOON)).expect("the method blocks")
}

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
    let disk = Arc::new(Disk::open([&world.root]).unwrap());
    for (name, says) in &special {
        let path = WorkspacePath::new(*name);
        let at = path.clone();
        let stat = soon(&disk, move |disk| disk.stat(&at)).unwrap();
        assert_eq!(stat.kind, Kind::Special, "{name}");
        let at = path.clone();
        let error = soon(&disk, move |disk| disk.open(&at)).unwrap_err();
        assert_eq!(error.code(), Code::NotAFile);
        assert!(error.message().contains(says), "{error}");
        let at = path.clone();
        let error = soon(&disk, move |disk| disk.write(&at, b"x")).unwrap_err();
        assert_eq!(error.code(), Code::NotAFile);
        let entries = soon(&disk, move |disk| disk.entries(&path).err());
        assert_eq!(entries.unwrap().code(), Code::NotAFile);
        attempts += 4;
    }
    assert!(names(&*disk, ".").unwrap().contains(&"fifo".to_owned()));
    for link in ["zero", "fifo-link"] {
        let error = soon(&disk, move |disk| disk.open(&WorkspacePath::new(link))).unwrap_err();
        assert_eq!(error.code(), if link == "zero" { Code::PathEscape } else { Code::NotAFile });
    }
    for (name, _) in special.clone() {
        attempts += soon(&disk, move |disk| run(try_everything(disk, name)).len());
    }

    // Real devices inside a root, which are only looked at.
    let devices = Arc::new(Disk::open(["/dev"]).unwrap());
    for name in ["zero", "null", "random", "full", "tty", "ptmx"] {
        if !std::path::Path::new("/dev").join(name).exists() {
            continue;
        }
        let error = soon(&devices, move |disk| disk.open(&WorkspacePath::new(name))).unwrap_err();
        assert!(matches!(error.code(), Code::NotAFile | Code::PathEscape), "{name}: {error}");
        attempts += 1;
    }
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
