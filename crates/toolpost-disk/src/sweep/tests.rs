//! A sweep with memory finds what one without finds, whatever happened in between.

#![expect(clippy::disallowed_methods, reason = "tests change files behind the workspace's back")]

use super::stamp::Clock;
use crate::Disk;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use toolpost_core::workspace::{FileStamp, Select, SweepMemory};

struct Rust;

impl Select for Rust {
    fn wants(&self, name: &str) -> bool {
        name.ends_with(".rs")
    }

    fn admits(&self, name: &str) -> bool {
        !name.contains("hidden")
    }
}

struct Tree {
    folder: tempfile::TempDir,
    disk: Disk,
    memory: SweepMemory,
    last: BTreeMap<String, (FileStamp, Vec<u8>)>,
}

impl Tree {
    fn new() -> Tree {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open([folder.path()]).unwrap().with_excludes(folder.path().join("excludes"));
        Tree { folder, disk, memory: SweepMemory::default(), last: BTreeMap::new() }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn sweep(&self, clock: &Clock, memory: &mut SweepMemory) -> BTreeMap<String, FileStamp> {
        let found = super::sweep_at(clock, &self.disk.opened.now().roots, &self.disk.excludes, &Rust, memory)
            .unwrap();
        let count = found.len();
        let found: BTreeMap<String, FileStamp> = found.into_iter().collect();
        assert_eq!(found.len(), count, "each file once");
        found
    }

    /// Sweeps with memory and without. A file with another content has another stamp than before.
    fn check(&mut self, what: &str) -> Vec<String> {
        // Sweeps that are long after the changes trust their memory, unlike those of a test that takes milliseconds.
        let clock = Clock::later();
        let mut memory = std::mem::take(&mut self.memory);
        let warm = self.sweep(&clock, &mut memory);
        self.memory = memory;
        let cold = self.sweep(&clock, &mut SweepMemory::default());
        assert_eq!(warm, cold, "after {what}");
        let mut now = BTreeMap::new();
        for (name, stamp) in &warm {
            let content = fs::read(self.path(name)).unwrap();
            if let Some((before, old)) = self.last.get(name)
                && *old != content
            {
                assert_ne!(before, stamp, "{name} has another content after {what}");
            }
            now.insert(name.clone(), (*stamp, content));
        }
        self.last = now;
        // Until the clock of the file system has moved on, two changes may have one time.
        let probe = tempfile::NamedTempFile::new_in(self.folder.path().parent().unwrap()).unwrap();
        let time = |path: &Path| {
            fs::write(path, "x").unwrap();
            let found = fs::metadata(path).unwrap();
            (found.ctime(), found.ctime_nsec())
        };
        let first = time(probe.path());
        while time(probe.path()) == first {}
        warm.into_keys().collect()
    }
}

/// Numbers that look like chance.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const FOLDERS: [&str; 8] = ["", "a", "a/b", "a/b/c", "d", "d/e", "hidden", "z"];
const FILES: [&str; 4] = ["one.rs", "two.rs", "three.rs", "note.txt"];
const RULES: [&str; 5] = ["one.rs\n", "b/\n", "*.rs\n!two.rs\n", "", "/d\n"];

fn place(random: &mut Random) -> String {
    let folder = random.of(&FOLDERS);
    let file = random.of(&FILES);
    if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") }
}

/// Does one thing to the tree; says what.
fn change(tree: &Tree, random: &mut Random) -> String {
    let (from, to) = (place(random), place(random));
    let (folder, other) = (random.of(&FOLDERS[1..]), random.of(&FOLDERS[1..]));
    let text = format!("{:04}", random.below(10_000));
    match random.below(12) {
        0..=2 => {
            tree.write(&from, &text);
            format!("{from} written")
        }
        3 => {
            // The time of writing and the size stay as they are.
            let path = tree.path(&from);
            if let Ok(found) = fs::metadata(&path) {
                let size = usize::try_from(found.len()).unwrap();
                fs::write(&path, text.repeat(size / 4 + 1).get(..size).unwrap()).unwrap();
                fs::File::open(&path).unwrap().set_modified(found.modified().unwrap()).unwrap();
            }
            format!("{from} written with its old time")
        }
        4 => {
            let _ = fs::remove_file(tree.path(&from));
            format!("{from} removed")
        }
        5 => {
            let _ = fs::rename(tree.path(&from), tree.path(&to));
            format!("{from} moved to {to}")
        }
        6 => {
            let _ = fs::rename(tree.path(folder), tree.path(other));
            format!("{folder} moved to {other}")
        }
        7 => {
            // Two folders change places: their names are as before.
            let (one, two) = (tree.path(folder), tree.path(other));
            let aside = tree.path("aside");
            if one.is_dir() && two.is_dir() && !one.starts_with(&two) && !two.starts_with(&one) {
                fs::rename(&one, &aside).unwrap();
                fs::rename(&two, &one).unwrap();
                fs::rename(&aside, &two).unwrap();
            }
            format!("{folder} and {other} exchanged")
        }
        8 => {
            let _ = fs::remove_dir_all(tree.path(folder));
            format!("{folder} removed")
        }
        9 => {
            let name = random.of(&[".gitignore", ".ignore", "a/.gitignore", "d/.rgignore", "excludes"]);
            tree.write(name, random.of(&RULES));
            format!("{name} written")
        }
        10 => {
            let _ = fs::remove_file(tree.path(random.of(&[".gitignore", ".ignore", "a/.gitignore"])));
            "ignore file removed".to_owned()
        }
        _ => {
            let name = random.of(&[".git/info/exclude", "d/.git/info/exclude", "a/b/.git/HEAD"]);
            tree.write(name, random.of(&RULES));
            format!("{name} written")
        }
    }
}

#[test]
fn a_sweep_with_memory_finds_what_one_without_finds() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let mut tree = Tree::new();
        for _ in 0..10 {
            let name = place(&mut random);
            tree.write(&name, "0000");
        }
        tree.check("the beginning");
        for _ in 0..40 {
            let changes = random.below(3) + 1;
            let what: Vec<String> = (0..changes).map(|_| change(&tree, &mut random)).collect();
            tree.check(&format!("{} (seed {seed})", what.join(", ")));
        }
    }
}

#[test]
fn what_is_recent_is_looked_at_again() {
    let tree = Tree::new();
    tree.write("a/one.rs", "0000");
    let mut memory = SweepMemory::default();
    let first = tree.sweep(&Clock::now(), &mut memory);
    assert!(!first["a/one.rs"].is_settled);
    tree.write("a/two.rs", "0000");
    assert_eq!(tree.sweep(&Clock::now(), &mut memory).len(), 2);
    assert!(tree.sweep(&Clock::later(), &mut memory)["a/one.rs"].is_settled);
}

#[test]
fn what_git_tracks_is_found_where_it_is_left_out() {
    let mut tree = Tree::new();
    let git = |arguments: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "the real git makes the index")]
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(arguments)
            .current_dir(tree.folder.path())
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
    };
    tree.write("a/one.rs", "0000");
    tree.write("two.rs", "0000");
    tree.write(".gitignore", "a/\n");
    git(&["init", "-q"]);
    let (mut memory, clock) = (SweepMemory::default(), Clock::later());
    let names = |found: BTreeMap<String, FileStamp>| found.into_keys().collect::<Vec<_>>();
    assert_eq!(names(tree.sweep(&clock, &mut memory)), ["two.rs"]);
    git(&["add", "-f", "a/one.rs"]);
    assert_eq!(names(tree.sweep(&clock, &mut memory)), ["a/one.rs", "two.rs"]);
    git(&["rm", "-q", "--cached", "a/one.rs"]);
    assert_eq!(names(tree.sweep(&clock, &mut memory)), ["two.rs"]);
    tree.memory = memory;
    tree.check("the end");
}

#[test]
fn a_folder_that_cannot_be_read_is_tried_again() {
    use std::os::unix::fs::PermissionsExt;
    let mut tree = Tree::new();
    tree.write("a/one.rs", "0000");
    let mode = |mode| fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(mode)).unwrap();
    let (mut memory, clock) = (SweepMemory::default(), Clock::later());
    mode(0o000);
    // Root reads everything; then there is one file both times.
    let is_root = fs::read_dir(tree.path("a")).is_ok();
    assert_eq!(tree.sweep(&clock, &mut memory).len(), usize::from(is_root));
    mode(0o700);
    assert_eq!(tree.sweep(&clock, &mut memory).len(), 1);
    tree.memory = memory;
    tree.check("the end");
}

#[test]
fn links_are_not_followed_and_lead_nowhere() {
    let mut tree = Tree::new();
    tree.write("a/one.rs", "0000");
    std::os::unix::fs::symlink(".", tree.path("a/loop")).unwrap();
    std::os::unix::fs::symlink("one.rs", tree.path("a/two.rs")).unwrap();
    assert_eq!(tree.check("the beginning"), ["a/one.rs"]);
    // A folder that is replaced by a link to itself elsewhere.
    fs::rename(tree.path("a"), tree.path("b")).unwrap();
    std::os::unix::fs::symlink("b", tree.path("a")).unwrap();
    assert_eq!(tree.check("a became a link"), ["b/one.rs"]);
}
