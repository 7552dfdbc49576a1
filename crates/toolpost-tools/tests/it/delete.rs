//! `delete`: files, links and empty folders, and what stays.

use super::{call, data, disk, folder, memory, shown};
use serde_json::json;
use std::os::unix::fs::symlink;

#[test]
fn files_and_empty_folders_go() {
    let ctx = memory("//- a.txt\none\n//- sub/b.txt\ntwo\n//- empty/\n");
    for (path, expected) in [
        ("a.txt", "a.txt: removed, 4 bytes"),
        ("a.txt", "FILE_NOT_FOUND: no file `a.txt`; list its folder to see what is there"),
        ("empty", "empty: removed, an empty folder"),
        ("sub", "WRITE_ERROR: the folder `sub` is not empty; remove what is in it first"),
        ("sub/../sub/./b.txt", "sub/b.txt: removed, 4 bytes"),
        ("sub", "sub: removed, an empty folder"),
        (".", "WRITE_ERROR: `.` is a root of the workspace and stays; name a file inside it"),
        ("/workspace", "WRITE_ERROR: `.` is a root of the workspace and stays; name a file inside it"),
    ] {
        assert_eq!(shown(&call(&ctx, "delete", json!({"filePath": path}))), expected, "{path}");
    }
    for (tool, args) in [("delete_file", json!({"path": "x"})), ("Delete", json!({"file_path": "x"}))] {
        let ctx = memory("//- x\none\n");
        assert_eq!(shown(&call(&ctx, tool, args)), "x: removed, 4 bytes");
    }
}

#[test]
fn links_go_and_what_they_lead_to_stays() {
    let root = folder();
    let path = |name: &str| root.path().join("ws").join(name);
    std::fs::create_dir_all(path("folder")).unwrap();
    std::fs::write(path("folder/a.txt"), "one\n").unwrap();
    std::fs::write(root.path().join("outside.txt"), "outside").unwrap();
    let ctx = disk(&root.path().join("ws"));
    for (link, target) in [
        ("to-file", "folder/a.txt"),
        ("to-folder", "folder"),
        ("to-nothing", "gone"),
        ("out", "../outside.txt"),
        ("loop", "loop"),
    ] {
        symlink(target, path(link)).unwrap();
        let outcome = call(&ctx, "delete", json!({"filePath": link}));
        assert_eq!(shown(&outcome), format!("{link}: removed, a link; what it leads to stays"), "{link}");
        assert_eq!(data(&outcome)["kind"], "link");
        assert!(path(link).symlink_metadata().is_err(), "{link}");
    }
    symlink("folder", path("to-folder")).unwrap();
    assert_eq!(
        shown(&call(&ctx, "delete", json!({"filePath": "to-folder/a.txt"}))),
        "folder/a.txt: removed, 4 bytes"
    );
    assert_eq!(std::fs::read_to_string(root.path().join("outside.txt")).unwrap(), "outside");
}

#[test]
fn nothing_inside_git_goes() {
    let root = folder();
    let path = |name: &str| root.path().join(name);
    for name in [".git/refs", "sub/.git", "sub/x"] {
        std::fs::create_dir_all(path(name)).unwrap();
    }
    for name in [".git/index", ".git/refs/a", "sub/.git/index", "file"] {
        std::fs::write(path(name), "x").unwrap();
    }
    symlink(".git", path("link")).unwrap();
    let ctx = disk(root.path());
    for name in [".git", ".git/index", ".git/refs/a", "sub/x/../.git/index", "link/index"] {
        let shown = shown(&call(&ctx, "delete", json!({"filePath": name})));
        assert!(shown.starts_with("PROTECTED_FILE: ") && shown.contains(".git"), "{name}: {shown}");
        assert!(path(name).exists());
    }
    assert!(call(&ctx, "delete", json!({"filePath": "file"})).is_success());
}
