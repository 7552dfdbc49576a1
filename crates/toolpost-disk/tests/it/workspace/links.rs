//! Guarantee 2: no link leads out, and no other name of a file is written through.

use super::{CANARY, World, names, read, run, try_everything};
use std::os::unix::fs::symlink;
use std::sync::Arc;
use toolpost_core::workspace::{Kind, Overlay};
use toolpost_core::{Code, Workspace, WorkspacePath};
use toolpost_disk::Disk;

fn path(spelling: &str) -> WorkspacePath {
    WorkspacePath::new(spelling)
}

/// Name, target, and the code of opening it.
fn links(world: &World) -> Vec<(&'static str, String, Code)> {
    let outside = world.outside.to_str().unwrap();
    vec![
        ("file", format!("{outside}/secret.txt"), Code::PathEscape),
        ("file-relative", "../outside/secret.txt".into(), Code::PathEscape),
        ("folder", outside.into(), Code::PathEscape),
        ("folder-relative", "../outside".into(), Code::PathEscape),
        ("chain-1", "chain-2".into(), Code::PathEscape),
        ("chain-2", "sub/chain-3".into(), Code::PathEscape),
        ("sub/chain-3", format!("{outside}/folder"), Code::PathEscape),
        ("new-outside", format!("{outside}/new.txt"), Code::PathEscape),
        ("new-relative", "../outside/new.txt".into(), Code::PathEscape),
        ("look-alike", format!("{}2/secret.txt", world.root.display()), Code::PathEscape),
        ("up", "..".into(), Code::PathEscape),
        ("top", "/".into(), Code::PathEscape),
        ("magic", format!("/proc/self/root{outside}/secret.txt"), Code::PathEscape),
        ("magic-cwd", "/proc/self/cwd".into(), Code::PathEscape),
        ("magic-fd", "/proc/self/fd/0".into(), Code::PathEscape),
        ("dangling", "nowhere/at-all".into(), Code::FileNotFound),
        ("loop-1", "loop-2".into(), Code::ReadError),
        ("loop-2", "loop-1".into(), Code::ReadError),
        ("itself", "itself".into(), Code::ReadError),
        ("loop-absolute", world.root.join("loop-absolute").to_str().unwrap().into(), Code::ReadError),
    ]
}

#[test]
fn guarantee_02_no_link_leads_out() {
    let mut attempts = 0;
    for over in [false, true] {
        let world = World::new();
        let around = world.around();
        let links = links(&world);
        let disk = Disk::open([&world.root]).unwrap();
        let workspace: Box<dyn Workspace> =
            if over { Box::new(Overlay::over(Arc::new(disk))) } else { Box::new(disk) };
        let make = || {
            for (name, target, _) in &links {
                let _ = std::fs::remove_file(world.root.join(name));
                symlink(target, world.root.join(name)).unwrap();
            }
        };
        make();
        for (name, _, code) in &links {
            for below in ["", "/secret.txt", "/folder", "/new/file.txt", "/../outside/secret.txt"] {
                let spelling = format!("{name}{below}");
                if below.is_empty() {
                    let error = workspace.open(&path(&spelling)).unwrap_err();
                    assert_eq!(error.code(), *code, "{spelling}: {error}");
                    let refused = workspace.write(&path(&spelling), b"changed");
                    assert!(refused.is_err(), "{spelling} was written");
                }
                for (method, result) in run(try_everything(workspace.as_ref(), &spelling)) {
                    assert!(!result.unwrap_or_default().contains(CANARY), "{method} {spelling}");
                    attempts += 1;
                }
                if !over {
                    make();
                }
            }
        }
        assert_eq!(world.around(), around, "something changed outside");
    }
    let bytes = hard_links();
    println!(
        "measure: guarantee 2: {attempts} attempts through links, 0 escapes; {bytes} outside bytes changed"
    );
}

/// Writes a file that has another name outside; gives how many bytes changed there.
fn hard_links() -> usize {
    let world = World::new();
    std::fs::hard_link(world.outside.join("secret.txt"), world.root.join("hard")).unwrap();
    let disk = Disk::open([&world.root]).unwrap();
    disk.write(&path("hard"), b"replaced").unwrap();
    assert_eq!(std::fs::read(world.root.join("hard")).unwrap(), b"replaced");
    let outside = std::fs::read(world.outside.join("secret.txt")).unwrap();
    assert_eq!(outside, CANARY.as_bytes());
    outside.iter().zip(CANARY.bytes()).filter(|(left, right)| **left != *right).count()
}

#[test]
fn links_that_stay_inside_are_followed() {
    let world = World::new();
    let root = &world.root;
    symlink(root.join("inside.txt"), root.join("absolute")).unwrap();
    symlink("../inside.txt", root.join("sub/relative")).unwrap();
    symlink(root.join("sub"), root.join("sub-link")).unwrap();
    symlink("sub/relative", root.join("chain")).unwrap();
    symlink(root.join("sub/../absolute"), root.join("back")).unwrap();
    run(async {
        let disk = Disk::open([root]).unwrap();
        for link in ["absolute", "sub/relative", "sub-link/relative", "chain", "back"] {
            assert_eq!(read(&disk, link).unwrap(), b"inside", "{link}");
            assert_eq!(disk.stat(&path(link)).unwrap().name, "inside.txt", "{link}");
        }
        let written = disk.write(&path("sub-link/new/file"), b"x").unwrap();
        assert_eq!(written.name, "sub/new/file");
        assert_eq!(disk.write(&path("back"), b"inside!").unwrap().name, "inside.txt");
        assert!(std::fs::symlink_metadata(root.join("back")).unwrap().is_symlink());
        assert_eq!(read(&disk, "absolute").unwrap(), b"inside!");

        let kinds = disk.entries(&path(".")).unwrap().map(Result::unwrap);
        assert!(kinds.filter(|entry| entry.name == "sub-link").all(|entry| entry.kind == Kind::Link));
        disk.remove(&path("sub-link")).unwrap();
        assert_eq!(names(&disk, "sub").unwrap(), ["new", "relative"]);
        let held = disk.lock(&path("chain")).unwrap().wait().await.unwrap();
        let soon = std::time::Duration::from_millis(50);
        let same = path("inside.txt");
        assert!(
            tokio::time::timeout(soon, disk.lock(&same).unwrap().wait()).await.is_err(),
            "a link and its target are one file"
        );
        drop(held);

        let overlay = Overlay::over(Arc::new(Disk::open([root]).unwrap()));
        overlay.write(&path("chain"), b"over").unwrap();
        assert_eq!(read(&overlay, "absolute").unwrap(), b"over");
        overlay.remove(&path("chain")).unwrap();
        assert_eq!(read(&overlay, "inside.txt").unwrap(), b"over");
        assert_eq!(std::fs::read(root.join("inside.txt")).unwrap(), b"inside!");
    });
}
