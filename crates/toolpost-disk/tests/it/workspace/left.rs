//! What a process leaves that is killed while it writes is removed by the next one, and nothing else.

use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use toolpost_core::Workspace;
use toolpost_disk::{Disk, Locks};

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("ws/deep")).unwrap();
        fs::create_dir(folder.path().join("locks")).unwrap();
        World { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn disk(&self) -> Disk {
        Disk::open([self.path("ws")]).unwrap().with_locks(Locks::new(self.path("locks")))
    }

    /// A temporary file, and the record of the process that has made it.
    fn left(&self, name: &str) -> (PathBuf, String) {
        let path = self.path(&format!("ws/{name}"));
        fs::write(&path, "new content").unwrap();
        let record = record(&path);
        (path, record)
    }

    fn record(&self, process: &str, records: &[String]) -> PathBuf {
        let path = self.path(&format!("locks/staged-{process}"));
        fs::write(&path, records.concat()).unwrap();
        path
    }

    fn locks(&self) -> Vec<String> {
        let names = fs::read_dir(self.path("locks")).unwrap().flatten();
        names.map(|entry| entry.file_name().to_str().unwrap().to_owned()).collect()
    }
}

fn record(path: &Path) -> String {
    let about = fs::symlink_metadata(path).unwrap();
    format!("{} {} {}\0", about.dev(), about.ino(), path.display())
}

const NAMES: [&str; 2] =
    [".toolpost-0123456789abcdef0123456789abcdef", "deep/.toolpost-0123456789abcdef0123456789abcdff"];

#[test]
fn guarantee_7_what_a_killed_process_left_is_removed_with_the_next_change() {
    let world = World::new();
    let (paths, records): (Vec<_>, Vec<_>) = NAMES.iter().map(|name| world.left(name)).unzip();
    world.record("killed", &records);
    let disk = world.disk();
    assert!(paths.iter().all(|path| path.exists()), "opening a workspace changes nothing");
    disk.write(&"other.txt".into(), b"x\n").unwrap();
    assert!(!paths.iter().any(|path| path.exists()));
    drop(disk);
    assert_eq!(world.locks(), [""; 0], "nothing is left of the records either");
    // And when it is asked for.
    let (path, record) = world.left(NAMES[0]);
    world.record("killed", &[record]);
    assert_eq!((world.disk().remove_left(), path.exists()), (1, false));
}

#[test]
fn guarantee_7_files_of_the_user_and_of_live_processes_stay() {
    let world = World::new();
    // Of a process that lives.
    let (live, of_live) = world.left(NAMES[0]);
    let held = File::open(world.record("live", &[of_live])).unwrap();
    flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
    // Of nobody.
    let (unknown, _) = world.left(".toolpost-11111111111111111111111111111111");
    // With another name than temporary files have.
    let (named, of_named) = world.left(".toolpost-notes");
    // Another file has the name by now.
    let (other, of_other) = world.left(".toolpost-22222222222222222222222222222222");
    fs::rename(&other, world.path("ws/moved")).unwrap();
    fs::write(&other, "the user's").unwrap();
    // A folder above it is a link by now.
    let (behind, of_behind) = world.left(NAMES[1]);
    fs::rename(world.path("ws/deep"), world.path("ws/elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", world.path("ws/deep")).unwrap();
    world.record("killed", &[of_named, of_other, of_behind, "nonsense\0".to_owned(), "1 2\0".to_owned()]);
    assert_eq!(world.disk().remove_left(), 0);
    world.disk().write(&"other.txt".into(), b"x\n").unwrap();
    for path in [live, unknown, named, other, behind, world.path("ws/moved")] {
        assert!(path.exists(), "{}", path.display());
    }
    assert_eq!(world.locks(), ["staged-live"]);
}

/// While a write is under way its temporary name is written down.
#[test]
fn a_temporary_name_is_written_down_before_it_shows() {
    let world = World::new();
    let disk = world.disk();
    let mut staged = disk.stage(&"a.txt".into(), b"new\n").unwrap().unwrap();
    let records = |world: &World| -> String {
        let all = world.locks().into_iter().filter(|name| name.starts_with("staged-"));
        all.map(|name| fs::read_to_string(world.path(&format!("locks/{name}"))).unwrap()).collect()
    };
    let names: Vec<String> = fs::read_dir(world.path("ws"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_str().unwrap().to_owned())
        .filter(|name| name.starts_with(".toolpost-"))
        .collect();
    let [name] = names.as_slice() else { panic!("{names:?}") };
    assert_eq!(records(&world), record(&world.path(&format!("ws/{name}"))));
    staged.place().unwrap();
    staged.keep().unwrap();
    drop(staged);
    assert_eq!(records(&world), "");
}
