//! A root that was deleted and made again, or replaced, while it is open.

use super::{World, fast_folder};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use toolpost_core::workspace::{Entries, Select, SweepMemory};
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text)
}

fn names(entries: Result<Entries, ToolError>) -> Vec<String> {
    entries.unwrap().map(|entry| entry.unwrap().name).collect()
}

fn text(disk: &Disk, name: &str) -> Result<String, ToolError> {
    let mut text = String::new();
    let mut file = disk.open(&path(name))?;
    std::io::Read::read_to_string(&mut file.reader, &mut text).unwrap();
    Ok(text)
}

/// Replaces the folder `ws` of the world in one of the ways that users and programs have.
fn check(replace: impl Fn(&Path)) {
    let world = World::new();
    let root = world.root.as_path();
    fs::write(root.join("old.txt"), "old").unwrap();
    let disk = Disk::open([root]).unwrap();
    assert_eq!(text(&disk, "old.txt").unwrap(), "old");
    replace(root);
    fs::create_dir_all(root.join("folder")).unwrap();
    fs::write(root.join("a.txt"), "new").unwrap();
    assert_eq!(text(&disk, "a.txt").unwrap(), "new");
    assert_eq!(names(disk.entries(&path("."))), names(Disk::open([root]).unwrap().entries(&path("."))));
    assert_eq!(disk.stat(&path("a.txt")).unwrap().name, "a.txt");
    disk.write(&path("folder/b.txt"), b"written").unwrap();
    assert_eq!(fs::read_to_string(root.join("folder/b.txt")).unwrap(), "written");
    disk.rename(&path("folder/b.txt"), &path("c.txt")).unwrap();
    disk.remove(&path("c.txt")).unwrap();
    assert_eq!(disk.stat(&path("old.txt")).unwrap_err().code(), Code::FileNotFound);
    assert_eq!(disk.open(&path("../outside/secret.txt")).err().unwrap().code(), Code::PathEscape);
}

#[test]
fn a_root_that_was_made_again_is_opened_again() {
    check(|root| {
        fs::remove_dir_all(root).unwrap();
        fs::create_dir(root).unwrap();
    });
    check(|root| {
        fs::rename(root, root.with_file_name("aside")).unwrap();
        fs::create_dir(root).unwrap();
    });
    check(|root| {
        let ready = root.with_file_name("ready");
        fs::create_dir(&ready).unwrap();
        fs::remove_dir_all(root).unwrap();
        fs::rename(ready, root).unwrap();
    });
}

#[test]
fn the_first_operation_of_each_kind_finds_the_new_root() {
    /// A name, and whether the operation finds the new root.
    type Operation = (&'static str, fn(&Disk) -> bool);

    let operations: [Operation; 6] = [
        ("stat", |disk| disk.stat(&path("a.txt")).is_ok()),
        ("open", |disk| text(disk, "a.txt").is_ok()),
        ("entries", |disk| names(disk.entries(&path("."))).contains(&"a.txt".to_owned())),
        ("write", |disk| disk.write(&path("b.txt"), b"b").is_ok()),
        ("is_absent", |disk| !disk.is_absent(&path("a.txt")) && disk.is_absent(&path("old.txt"))),
        ("lock", |disk| disk.lock(&path("a.txt")).is_ok()),
    ];
    for (name, operation) in operations {
        let world = World::new();
        let disk = Disk::open([&world.root]).unwrap();
        fs::remove_dir_all(&world.root).unwrap();
        fs::create_dir(&world.root).unwrap();
        fs::write(world.root.join("a.txt"), "new").unwrap();
        assert!(operation(&disk), "{name}");
    }
}

#[test]
fn a_sweep_after_a_root_was_made_again_has_its_files() {
    let folder = fast_folder();
    let root = folder.path().canonicalize().unwrap().join("ws");
    let make = |name: &str| {
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("sub").join(name), "x").unwrap();
    };
    make("old.rs");
    let disk = Disk::open([&root]).unwrap();
    let mut memory = SweepMemory::default();
    let mut sweep = || -> Vec<String> {
        let found = disk.sweep(&All, &mut memory).unwrap().unwrap();
        found.into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(sweep(), ["sub/old.rs"]);
    fs::remove_dir_all(&root).unwrap();
    make("new.rs");
    assert_eq!(sweep(), ["sub/new.rs"]);
}

#[test]
fn what_the_first_opening_would_refuse_is_not_opened_later() {
    /// What happened to the root, and how.
    type Replacement = (&'static str, fn(&World));

    let replacements: [Replacement; 4] = [
        ("was deleted", |_| {}),
        ("by a link", |world| symlink(&world.outside, &world.root).unwrap()),
        ("not a folder", |world| fs::write(&world.root, "a file").unwrap()),
        ("a folder above it by a link", |world| {
            // `base/ws` is reached through a link now: where it leads is somewhere else.
            let base = world.root.parent().unwrap();
            let moved = base.with_file_name(format!("{}-moved", base.file_name().unwrap().display()));
            fs::rename(base, &moved).unwrap();
            fs::create_dir(moved.join("ws")).unwrap();
            fs::write(moved.join("ws/secret.txt"), super::CANARY).unwrap();
            symlink(&moved, base).unwrap();
        }),
    ];
    for (words, replace) in replacements {
        let world = World::new();
        let disk = Disk::open([&world.root]).unwrap();
        fs::remove_dir_all(&world.root).unwrap();
        replace(&world);
        for error in [
            text(&disk, "secret.txt").unwrap_err(),
            disk.write(&path("new.txt"), b"x").unwrap_err(),
            disk.stat(&path("secret.txt")).unwrap_err(),
        ] {
            assert!(error.message().contains(words), "{words}: {error}");
        }
        assert!(!world.outside.join("new.txt").exists(), "{words}");
        let base = world.root.parent().unwrap();
        if base.is_symlink() {
            let moved = fs::read_link(base).unwrap();
            assert!(!moved.join("ws/new.txt").exists(), "{words}");
            fs::remove_file(base).unwrap();
            fs::remove_dir_all(moved).unwrap();
            fs::create_dir(base).unwrap();
        }
    }
}

/// Selects every file.
struct All;

impl Select for All {
    fn wants(&self, _: &str) -> bool {
        true
    }
    fn admits(&self, _: &str) -> bool {
        true
    }
}
